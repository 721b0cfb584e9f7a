"""Estimates of time: graphs too large for the probe are sampled."""

import numpy as np
import pytest
from panel_runs import problem_of
from random_graphs import random_graph

from nafs.engines import probe
from nafs.engines.memory import MemoryEngine
from nafs.graph import read_adjacency


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_keeps_degrees_weights_and_places(weighted):
    graph = read_adjacency(random_graph(5, n=1000, density=0.02, weighted=weighted)[0])
    sample, times = probe._sample(graph, 250)
    every_fourth = np.arange(250) * 4
    assert np.diff(sample.indptr).tolist() == np.diff(graph.indptr)[every_fourth].tolist()
    first, last = graph.indptr[4], graph.indptr[5]
    assert (
        sample.indices[sample.indptr[1] : sample.indptr[2]].tolist()
        == (graph.indices[first:last] // 4).tolist()
    )
    assert (sample.weights is None) == (not weighted)
    if weighted:
        assert sample.weights[sample.indptr[1]] == graph.weights[first]
    assert times == pytest.approx(4, rel=0.2)
    assert probe._sample(graph, 1000) == (graph, 1.0)


def test_wide_rows_of_a_large_graph_are_not_guessed_from_narrow_ones(monkeypatch):
    graph = read_adjacency(random_graph(5, n=1000, density=0.02)[0])
    problem = problem_of(graph, 64)
    monkeypatch.setattr(probe, "_MOST_VALUES", 100 * 64)
    widths = []
    original = probe.Hops

    def hops(graph, features, *args, **kwargs):
        widths.append(features.shape)
        return original(graph, features, *args, **kwargs)

    monkeypatch.setattr(probe, "Hops", hops)
    plan = MemoryEngine().plan(problem)
    assert probe._by_rows(problem, plan, 0.01) > 0
    assert widths == [(100, 64)]
