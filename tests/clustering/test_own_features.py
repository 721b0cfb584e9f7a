"""Features before smoothing as evidence for clusters."""

import numpy as np
import pytest
import scipy.sparse as sp

from nafs.clustering import ClusterSearch, agreement
from nafs.clustering.edges import Edges
from nafs.clustering.own_features import OwnFeatures
from nafs.datasets import load_dataset
from nafs.graph import read_adjacency, read_features
from nafs.pipeline import Job, Settings, search_clusters


def by_definition(features, scores, weight):
    """Naive Bayes with the odds of each feature inside and outside of a cluster, in plain loops."""
    rows = features / np.linalg.norm(features, axis=1, keepdims=True)
    count, refined = len(scores), scores
    for _ in range(3):
        shares = np.exp(refined) / np.exp(refined).sum(axis=0)
        odds = np.zeros((count, features.shape[1]))
        total = rows.sum(axis=0)
        for cluster in range(count):
            inside = shares[cluster] @ rows + 0.01 * total
            outside = (1 - shares[cluster]) @ rows + 0.01 * total
            odds[cluster] = np.log(inside / inside.sum()) - np.log(outside / outside.sum())
        refined = scores + weight * odds @ rows.T
    return refined


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_evidence_is_that_of_the_definition(form):
    rng = np.random.default_rng(1)
    values = rng.random((40, 7)) * (rng.random((40, 7)) < 0.5) + 0.01
    scores = np.log(rng.dirichlet(np.ones(3), 40).T)
    own = OwnFeatures(read_features(form(values)), 2.0)
    refined, odds = own.refine(scores), own.odds(scores)
    np.testing.assert_allclose(refined, by_definition(values, scores, 2.0), rtol=1e-4, atol=1e-4)
    blocks = [own.evidence(odds, begin, begin + 20) for begin in (0, 20)]
    np.testing.assert_allclose(np.vstack(blocks), own.evidence(odds), rtol=1e-6)
    np.testing.assert_allclose(scores + own.evidence(odds).T, refined, rtol=1e-6)


def test_lengths_of_rows_and_empty_rows_and_columns_do_not_count():
    rng = np.random.default_rng(2)
    values = np.c_[rng.random((30, 5)), np.zeros(30)]
    scores = np.log(rng.dirichlet(np.ones(2), 30).T)
    values[3] = 0
    own = OwnFeatures(read_features(values))
    refined, odds = own.refine(scores), own.odds(scores)
    np.testing.assert_array_equal(refined[:, 3], scores[:, 3])
    assert np.isfinite(odds).all()
    np.testing.assert_allclose(OwnFeatures(read_features(values[:, :5])).refine(scores), refined, rtol=1e-5)
    longer = values * rng.uniform(1, 100, (30, 1))
    np.testing.assert_allclose(OwnFeatures(read_features(longer)).refine(scores), refined, rtol=1e-4)
    assert np.isfinite(OwnFeatures(read_features(1e-38 * values)).refine(scores)).all()


def test_known_clusters_decide_what_a_node_counts_for():
    rng = np.random.default_rng(4)
    values = rng.random((30, 6))
    scores = np.log(rng.dirichlet(np.ones(3), 30).T)
    nodes, clusters = np.arange(10), rng.integers(0, 3, 10)
    own = OwnFeatures(read_features(values))
    odds = own.odds(scores, (nodes, clusters))
    certain = scores.copy()
    certain[:, nodes], certain[clusters, nodes] = -50, 50
    np.testing.assert_allclose(own.odds(certain), odds, rtol=1e-4, atol=1e-5)
    assert np.abs(own.odds(scores) - odds).max() > 0.01


def test_only_features_without_negative_values_are_used():
    assert OwnFeatures.can_use(read_features([[0.0, 1.0]]))
    assert OwnFeatures.can_use(read_features(sp.csr_array([[0.0, 1.0]])))
    assert not OwnFeatures.can_use(read_features([[0.0, -1.0]]))
    assert not OwnFeatures.can_use(read_features(sp.csr_array([[0.0, -1.0]])))
    assert not OwnFeatures.can_use(read_features([[0.0, 0.0]]))


def test_own_features_move_nodes_in_and_outside_of_the_sample():
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], 200)
    points = np.eye(3)[truth] + 0.45 * rng.standard_normal((600, 3))
    words = read_features(np.eye(3)[truth])
    for sample in (600, 200):
        search = ClusterSearch([(0, points)], 3, features=words, sample=sample)
        right = {}
        for search.use_own_features in (False, True):
            labels = search.consensus(3).labels
            nodes = np.arange(600)
            others = nodes if search.sample is None else np.setdiff1d(nodes, search.sample)
            right[search.use_own_features] = agreement(truth[others], labels[others])["ACC"]
        assert right[True] > right[False] + 0.03


