"""Several methods on one graph, with the same splits, seeds and heads."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from nafs._support.meter import metered
from nafs.datasets import contextual_sbm
from nafs.graph import Graph
from nafs.rivals import RIVALS, compare


@pytest.fixture(scope="module")
def graph():
    return contextual_sbm(150, n_classes=3, homophily=0.9, n_features=12, signal=3.0, seed=0)


@pytest.mark.parametrize("task", ["links", "clustering", "classification"])
def test_a_comparison_orders_methods_by_its_first_metric(graph, task):
    steps = []
    methods = [RIVALS["raw features"], RIVALS["SGC"]]
    comparison = compare(graph, task, methods, seeds=2, progress=lambda *step: steps.append(step))
    assert comparison.ordered() == ["SGC", "raw features"]
    assert steps == [("raw features", 0, 4), ("SGC", 1, 4), ("raw features", 2, 4), ("SGC", 3, 4)]
    assert len(comparison.row("SGC")) == len(comparison.metrics) + 3
    means = [np.mean(comparison.values[name][comparison.metrics[0]]) for name in comparison.ordered()]
    assert means[0] > means[1]


def test_a_method_that_cannot_run_is_skipped_with_its_reason(graph):
    greedy = replace(RIVALS["SGC"], name="greedy", memory=lambda _: 10**16)
    comparison = compare(graph, "links", [greedy, RIVALS["SGC"]], seeds=1)
    assert list(comparison.values) == ["SGC"]
    assert comparison.skipped["greedy"].startswith("greedy: out of memory (needs 1e+04 TB;")
    assert comparison.as_dict()["skipped"] == comparison.skipped


def test_a_method_that_fails_does_not_take_the_others_with_it(graph):
    def fail(problem, seed, progress, **settings):
        raise RuntimeError("no convergence")

    broken = replace(RIVALS["SGC"], name="broken", fit=fail)
    comparison = compare(graph, "links", [broken, RIVALS["SGC"]], seeds=1)
    assert list(comparison.values) == ["SGC"]
    assert comparison.skipped == {"broken": "broken failed: RuntimeError: no convergence"}
    with pytest.raises(ValueError, match="needs labels"):
        compare(Graph(graph.adjacency), "clustering", [RIVALS["SGC"]], seeds=1)


def test_a_method_with_fewer_seeds_is_not_reported_as_left_out(graph, monkeypatch):
    now = 0.0

    def slow_fit(problem, seed, progress, **settings):
        nonlocal now
        now += 7.0
        return RIVALS["SGC"].fit(problem, seed, progress, **settings)

    clock = SimpleNamespace(perf_counter=lambda: now)
    monkeypatch.setattr(sys.modules["nafs.rivals.compare"], "time", clock)
    quick = replace(RIVALS["SGC"], name="quick", cost=5.0, growth=0.0)
    slow = replace(quick, name="slow", cost=6.0, fit=slow_fit)
    comparison = compare(graph, "links", [quick, slow], seeds=3, limit=10.0)
    assert {name: len(values["AUC"]) for name, values in comparison.values.items()} == {"quick": 1, "slow": 1}
    assert comparison.skipped == {}, "both were measured; only further seeds are too long"


def test_a_time_limit_leaves_slow_methods_out_and_cuts_seeds(graph):
    slow = replace(RIVALS["SGC"], name="slow", cost=1e6)
    comparison = compare(graph, "links", [slow, RIVALS["SGC"]], seeds=3, limit=2.0)
    assert list(comparison.values) == ["SGC"]
    assert comparison.skipped == {"slow": "slow: not measured within 2 s"}
    hasty = compare(graph, "links", [RIVALS["SGC"]], seeds=3, limit=0.06)
    assert len(hasty.values["SGC"]["AUC"]) < 3, "a tenth of the limit is used up by the first seed"


def test_without_labels_clusters_are_judged_by_the_edges(graph):
    bare = Graph(graph.adjacency, graph.features)
    comparison = compare(bare, "clustering", [RIVALS["SGC"]], seeds=1, n_clusters=3)
    assert comparison.metrics == ("modularity",)


def test_the_meter_sees_memory():
    small, large = (
        metered(lambda size=size: np.ones(size).sum())[1].get("bytes") for size in (1000, 30_000_000)
    )
    if large is None:
        pytest.skip("this system does not tell resident memory")
    assert small < 20e6
    assert 200e6 < large < 400e6
