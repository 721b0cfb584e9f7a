"""Damaged files are read or refused with one line: no crash, no hang, nothing silently wrong."""

import itertools
import json
from pathlib import Path

import pytest
from corpus import kinds
from pool import counts, run_cases

CASES = 60  # of each kind; tools/torture.py tries many more
KEPT = Path(__file__).parent / "seeds.json"  # damage that was once handled badly


@pytest.fixture(scope="module")
def outcomes():
    names = list(kinds())
    cases = [(name, seed) for seed, name in itertools.product(range(CASES), names)]
    return run_cases([*cases, *map(tuple, json.loads(KEPT.read_text()))])


def test_whole_files_are_read(outcomes):
    whole = [outcome for outcome in outcomes if outcome["seed"] == 0]
    assert len(whole) == len(kinds())
    assert [outcome for outcome in whole if "read" not in outcome] == []


def test_damaged_files_are_read_or_refused(outcomes):
    bad = [outcome for outcome in outcomes if "bad" in outcome]
    assert bad == [], counts(outcomes)
    assert counts(outcomes)["refused"] > 0.3 * len(outcomes), "the damage is too tame"
