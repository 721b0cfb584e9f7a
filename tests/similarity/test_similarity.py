"""Nearest nodes and suggested links, compared with exhaustive search."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from random_graphs import random_graph

from nafs.graph import read_adjacency
from nafs.similarity import nearest, suggest_pairs, suggestions
from nafs.similarity.nearest import build_index, scored_rows, widen


def all_scores(matrix, score):
    rows = matrix.astype(np.float64)
    if score == "cosine":
        sizes = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(sizes > 0, sizes, 1)
    return rows @ rows.T


@pytest.mark.parametrize("score", ["cosine", "inner"])
@pytest.mark.parametrize("exact", [True, False])
def test_nearest_rows(score, exact):
    if not exact:
        pytest.importorskip("usearch")
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(300, 16)).astype(np.float32)
    matrix[7] = 0
    neighbors, scores = nearest(matrix, np.arange(300), 5, score=score, exact=exact)
    every = all_scores(matrix, score)
    np.testing.assert_allclose(scores, np.take_along_axis(every, neighbors, 1), rtol=1e-4, atol=1e-5)
    np.fill_diagonal(every, -np.inf)
    best = -np.sort(-every, axis=1)[:, :5]
    some = np.arange(300) != 7  # a row of zeros is as near to all
    close = np.isclose(scores[some], best[some], rtol=1e-4, atol=1e-5)
    assert close.mean() >= (1 if exact else 0.95)
    assert not (neighbors == np.arange(300)[:, None]).any()
    assert (np.diff(scores, axis=1) <= 0).all()
    again, _ = nearest(matrix, np.arange(300), 5, score=score, exact=exact)
    assert np.array_equal(neighbors, again)


@pytest.mark.parametrize("exact", [True, False])
def test_cosines_of_equal_rows_are_at_most_1(exact):
    if not exact:
        pytest.importorskip("usearch")
    matrix = np.repeat(np.random.default_rng(0).random((300, 7)).astype(np.float32), 2, axis=0)
    _, scores = nearest(matrix, np.arange(600), 3, exact=exact)
    assert scores.max() == 1
    none = read_adjacency(sp.csr_array((600, 600)))
    for nodes in (None, np.arange(600)):
        _, scores = suggest_pairs(none, matrix, 300, score="cosine", nodes=nodes, exact=exact)
        assert scores.max() == 1


def test_fewer_rows_than_requested_and_bad_numbers():
    matrix = np.eye(3, dtype=np.float32)
    neighbors, _ = nearest(matrix, np.array([1]), 10)
    assert neighbors.tolist() == [[0, 2]]
    with pytest.raises(ValueError, match="k must be at least 1"):
        nearest(matrix, np.array([1]), 0)
    with pytest.raises(ValueError, match="score must be"):
        nearest(matrix, np.array([1]), 1, score="dot")


@pytest.mark.parametrize("score", ["cosine", "inner"])
@pytest.mark.parametrize("exact", [True, False])
def test_the_best_missing_links(score, exact, monkeypatch):
    if not exact:
        pytest.importorskip("usearch")
    monkeypatch.setattr("nafs.similarity.suggestions._BLOCK", 700)
    A, X = random_graph(1, n=60, density=0.2)
    graph = read_adjacency(A)
    matrix = X.astype(np.float32)
    pairs, scores = suggest_pairs(graph, matrix, 30, score=score, exact=exact)
    every = all_scores(matrix, score)
    missing = np.triu(A.toarray() == 0, 1)
    expected = -np.sort(-every[missing])[:30]
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    assert len({tuple(pair) for pair in pairs}) == 30
    assert (A.toarray()[pairs[:, 0], pairs[:, 1]] == 0).all()
    assert (pairs[:, 0] < pairs[:, 1]).all()
    some = np.array([3, 11])
    pairs, scores = suggest_pairs(graph, matrix, 4, nodes=some, score=score)
    for node in some:
        open_to = np.flatnonzero((A.toarray()[node] == 0) & (np.arange(60) != node))
        expected = -np.sort(-every[node, open_to])[:4]
        np.testing.assert_allclose(scores[pairs[:, 0] == node], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("k", [1, 20, 5000])
def test_short_rows_are_skipped_if_they_cannot_win(k, monkeypatch):
    monkeypatch.setattr("nafs.similarity.suggestions._BLOCK", 900)
    monkeypatch.setattr("nafs.similarity.suggestions.EXACT_WORK", 120_000)  # of 180,000 for all pairs
    rng = np.random.default_rng(3)
    A, _ = random_graph(2, n=300, density=0.1)
    graph = read_adjacency(A)
    matrix = (rng.normal(size=(300, 4)) * rng.lognormal(sigma=1.5, size=(300, 1))).astype(np.float32)
    matrix[::9] = 0
    looked_at = []
    mask = suggestions._mask
    monkeypatch.setattr(
        suggestions, "_mask", lambda scores, *rest: (looked_at.append(scores.size), mask(scores, *rest))
    )
    pairs, scores = suggest_pairs(graph, matrix, k, exact=None if k < 100 else True)
    every = all_scores(matrix, "inner")
    missing = np.triu(A.toarray() == 0, 1)
    expected = -np.sort(-every[missing])[:k]
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(every[tuple(pairs.T)], expected, rtol=1e-4, atol=1e-6)
    assert missing[tuple(pairs.T)].all()
    assert sum(looked_at) < (20_000 if k < 100 else 60_000)


@pytest.mark.parametrize("exact", [True, False])
def test_progress_adds_up_to_one(exact, monkeypatch):
    if not exact:
        pytest.importorskip("usearch")
    monkeypatch.setattr(suggestions, "_BLOCK", 1 << 21)
    rng = np.random.default_rng(0)
    A, _ = random_graph(1, n=9000, density=0.0005, n_features=1)
    matrix = rng.normal(size=(9000, 4)).astype(np.float32)
    graph = read_adjacency(A, directed=False)
    for search in (
        lambda callback: nearest(matrix, np.arange(9000), 3, exact=exact, progress=callback),
        lambda callback: suggest_pairs(graph, matrix, 3, score="cosine", exact=exact, progress=callback),
        lambda callback: suggest_pairs(graph, matrix, 3, nodes=np.arange(4), progress=callback),
    ):
        shares: list[float] = []
        search(shares.append)
        assert len(shares) > 2
        assert sum(shares) == pytest.approx(1)


def test_a_complete_graph_has_no_missing_links():
    graph = read_adjacency(1 - np.eye(4))
    pairs, scores = suggest_pairs(graph, np.eye(4, dtype=np.float32), 5)
    assert len(pairs) == len(scores) == 0
    directed = read_adjacency(np.triu(np.ones((4, 4)), 1), directed=True)
    with pytest.raises(ValueError, match="undirected"):
        suggest_pairs(directed, np.eye(4, dtype=np.float32), 5)


def test_ties_are_ordered_by_row():
    same = np.ones((500, 4), np.float32)
    assert nearest(same, np.array([100]), 5)[0].tolist() == [[0, 1, 2, 3, 4]]
    pairs, _ = suggest_pairs(read_adjacency(np.zeros((30, 30))), same[:30], 4)
    assert pairs.tolist() == [[0, 1], [0, 2], [0, 3], [0, 4]]


@pytest.mark.parametrize("n", [4000, 4096, 4097])
@pytest.mark.parametrize("alike", [True, False])
def test_the_best_scores_agree_with_a_stable_sort(n, alike):
    rng = np.random.default_rng(n)
    largest = 2 if alike else 999  # products are exact in float32
    matrix = rng.integers(-largest, largest + 1, size=(n, 3)).astype(np.float32)
    matrix[-1] = 3 * matrix[0]  # the best of some is in the last chunk
    asked = np.arange(0, n, 97)
    neighbors, scores = nearest(matrix, asked, 7, score="inner")
    every = matrix[asked] @ matrix.T
    every[np.arange(len(asked)), asked] = -np.inf
    order = np.argsort(-every, axis=1, kind="stable")[:, :7]
    assert neighbors[0, 0] == n - 1
    assert np.array_equal(scores, np.take_along_axis(every, order, 1))
    assert np.array_equal(neighbors, order)


def test_rows_with_nan_raise():
    matrix = np.eye(4, dtype=np.float32)
    matrix[2, 1] = np.nan
    graph = read_adjacency(sp.csr_array((4, 4)), directed=False)
    with pytest.raises(ValueError, match="NaN or inf"):
        nearest(matrix, np.arange(1), 2)
    with pytest.raises(ValueError, match="NaN or inf"):
        suggest_pairs(graph, matrix, 2)


def test_an_index_with_duplicates_and_with_more_neighbours_than_it_finds():
    pytest.importorskip("usearch")
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(3000, 8)).astype(np.float32)[rng.integers(0, 600, 3000)]  # about five of each
    matrix[:200] = 0
    index = build_index(scored_rows(matrix, "cosine"), "cosine")
    assert widen(index, scored_rows(matrix, "cosine"), 10, 1) >= 0.97
    assert index.expansion_search <= 256, "rows that score alike are as good"
    few = rng.normal(size=(700, 8)).astype(np.float32)
    neighbors, scores = nearest(few, np.arange(700), 699, exact=False)
    assert (neighbors >= 0).all()
    assert np.isfinite(scores).all()


def test_an_automatic_index_warns_and_finds_most_neighbours(monkeypatch):
    pytest.importorskip("usearch")
    # Rows in all directions: an index has to be searched widely.
    matrix = np.random.default_rng(0).normal(size=(6000, 48)).astype(np.float32)
    truth, _ = nearest(matrix, np.arange(6000), 10)
    for place in ("nearest", "suggestions"):
        monkeypatch.setattr(sys.modules[f"nafs.similarity.{place}"], "EXACT_WORK", 0)
    monkeypatch.setattr("nafs.similarity.suggestions._TRIED", 0)
    with pytest.warns(UserWarning, match=r"an index was searched; it finds about 9\d % of the nearest"):
        neighbors, _ = nearest(matrix, np.arange(6000), 10)
    assert np.mean([len(set(a) & set(b)) for a, b in zip(truth, neighbors, strict=True)]) >= 9.5
    graph = read_adjacency(sp.csr_array((6000, 6000)), directed=False)
    with pytest.warns(UserWarning, match="an index was searched"):
        pairs, scores = suggest_pairs(graph, matrix, 5)
    best, _ = suggest_pairs(graph, matrix, 5, exact=True)
    assert pairs.tolist() == best.tolist()
    assert (np.diff(scores) <= 0).all()


def test_links_beyond_a_clique_are_found_through_an_index():
    pytest.importorskip("usearch")
    rng = np.random.default_rng(0)
    A = np.kron(np.eye(2), np.ones((100, 100)))
    centre = np.repeat(np.eye(2, 8) * 5, 100, axis=0)
    matrix = (centre + rng.normal(size=(200, 8))).astype(np.float32)
    graph = read_adjacency(A)
    exact, _ = suggest_pairs(graph, matrix, 10, exact=True)
    pairs, _ = suggest_pairs(graph, matrix, 10, exact=False)
    assert len({tuple(pair) for pair in exact} & {tuple(pair) for pair in pairs}) >= 9