def test_papers_of_acm_are_clustered_better_with_their_own_words(data_home):
    graph = load_dataset("acm").graph
    search = search_clusters(Job.of(graph, Settings.of(n_hops="auto", n_clusters=3, n_threads=1)))
    scores = {}
    for search.use_own_features in (False, True):
        labels = search.consensus(3).labels
        scores[search.use_own_features] = agreement(graph.labels.codes, labels)["ARI"]
    assert scores[True] > scores[False] + 0.005


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_many_nodes_are_read_in_blocks(form, monkeypatch):
    rng = np.random.default_rng(6)
    own = OwnFeatures(read_features(form(rng.random((50, 9)))))
    scores = np.log(rng.dirichlet(np.ones(3), 50).T)
    known = np.array([40, 3, 17, 49]), np.array([0, 1, 2, 0])
    whole, partly_known = own.odds(scores), own.odds(scores, known)
    monkeypatch.setattr("nafs.clustering.own_features.BLOCK", 8)
    np.testing.assert_allclose(own.odds(scores), whole, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(own.odds(scores, known), partly_known, rtol=1e-4, atol=1e-6)
    assert np.abs(whole - partly_known).max() > 0.01


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_information_is_that_of_the_definition(form):
    rng = np.random.default_rng(7)
    values = rng.random((40, 6))
    clusters = rng.integers(0, 3, 40)
    shares = np.zeros((4, 6))  # the last cluster is empty
    np.add.at(shares, clusters, values / np.linalg.norm(values, axis=1, keepdims=True))
    shares /= shares.sum()
    expected = sum(
        share * np.log(share / (shares[row].sum() * shares[:, column].sum()))
        for (row, column), share in np.ndenumerate(shares)
        if share > 0
    )
    assert OwnFeatures(read_features(form(values))).information(clusters, 4) == pytest.approx(expected, 1e-5)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_evidence_of_a_block_copies_no_values(form):
    features = read_features(form(np.random.default_rng(5).random((50, 9))))
    block = features.between(10, 30)
    np.testing.assert_array_equal(block.toarray(), features.toarray()[10:30])
    assert np.shares_memory(block.values, features.values)


@pytest.mark.parametrize("values_at_a_time", [1, 1 << 22])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_most_alike_are_the_nearest_by_cosine_without_those_that_are_linked(
    form, values_at_a_time, monkeypatch
):
    monkeypatch.setattr("nafs.clustering.own_features._VALUES", values_at_a_time)
    rng = np.random.default_rng(8)
    values = rng.random((60, 5)) * (rng.random((60, 5)) < 0.7)
    values[7] = 0  # like none
    linked = np.triu(rng.random((60, 60)) < 0.2, 1)
    pairs = OwnFeatures(read_features(form(values))).most_alike(
        Edges.among(read_adjacency(linked | linked.T))
    )
    rows = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-12)
    cosines = rows @ rows.T
    cosines[linked | linked.T | np.eye(60, dtype=bool)] = 0
    expected = {(i, j) for i in range(60) for j in np.argsort(-cosines[i])[:3] if cosines[i, j] > 0}
    half = len(pairs.first) // 2
    assert set(zip(pairs.first[:half].tolist(), pairs.second[:half].tolist(), strict=True)) == expected
    assert sorted(zip(pairs.first, pairs.second, strict=True)) == sorted(
        zip(pairs.second, pairs.first, strict=True)
    )
    assert 7 not in pairs.first


def test_nodes_that_have_nothing_in_common_are_not_alike():
    path = Edges.among(read_adjacency(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])))
    assert OwnFeatures(read_features(np.eye(3))).most_alike(path) is None
    pair = Edges.among(read_adjacency(np.array([[0, 1], [1, 0]])))
    assert OwnFeatures(read_features([[1.0], [1.0]])).most_alike(pair) is None  # all are linked


def test_which_of_equally_similar_nodes_are_taken_is_left_to_chance():
    kinds = np.random.default_rng(9).integers(0, 5, 2000)
    tags = OwnFeatures(read_features(np.eye(5)[kinds]))
    pairs = tags.most_alike(
        Edges.among(read_adjacency(sp.diags_array(np.ones(1999), offsets=1), directed=False))
    )
    half = len(pairs.first) // 2
    assert (kinds[pairs.first] == kinds[pairs.second]).all()
    assert len(np.unique(pairs.second[:half])) > half / 2
