"""Structural columns beside features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from nafs import Graph, embed, structural_features
from nafs.datasets import load_dataset
from nafs.engines import memory
from nafs.engines.base import FeatureSize, Problem
from nafs.engines.resources import Resources
from nafs.graph import read_features
from nafs.selection.structure import SHARES, beside, choose_structure, halves_agreement
from nafs.smoothing import Method


def communities(seed=0, n=400, groups=4):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, groups, n)
    chance = np.where(truth[:, None] == truth, 0.08, 0.006)
    upper = np.triu(rng.random((n, n)) < chance, 1)
    return Graph(sp.csr_array(upper | upper.T)).adjacency, truth


def sweep(graph, features, hops):
    problem = Problem(graph, FeatureSize.of(features), Method(hops[-1]), Resources(n_threads=1))
    return memory.sweep(problem, features, hops)


def make(graph):
    return read_features(structural_features(graph, 32, n_threads=1))


def clusters(features, graph, truth):
    matrix = embed(Graph(graph, features.toarray()), n_hops=5, n_threads=1).matrix
    found = KMeans(4, n_init=5, random_state=0).fit_predict(matrix)
    return normalized_mutual_info_score(truth, found)


def test_noise_columns_do_no_harm():
    graph, truth = communities()
    noise = read_features(np.random.default_rng(0).normal(size=(400, 2)))
    choice = choose_structure(graph, noise, make, sweep)
    assert choice.share >= 0.5
    assert set(choice.curve) == set(SHARES)
    assert "structural columns with" in choice.reason
    structural = make(graph)
    without, beside_noise = (
        clusters(features, graph, truth) for features in (structural, beside(noise, structural, choice.share))
    )
    assert beside_noise > without - 0.05


def test_clear_features_stay_alone():
    graph, truth = communities()
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 80))
    clear = read_features(centres[truth] + 0.5 * rng.normal(size=(400, 80)))
    assert halves_agreement(graph, clear, sweep) > 0.5
    assert choose_structure(graph, clear, make, sweep).share == 0
    few = read_features(np.ascontiguousarray(clear.toarray()[:, :3]))
    assert halves_agreement(graph, few, sweep) == 0


def test_a_graph_without_edges_has_no_structure():
    empty = Graph(np.zeros((5, 5))).adjacency
    assert choose_structure(empty, read_features(np.eye(5)), make, sweep).share == 0


def test_blocks_have_their_share_of_the_length():
    rng = np.random.default_rng(0)
    for features in (rng.normal(size=(50, 4)) * 100, sp.random_array((50, 40), density=0.1, rng=rng)):
        mixed = beside(read_features(features), read_features(rng.normal(size=(50, 3))), 0.25).toarray()
        squares = (mixed**2).sum(axis=0)
        assert squares[-3:].sum() / 50 == pytest.approx(0.25, rel=1e-4)
        assert squares.sum() / 50 == pytest.approx(1, rel=1e-4)


def test_two_noise_columns_on_cora(planetoid_home):
    graph = load_dataset("cora").graph.adjacency
    noise = read_features(np.random.default_rng(0).normal(size=(2708, 2)))
    assert choose_structure(graph, noise, make, sweep).share >= 0.5


def test_embed_puts_structure_beside_features(planetoid_home):
    graph = load_dataset("cora").graph
    noise = graph.with_features(np.random.default_rng(0).normal(size=(2708, 2)))
    embedding = embed(noise, "auto", structure="auto", n_threads=1)
    assert embedding.matrix.shape[1] == 130
    assert any("structural columns with" in reason for reason in embedding.choice.reasons)
    assert embed(noise, 3, structure="auto", n_threads=1).matrix.shape[1] == 2
    assert embed(noise, 3, structure=16, n_threads=1).matrix.shape[1] == 18
    with pytest.raises(ValueError, match="structure must be"):
        embed(noise, structure="some")


def test_features_that_stand_alone_do_on_cora(planetoid_home):
    embedding = embed(load_dataset("cora").graph, "auto", structure="auto", n_threads=1)
    assert embedding.matrix.shape[1] == 1433
    assert any("no structural columns" in reason for reason in embedding.choice.reasons)
