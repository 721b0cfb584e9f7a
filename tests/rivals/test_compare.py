"""Several methods on one graph, with the same splits, seeds and heads."""

from dataclasses import replace

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
    told = []
    methods = [RIVALS["raw features"], RIVALS["SGC"]]
    found = compare(graph, task, methods, seeds=2, told=lambda *what: told.append(what))
    assert found.ordered() == ["SGC", "raw features"]
    assert told == [("raw features", 0, 4), ("raw features", 1, 4), ("SGC", 2, 4), ("SGC", 3, 4)]
    assert len(found.row("SGC")) == len(found.metrics) + 2
    means = [np.mean(found.values[name][found.metrics[0]]) for name in found.ordered()]
    assert means[0] > means[1]


def test_a_method_that_cannot_run_is_skipped_with_its_reason(graph):
    greedy = replace(RIVALS["SGC"], name="greedy", memory=lambda _: 10**16)
    found = compare(graph, "links", [greedy, RIVALS["SGC"]], seeds=1)
    assert list(found.values) == ["SGC"]
    assert found.skipped["greedy"].startswith("greedy: out of memory (needs 1e+04 TB;")
    assert found.as_dict()["skipped"] == found.skipped


def test_without_labels_clusters_are_judged_by_the_edges(graph):
    bare = Graph(graph.adjacency, graph.features)
    found = compare(bare, "clustering", [RIVALS["SGC"]], seeds=1, n_clusters=3)
    assert found.metrics == ("modularity",)


def test_the_meter_sees_memory():
    small, large = (
        metered(lambda size=size: np.ones(size).sum())[1].get("bytes") for size in (1000, 30_000_000)
    )
    if large is None:
        pytest.skip("this system does not tell resident memory")
    assert small < 20e6
    assert 200e6 < large < 400e6
