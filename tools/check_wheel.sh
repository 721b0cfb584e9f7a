#!/usr/bin/env bash
# Build an sdist, a wheel from it, and try the wheel in empty environments.
#
#   make wheel               (or: PYTHON=.venv/bin/python tools/check_wheel.sh [TEST ...])
#
# TESTs are files or folders to run with the wheel; all tests by default. The results are in dist.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-.venv/bin/python}
[ $# -gt 0 ] || set -- tests

rm -rf dist
"$PYTHON" -m build --outdir dist .  # the wheel is built from the unpacked sdist
wheel=$(ls "$PWD"/dist/*.whl)
if [ "$(uname)" = Linux ]; then
  "$PYTHON" -m auditwheel show "$wheel"
  "$PYTHON" -m auditwheel repair --wheel-dir dist/repaired "$wheel"
  wheel=$(ls "$PWD"/dist/repaired/*.whl)
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$PYTHON" -m venv "$work/env"
"$work/env/bin/pip" install --quiet "$wheel"
(cd "$work" && env/bin/python -c '
import importlib.util as util, nafs
assert nafs.NAFS(2).fit_transform([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).shape == (3, 2)
assert not any(util.find_spec(name) for name in ("duckdb", "typer", "rich"))
print("the estimator runs without DuckDB, typer and rich: nafs", nafs.__version__)')
"$work/env/bin/pip" install --quiet "$wheel[test]"
cp -r pyproject.toml tests tools docs notebooks examples benchmarks README.md Makefile "$work"
cp ./*.md "$work"
(cd "$work" && OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 env/bin/python -m pytest -q -n 2 --dist loadfile "$@")
