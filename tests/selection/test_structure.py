"""Structural columns beside features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score, roc_auc_score

import nafs
from nafs import Graph, embed, structural_features
from nafs.datasets import load_dataset
from nafs.engines import memory
from nafs.engines.base import FeatureSize, Problem
from nafs.engines.resources import Resources
from nafs.graph import read_features
from nafs.pipeline import Job, Settings, decide
from nafs.selection.structure import (
    GAIN,
    GAIN_BESIDE_FEW,
    SHARES,
    beside,
    choose_structure,
    halves_agreement,
    placements,
)
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
    labels = KMeans(4, n_init=5, random_state=0).fit_predict(matrix)
    return normalized_mutual_info_score(truth, labels)


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


def test_a_small_gain_is_not_worth_structural_columns():
    graph, truth = communities()
    rng = np.random.default_rng(0)
    weak = read_features(np.eye(4)[truth] + 0.5 * rng.normal(size=(400, 4)))
    choice = choose_structure(graph, weak, make, sweep)
    assert 0 < max(choice.curve.values()) - choice.curve[0.0] < GAIN
    assert choice.share == 0
    assert "with them" in choice.reason


def test_beside_a_few_columns_a_smaller_gain_is_enough_for_clusters():
    graph, truth = communities(1)
    columns = np.column_stack(
        [truth >= 2, truth < 2, 0.3 * (truth % 2)]
    )  # which know half of the groups well
    columns = columns + 0.6 * np.random.default_rng(0).random((400, 3))
    choice = choose_structure(graph, read_features(columns), make, sweep)
    assert GAIN_BESIDE_FEW < max(choice.curve.values()) - choice.curve[0.0] < GAIN
    assert choice.share > 0
    assert choose_structure(graph, read_features(columns), make, sweep, goal="links").share == 0
    wide = read_features(np.hstack([columns, np.zeros((400, 61))]))
    assert choose_structure(graph, wide, make, sweep).share == 0


def test_two_hidden_edges_prove_nothing():
    rng = np.random.default_rng(0)
    ends = rng.permutation(40).reshape(2, 20)
    pairs = sp.csr_array((np.ones(20, bool), tuple(ends)), shape=(40, 40))
    graph = Graph(pairs + pairs.T, directed=False).adjacency
    noise = read_features(rng.normal(size=(40, 3)))
    assert choose_structure(graph, noise, make, sweep).share == 0


def test_placements_give_the_area_under_the_curve_and_its_error():
    rng = np.random.default_rng(1)
    truth = np.arange(500) < 200
    first = rng.normal(size=500).round(1) + truth
    second = first + 0.5 * rng.normal(size=500)
    placed = [placements(truth, scores) for scores in (first, second)]
    for place, scores in zip(placed, (first, second), strict=True):
        assert place.auc() == pytest.approx(roc_auc_score(truth, scores))
        assert place.others.mean() == pytest.approx(place.auc())
    differences = []
    for _ in range(400):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(truth == side), (truth == side).sum()) for side in (True, False)]
        )
        differences.append(roc_auc_score(truth[rows], first[rows]) - roc_auc_score(truth[rows], second[rows]))
    assert placed[0].standard_error(placed[1]) == pytest.approx(np.std(differences), rel=0.15)


def test_clear_features_stay_alone():
    graph, truth = communities()
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 80))
    clear = read_features(centres[truth] + 0.5 * rng.normal(size=(400, 80)))
    assert halves_agreement(graph, clear, sweep) > 0.5
    assert choose_structure(graph, clear, make, sweep).share == 0
    few = read_features(np.ascontiguousarray(clear.toarray()[:, :3]))
    assert halves_agreement(graph, few, sweep) == 0


def test_groups_that_edges_blur_are_seen_after_one_hop():
    graph, truth = communities()
    rng = np.random.default_rng(0)
    clear = read_features(rng.normal(size=(4, 80))[truth] + 0.5 * rng.normal(size=(400, 80)))
    noise = read_features(rng.normal(size=(400, 80)))

    def blurred(_graph, features, hops):
        for hop in hops:
            yield hop, features.toarray() if hop == 1 else rng.normal(size=features.shape)

    assert halves_agreement(graph, clear, blurred) > 0.3
    assert halves_agreement(graph, noise, blurred) < 0.05


def test_a_graph_with_all_edges_gets_no_structural_columns():
    complete = Graph(1 - np.eye(80)).adjacency
    choice = choose_structure(complete, read_features(np.random.default_rng(0).random((80, 20))), make, sweep)
    assert choice.share == 0
    assert "no structural columns: " in choice.reason


def test_weak_features_never_do_worse_than_none_by_default():
    adjacency, truth = communities()
    for columns in (1, 2, 10, 100):
        noise = np.random.default_rng(columns).normal(size=(400, columns))
        scores = [
            normalized_mutual_info_score(truth, nafs.cluster(graph, 4, n_threads=1).labels)
            for graph in (Graph(adjacency), Graph(adjacency, noise))
        ]
        assert scores[1] > scores[0] - 0.05, f"{columns} columns of noise: {scores}"


def test_clear_features_that_edges_hardly_follow_are_kept():
    adjacency, _ = communities()
    rng = np.random.default_rng(3)
    other = rng.integers(0, 3, 400)  # groups of their own
    clear = Graph(adjacency, 4 * rng.normal(size=(3, 80))[other] + rng.normal(size=(400, 80)))
    labels = nafs.cluster(clear, 3, n_threads=1).labels
    assert normalized_mutual_info_score(other, labels) > 0.95


def test_where_memory_is_short_structure_stays_away():
    adjacency, _ = communities(n=3000)
    graph = Graph(adjacency, np.random.default_rng(0).normal(size=(3000, 2)))
    choice = decide(Job.of(graph, Settings.of(n_hops="auto", n_clusters=4, memory_limit="25MB"))).choice
    assert any(
        reason.startswith("no structural columns: comparing them needs") and "memory_limit" in reason
        for reason in choice.reasons
    )


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
    embedding = embed(noise, "auto", n_clusters=7, n_threads=1)
    assert embedding.matrix.shape[1] == 130
    bare = embed(Graph(graph.adjacency), "auto", n_clusters=7, n_threads=1)
    alone = embed(noise, "auto", n_clusters=7, structure="none", n_threads=1)
    with_noise, without_table, noise_only = (
        normalized_mutual_info_score(graph.labels.codes, result.choice.clustering.labels)
        for result in (embedding, bare, alone)
    )
    assert noise_only < 0.1
    assert without_table > 0.3
    assert with_noise > without_table - 0.02, "weak features never do worse than none"
    assert any("structural columns with" in reason for reason in embedding.choice.reasons)
    assert embed(noise, 3, structure="auto", n_threads=1).matrix.shape[1] == 2
    assert embed(noise, 3, structure=16, n_threads=1).matrix.shape[1] == 18
    with pytest.raises(ValueError, match="structure must be"):
        embed(noise, structure="some")


def test_a_given_number_of_hops_says_that_structure_was_not_tried():
    graph, _ = communities()
    graph = Graph(graph, np.random.default_rng(0).normal(size=(400, 2)))
    (reason,) = embed(graph, 3, n_threads=1).choice.reasons
    assert reason.startswith(
        "no structural columns: whether they help is only tried if the number of hops is left to auto"
    )
    assert not embed(graph, 3, structure="none", n_threads=1).choice.reasons
    (reason,) = embed(graph, 3, structure=16, n_threads=1).choice.reasons
    assert reason == "16 structural columns beside the features"
    assert not embed(Graph(graph.adjacency), 3, n_threads=1).choice.reasons


def test_features_that_stand_alone_do_on_cora(planetoid_home):
    embedding = embed(load_dataset("cora").graph, "auto", n_threads=1)
    assert embedding.matrix.shape[1] == 256
    assert embedding.settings["structure"] == "none"
    assert any("no structural columns" in reason for reason in embedding.choice.reasons)


def test_structural_features_of_a_graph_are_computed_once(monkeypatch):
    graph, _ = communities()
    noise = np.random.default_rng(0).normal(size=(400, 2))
    graph = Graph(graph, noise, ids=[f"n{i}" for i in range(400)])
    seen = []

    def counted(adjacency, *arguments, **options):
        seen.append(adjacency.n_stored)
        return structural_features(adjacency, *arguments, **options)

    monkeypatch.setattr("nafs.pipeline.job.structural_features", counted)
    once = embed(graph, n_hops="auto", goal="links", n_threads=1)
    assert once.settings["structure_share"] > 0
    assert len(seen) == len(set(seen)) == 2  # all edges, and those that are not hidden
    # Within a limit, columns of the first choice are not kept for the second.
    again = embed(graph, n_hops="auto", goal="links", n_threads=1, memory_limit=4 << 30)
    assert len(seen) == 5
    assert np.array_equal(once.matrix, again.matrix)
    assert once.choice == again.choice


def test_groups_of_rare_words_keep_the_features_alone():
    rng = np.random.default_rng(0)
    n, groups, common, own = 2000, 5, 200, 30
    truth = np.sort(rng.integers(0, groups, n))
    words = np.zeros((n, common + groups * own), np.float32)
    for node in range(n):
        words[node, rng.choice(common, 10, replace=False)] = 1  # of every group
        words[node, common + own * truth[node] + rng.choice(own, 2, replace=False)] = 1
    words *= 1 + np.log(n / words.sum(axis=0))
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    starts, sizes = np.searchsorted(truth, np.arange(groups)), np.bincount(truth)
    sources = rng.integers(0, n, 5000)
    inside = starts[truth[sources]] + (rng.random(5000) * sizes[truth[sources]]).astype(int)
    targets = np.where(rng.random(5000) < 0.7, inside, rng.integers(0, n, 5000))
    A = sp.coo_array((np.ones(5000), (sources, targets)), (n, n)).tocsr()
    A.setdiag(0)
    choice = choose_structure(Graph(A + A.T).adjacency, read_features(words), make, sweep)
    assert choice.share == 0, choice.reason
