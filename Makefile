# Every target runs in a virtual environment, which is created on first use and updated when files change.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(shell find src -type f -not -path '*/__pycache__/*')

# Real data sets; tests and benchmarks that need them are skipped without them.
NAFS_DATA_HOME ?= $(abspath $(wildcard ../shared/datasets))
export NAFS_DATA_HOME

# Test files run side by side. Threads that wait must not spin, or they take the cores of the other files.
WORKERS ?= 2
QUIET_THREADS := OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1

.PHONY: demo test test-slow lint format bench docs docs-data torture sanitize compilers wheel clean

demo: $(VENV)/all
	$(BIN)/nafs demo --force

test: $(VENV)/test
	$(QUIET_THREADS) $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --doctest-modules --pyargs nafs tests

test-slow: $(VENV)/test
	$(BIN)/python -m pytest --slow --doctest-modules --pyargs nafs tests

lint: $(VENV)/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html

# The data set of the example that needs one.
docs-data: $(VENV)/docs
	$(BIN)/nafs datasets fetch amazon-photo

# The main benchmarks, about 17 minutes; BENCH=all runs every one, BENCH="order disk" these two. The results go
# into docs/performance.md. Fails if a bound is missed.
BENCH ?=
bench: $(VENV)/bench
	$(BIN)/python benchmarks/run.py $(BENCH); status=$$?; \
	$(BIN)/python tools/performance.py benchmarks/results/latest.json && exit $$status

# Damages files and kills runs for an hour or two; the counts go into docs/reliability.md.
torture: $(VENV)/test
	$(BIN)/python tools/torture.py

sanitize: $(VENV)/test
	PYTHON=$(abspath $(BIN)/python) tools/sanitize.sh

wheel: $(VENV)/wheels
	PYTHON=$(abspath $(BIN)/python) tools/check_wheel.sh

compilers: $(VENV)/test
	PYTHON=$(abspath $(BIN)/python) tools/compilers.sh

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "nafs needs Python 3.11 or later; name one with PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# The kernel is compiled once: an sdist, and from it the wheel that every group of optional packages is installed
# with. The tests therefore run on the wheel; they cannot import src.
$(VENV)/installed: $(BIN)/python $(SOURCES)
	rm -rf $(VENV)/wheel
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build --outdir $(VENV)/wheel . >$(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps $(VENV)/wheel/*.whl
	$(BIN)/python -m pip install --quiet $(VENV)/wheel/*.whl
	touch $@

$(VENV)/all $(VENV)/test $(VENV)/lint $(VENV)/bench $(VENV)/docs $(VENV)/wheels: $(VENV)/%: $(VENV)/installed
	$(BIN)/python -m pip install --quiet "$$(ls $(VENV)/wheel/*.whl)[$*]"
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
