#!/usr/bin/env bash
# Build the kernel with AddressSanitizer and UBSan and run the tests' random graphs through it.
#
#   make sanitize            (or: PYTHON=.venv/bin/python tools/sanitize.sh)
#
# The instrumented package goes to build/sanitize, beside the installed one.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-.venv/bin/python}
target=$PWD/build/sanitize

rm -rf "$target"
"$PYTHON" -m pip install --quiet --no-deps --target "$target" \
  --config-settings=cmake.define.NAFS_SANITIZE=ON --config-settings=build-dir=build/sanitize-cmake .
# An editable installation must not come first.
echo 'import sys; sys.meta_path = [f for f in sys.meta_path if not type(f).__module__.startswith("_editable_")]' \
  > "$target/sitecustomize.py"

# Python itself is not instrumented: the runtime comes first, and the interpreter's own leaks are not ours.
export LD_PRELOAD="$(${CXX:-g++} -print-file-name=libasan.so):$(${CXX:-g++} -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export PYTHONPATH="$target" OPENBLAS_NUM_THREADS=1
"$PYTHON" -c 'import nafs, sys; sys.exit("build/sanitize" not in nafs.__file__ and f"not the sanitized nafs: {nafs.__file__}")'
"$PYTHON" -m pytest -q -p no:cacheprovider tests/smoothing tests/engines/test_cached.py \
  tests/graph tests/model
