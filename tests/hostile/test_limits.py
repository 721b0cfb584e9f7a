"""Anonymous memory of every command stays within --memory-limit, or the command refuses before it starts.

Every command runs on one shape of input within one limit; `--slow` runs all of them on all shapes and limits,
as `python tools/limits.py` does, which can be interrupted.
"""

import pytest
from limit_cells import CELLS, LARGE_CELLS, measure, write_inputs

QUICK = {  # one shape and limit of every command
    ("describe", "tables", 250),
    ("convert", "tables", 250),
    ("plan", "matrices", 250),
    ("embed", "saved", 250),
    ("embed on disk", "saved", 120),
    ("embed reduced", "wide", 500),
    ("embed auto", "saved", 250),
    ("embed auto", "saved", 500),
    ("embed and keep", "saved", 250),
    ("update", "saved", 250),
    ("update of much", "saved", 250),
    ("cluster", "saved", 500),
    ("classify", "saved", 500),
    ("suggest-links", "matrices", 500),
    ("evaluate", "saved", 500),
    ("similar", "saved", 250),
    ("similar to all", "saved", 250),
    ("report", "saved", 700),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    write_inputs(folder)
    return folder


@pytest.mark.parametrize(
    ("command", "shape", "megabytes"),
    [pytest.param(*cell, marks=[] if cell in QUICK else pytest.mark.slow) for cell in (*CELLS, *LARGE_CELLS)],
)
def test_limits_are_kept(inputs, tmp_path, command, shape, megabytes):
    code, peak, wrong = measure(inputs, tmp_path, (command, shape, megabytes))
    print(f"{command} of {shape}: {peak / 1e6:.0f} MB of {megabytes} MB, exit code {code}")
    assert not wrong
