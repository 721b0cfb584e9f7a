"""The rivals are what their papers define."""

import numpy as np
import pytest

from nafs.datasets import contextual_sbm
from nafs.reproduce import rivals


@pytest.fixture(scope="module")
def graph():
    return contextual_sbm(60, n_classes=3, n_features=5, average_degree=4, signal=3.0, seed=1)


def dense(graph, lazy=False):
    n = graph.n_nodes
    A = graph.adjacency.to_scipy().toarray() + np.eye(n)
    S = A / np.sqrt(np.outer(A.sum(1), A.sum(1)))
    return (np.eye(n) + S) / 2 if lazy else S


def hops(S, X, count):
    found = [X.astype(float)]
    for _ in range(count):
        found.append(S @ found[-1])
    return found


def test_raw_and_svd(graph):
    X = graph.features.dense
    np.testing.assert_array_equal(rivals.raw(graph), X)
    reduced = rivals.svd(graph)
    assert reduced.shape == (60, 4)
    left, values, right = np.linalg.svd(X)
    best = (left[:, :4] * values[:4]) @ right[:4]
    np.testing.assert_allclose(reduced @ reduced.T, best @ best.T, atol=1e-3)


def test_sgc_ssgc_and_sign(graph):
    states = hops(dense(graph), graph.features.dense, 16)
    np.testing.assert_allclose(rivals.sgc(graph), states[2], atol=1e-5)
    np.testing.assert_allclose(
        rivals.ssgc(graph), 0.95 * np.mean(states[1:], axis=0) + 0.05 * states[0], atol=1e-5
    )
    np.testing.assert_allclose(rivals.sign(graph), np.concatenate(states[:4], axis=1), atol=1e-5)


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 10.0])
def test_ndls_stops_each_node_at_its_own_hop(graph, epsilon):
    X = graph.features.dense.astype(float)
    X /= np.abs(X).sum(axis=1, keepdims=True)
    S = dense(graph)
    end = np.linalg.matrix_power(S, 3000) @ X
    states = hops(S, X, 200)
    found = rivals.ndls(graph, epsilon)
    stops = []
    for i in range(graph.n_nodes):
        near = [k for k in range(200) if np.linalg.norm(states[k][i] - end[i]) < epsilon]
        stop = max(1, near[0]) if near else 200
        stops.append(stop)
        mean = np.mean([states[k][i] for k in range(stop)], axis=0)
        np.testing.assert_allclose(found[i], 0.85 * mean + 0.15 * X[i], atol=1e-5)
    assert len(set(stops)) > 1 or epsilon == 10.0


def test_agc_smooths_by_half_steps_until_clusters_stop_getting_tighter(graph):
    states = hops(dense(graph, lazy=True), graph.features.dense, 60)
    found = rivals.agc(graph)
    errors = [np.abs(found - state).max() for state in states]
    best = int(np.argmin(errors))
    assert errors[best] < 1e-5
    assert 1 <= best <= 60
    vectors = rivals.agc_for_clusters(graph)
    assert vectors.shape == (60, 3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-4)


def test_the_spread_is_the_mean_squared_distance_within_clusters():
    rng = np.random.default_rng(0)
    matrix, clusters = rng.standard_normal((30, 4)), np.arange(30) % 3
    clusters[0] = 3  # one of its own
    expected = []
    for code in range(4):
        rows = matrix[clusters == code]
        pairs = [((a - b) ** 2).sum() for i, a in enumerate(rows) for j, b in enumerate(rows) if i != j]
        expected.append(np.mean(pairs) if pairs else 0.0)
    assert rivals._spread(matrix, clusters) == pytest.approx(np.mean(expected))


def test_spectral_vectors_are_eigenvectors(graph):
    S = dense(graph)
    for matrix in (rivals.spectral(graph)[:, -1:], rivals.spectral(graph)[:, -2:-1]):
        value = float((matrix.T @ S @ matrix / (matrix.T @ matrix))[0, 0])
        np.testing.assert_allclose(S @ matrix, value * matrix, atol=1e-3)
    rows = rivals.spectral_for_clusters(graph)
    assert rows.shape == (60, 3)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
