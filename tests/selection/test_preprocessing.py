"""Preparing features: what is chosen by their values, and what it does."""

import numpy as np
import pytest
import scipy.sparse as sp

from nafs import Graph
from nafs.clustering.directions import unit_rows
from nafs.clustering.measures import agreement
from nafs.graph import read_features
from nafs.pipeline import Job, Settings, search_clusters
from nafs.selection import prepare
from nafs.selection.preprocessing import judge


def counts(rng, shape=(50, 30)):
    return rng.poisson(0.2, shape).astype(np.float32)


def components(rng, count, rows=200):
    """Principal components of random rows."""
    rows = rng.standard_normal((rows, count)) * 0.8 ** np.arange(count)
    left, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    return left * sizes


def test_preprocessing_is_chosen_by_the_values():
    rng = np.random.default_rng(0)
    few = counts(rng)
    for features, kind in (
        (few, "tfidf"),
        (sp.csr_array(few), "tfidf"),
        ((few > 0).astype(int), "tfidf"),
        (few * rng.random(few.shape), "l2"),
        (sp.csr_array(few * rng.random(few.shape)), "l2"),
        (few * 0.37, "l2"),  # the same smallest value everywhere: a unit, such as cents
        (few / np.maximum(few.sum(axis=1, keepdims=True), 1), "tfidf"),  # counts over their sum
        (sp.csr_array(few / np.maximum(np.linalg.norm(few, axis=1, keepdims=True), 1)), "tfidf"),
        (few / np.maximum(few.sum(axis=1, keepdims=True), 1) + 1e-9 * few * rng.random(few.shape), "tfidf"),
        (np.round(few * rng.random(few.shape), 2), "l2"),  # decimals
        (np.column_stack([few * rng.random(few.shape), 1e-6 * (1 + rng.random(50))]), "l2"),  # one tiny value
        (1e6 * few * rng.random(few.shape), "l2"),  # beyond what 16 bits can hold
        (components(rng, 30), "components"),
        (np.column_stack([components(rng, 30), np.zeros((200, 5))]), "components"),
        (components(rng, 30, 4000)[::2], "components"),  # those of other rows are nearly orthogonal
        (unit_rows(components(rng, 30)[:, ::-1]), "components"),  # rows of length 1 share a unit
        (components(rng, 30)[:, ::-1], "standardize"),  # columns with lengths of their own
        (components(rng, 7), "standardize"),  # seven columns may be sorted by chance
        (rng.standard_normal((200, 1)) + components(rng, 30), "standardize"),  # sorted, but not orthogonal
        (np.sign(rng.standard_normal((200, 20))), "standardize"),  # yes or no
        (np.cumsum(rng.standard_normal((200, 30)), axis=1)[:, ::-1], "standardize"),
    ):
        result, why = judge(read_features(features))
        assert result == kind, why


@pytest.mark.parametrize("sparse", [False, True])
def test_tfidf_agrees_with_scikit_learn(sparse):
    from sklearn.feature_extraction.text import TfidfTransformer

    X = counts(np.random.default_rng(1))
    X[7] = 0
    graph = Graph(np.zeros((50, 50)))
    result = prepare(read_features(sp.csr_array(X) if sparse else X), graph.adjacency, "tfidf")
    expected = TfidfTransformer().fit_transform(X).toarray()
    shown = result.sparse.toarray() if result.dense is None else result.dense
    np.testing.assert_allclose(shown, expected, atol=1e-6)
    assert not shown[7].any()


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_length_one_and_standard_columns(sparse):
    X = counts(np.random.default_rng(2), (40, 8)).astype(np.float32)
    X[:, 3] = 5
    graph = Graph(np.zeros((40, 40)))
    features = read_features(sp.csr_array(X) if sparse else X)
    l2 = prepare(features, graph.adjacency, "l2")
    np.testing.assert_allclose(l2.norms, 1, atol=1e-6)
    standard = prepare(features, graph.adjacency, "standardize").dense
    np.testing.assert_allclose(standard.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(np.delete(standard, 3, axis=1).std(axis=0), 1, atol=1e-5)
    assert not standard[:, 3].any(), "a constant column is 0, not NaN"
    longest = prepare(features, graph.adjacency, "components").dense
    np.testing.assert_allclose(longest.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(longest.std(axis=0), np.sqrt(X.std(axis=0) / X.std(axis=0).max()), atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_counts_over_a_number_for_each_row_are_prepared_like_the_counts(sparse):
    X = counts(np.random.default_rng(3)) * (1 + np.arange(50) % 3)[:, None]
    X[7] = 0
    shares = X / np.maximum(X.sum(axis=1, keepdims=True), 1)
    graph = Graph(np.zeros((50, 50)))
    rows = [read_features(sp.csr_array(values) if sparse else values) for values in (X, shares)]
    kinds = {judge(features)[0] for features in rows}
    assert kinds == {"tfidf"}
    expected, prepared = (prepare(features, graph.adjacency, "tfidf").toarray() for features in rows)
    np.testing.assert_allclose(prepared, expected, atol=1e-6)


def test_principal_components_of_words_find_the_topics_of_the_words():
    rng = np.random.default_rng(4)
    topics = np.repeat(np.arange(4), 100)
    words = rng.poisson(np.where(np.arange(200) // 50 == topics[:, None], 0.12, 0.03))
    left, sizes, _ = np.linalg.svd(words - words.mean(axis=0), full_matrices=False)
    odds = np.where(topics[:, None] == topics, 0.03, 0.01)
    graph = np.triu(rng.random(odds.shape) < odds, 1)
    scores = {}
    for kind in ("auto", "standardize"):
        data = Graph(graph | graph.T, left[:, :120] * sizes[:120])
        settings = Settings.of(n_hops="auto", n_clusters=4, preprocessing=kind, structure="none")
        scores[kind] = agreement(topics, search_clusters(Job.of(data, settings)).consensus(4).labels)["ARI"]
    assert scores["auto"] > scores["standardize"] + 0.1
