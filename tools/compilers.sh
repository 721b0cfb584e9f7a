#!/usr/bin/env bash
# Build the kernel with other compilers and run its tests on each build.
#
#   make compilers           (or: PYTHON=.venv/bin/python tools/compilers.sh [BUILD ...])
#
# A BUILD is a compiler, with "-serial" for a build without OpenMP: g++-serial clang++ clang++-serial.
# The builds go to build/compilers, beside the installed package.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-.venv/bin/python}
[ $# -gt 0 ] || set -- g++-serial clang++ clang++-serial

for build in "$@"; do
  compiler=${build%-serial}
  serial=OFF
  [ "$compiler" = "$build" ] || serial=ON
  command -v "$compiler" >/dev/null || { echo "$compiler is not installed"; exit 1; }
  target=$PWD/build/compilers/$build
  rm -rf "$target"
  CXX=$compiler "$PYTHON" -m pip install --quiet --no-deps --target "$target" \
    --config-settings=cmake.define.NAFS_SERIAL=$serial --config-settings=build-dir="build/compilers/cmake-$build" .
  # An editable installation must not come first.
  echo 'import sys; sys.meta_path = [f for f in sys.meta_path if not type(f).__module__.startswith("_editable_")]' \
    > "$target/sitecustomize.py"
  PYTHONPATH=$target "$PYTHON" - "$target" "$serial" <<'CHECK'
import sys, warnings
from nafs.model import _updates
from nafs.smoothing import _kernel
for module in (_kernel, _updates):
    assert module.__file__.startswith(sys.argv[1]), module.__file__
assert _kernel.OPENMP == (sys.argv[2] == "OFF"), "OpenMP was not found: install it, or ask for the serial build"
import nafs
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        nafs.NAFS(2).fit_transform([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
messages = [str(warning.message) for warning in caught if "OpenMP" in str(warning.message)]
assert len(messages) == (0 if _kernel.OPENMP else 1), messages
CHECK
  echo "$build: compiled; OpenMP $([ $serial = ON ] && echo "off, warned once" || echo on)"
  PYTHONPATH=$target OPENBLAS_NUM_THREADS=1 "$PYTHON" -m pytest -q -p no:cacheprovider \
    -W "ignore:nafs was built without OpenMP" tests/smoothing tests/engines/test_cached.py tests/model
done
