"""How long a fit takes: measured, estimated if it takes too long, or out of memory."""

from dataclasses import replace

import pytest

from nafs.datasets import contextual_sbm
from nafs.reproduce import efficiency
from nafs.reproduce.timing import fit_times, middle, show_time
from nafs.rivals import RIVALS, problem_of


@pytest.fixture(scope="module")
def problem():
    return problem_of(contextual_sbm(100, n_features=8, seed=0), "links")


def slow(problem, seed, progress):
    """Ten steps, all done at once."""
    for step in range(10):
        progress(step + 1, 10)
    return problem.dense_features


@pytest.fixture
def rival():
    return replace(RIVALS["raw features"], fit=slow)


def test_a_quick_fit_is_measured_several_times(rival, problem):
    cell = fit_times(rival, problem, repeats=3)
    assert len(cell["seconds"]) == 3
    assert middle(cell) > 0


def test_a_slow_fit_is_stopped_and_estimated_from_the_share_of_its_steps(rival, problem):
    cell = fit_times(rival, problem, patience=0)
    assert cell["share"] == [0.1], "stopped after the first of ten steps"
    assert cell["estimate"][0] > 0
    assert show_time(cell).startswith("≈ ")
    assert show_time(cell).endswith(" (10 % done)")


def test_a_fit_that_is_done_is_not_estimated(rival, problem):
    one_step = replace(rival, fit=lambda problem, seed, progress: progress(1, 1))
    assert set(fit_times(one_step, problem, patience=0)) == {"seconds"}


def test_a_fit_without_enough_memory_says_what_it_needs(rival, problem):
    assert fit_times(replace(rival, memory=lambda _: 10**15), problem) == {"needs": [1e15]}


def test_a_ratio_stands_beside_the_published_one():
    cell = {"estimate": [300.0], "share": [0.5], "NAFS-mean": [2.0, 4.0]}
    assert efficiency.show_ratio("AGE", "pubmed", cell) == "≈ 100 (published: 88.6)"
    assert efficiency.show_ratio("AGE", "cora", cell) == "≈ 100"
    assert efficiency.show_ratio("SGC", "cora", {"seconds": [1.5], "NAFS-mean": [3.0]}) == "0.5"
    slower = {"seconds": [5520.0], "NAFS-mean": [3.0]}
    assert efficiency.show_ratio("AGE", "cora", slower) == "1,840"
    assert efficiency.show_ratio("AGE", "cora", {"needs": [1e12]}) == ""
