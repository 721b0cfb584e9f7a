"""Rivals are what their papers define, checked against dense arithmetic on small graphs."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from nafs.datasets import contextual_sbm
from nafs.rivals import RIVALS, problem_of
from nafs.rivals.agc import spread
from nafs.rivals.deepwalk import random_walks
from nafs.rivals.gcc import propagation
from nafs.rivals.mgae import layer
from nafs.rivals.pprgo import nearest_by_pagerank
from nafs.rivals.s2cag import rotate_to_members
from nafs.rivals.sagsc import squares


@pytest.fixture(scope="module")
def graph():
    return contextual_sbm(60, n_classes=3, n_features=5, average_degree=4, signal=3.0, seed=1)


def solve(graph, name, task="links", **settings):
    rival = RIVALS[name]
    return replace(rival, settings={**rival.settings, **settings})(problem_of(graph, task))


def dense(graph, lazy=False):
    n = graph.n_nodes
    A = graph.adjacency.to_scipy().toarray() + np.eye(n)
    S = A / np.sqrt(np.outer(A.sum(1), A.sum(1)))
    return (np.eye(n) + S) / 2 if lazy else S


def hops(S, X, count):
    states = [X.astype(float)]
    for _ in range(count):
        states.append(S @ states[-1])
    return states


def test_raw_and_svd(graph):
    X = graph.features.dense
    np.testing.assert_array_equal(solve(graph, "raw features"), X)
    reduced = solve(graph, "SVD of the features")
    assert reduced.shape == (60, 4)
    left, values, right = np.linalg.svd(X)
    best = (left[:, :4] * values[:4]) @ right[:4]
    np.testing.assert_allclose(reduced @ reduced.T, best @ best.T, atol=1e-3)


def test_sgc_ssgc_and_sign(graph):
    states = hops(dense(graph), graph.features.dense, 16)
    np.testing.assert_allclose(solve(graph, "SGC"), states[2], atol=1e-5)
    mean = 0.95 * np.mean(states[1:], axis=0) + 0.05 * states[0]
    np.testing.assert_allclose(solve(graph, "SSGC"), mean, atol=1e-5)
    np.testing.assert_allclose(solve(graph, "SIGN"), np.concatenate(states[:4], axis=1), atol=1e-5)


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 10.0])
def test_ndls_stops_each_node_at_its_own_hop(graph, epsilon):
    X = graph.features.dense.astype(float)
    X /= np.abs(X).sum(axis=1, keepdims=True)
    S = dense(graph)
    end = np.linalg.matrix_power(S, 3000) @ X
    states = hops(S, X, 200)
    result = solve(graph, "NDLS", epsilon=epsilon)
    stops = []
    for i in range(graph.n_nodes):
        near = [k for k in range(200) if np.linalg.norm(states[k][i] - end[i]) < epsilon]
        stop = max(1, near[0]) if near else 200
        stops.append(stop)
        mean = np.mean([states[k][i] for k in range(stop)], axis=0)
        np.testing.assert_allclose(result[i], 0.85 * mean + 0.15 * X[i], atol=1e-5)
    assert len(set(stops)) > 1 or epsilon == 10.0


def test_agc_smooths_by_half_steps_until_clusters_stop_getting_tighter(graph):
    states = hops(dense(graph, lazy=True), graph.features.dense, 60)
    result = solve(graph, "AGC")
    errors = [np.abs(result - state).max() for state in states]
    best = int(np.argmin(errors))
    assert errors[best] < 1e-5
    assert 1 <= best <= 60
    vectors = solve(graph, "AGC", "clustering")
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
    assert spread(matrix, clusters) == pytest.approx(np.mean(expected))


def test_spectral_vectors_are_eigenvectors(graph):
    S = dense(graph)
    vectors = solve(graph, "SC")
    for matrix in (vectors[:, -1:], vectors[:, -2:-1]):
        value = float((matrix.T @ S @ matrix / (matrix.T @ matrix))[0, 0])
        np.testing.assert_allclose(S @ matrix, value * matrix, atol=1e-3)
    rows = solve(graph, "SC", "clustering")
    assert rows.shape == (60, 3)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_walks_follow_edges(graph):
    walks = random_walks(graph.adjacency, 10, np.random.default_rng(0))
    assert walks.shape == (60, 10)
    assert set(walks[:, 0]) == set(range(60))
    edges = graph.adjacency.to_scipy().toarray() + np.diag(np.diff(graph.adjacency.indptr) == 0)
    assert edges[walks[:, :-1], walks[:, 1:]].all()


def test_a_marginalised_layer_is_the_mean_over_dropped_features(graph):
    X = graph.features.dense.astype(float)
    S, noise, ridge = dense(graph), 0.3, 0.1
    rng = np.random.default_rng(0)
    left, right = np.zeros((5, 5)), np.zeros((5, 5))
    for _ in range(20_000):
        dropped = (S @ X) * (rng.random(5) >= noise)
        left += dropped.T @ dropped
        right += dropped.T @ X
    expected = np.linalg.solve(left / 20_000 + ridge * np.eye(5), right / 20_000)
    np.testing.assert_allclose(layer(S @ X, X, noise, ridge), expected, atol=0.02)


def test_pushed_pagerank_is_within_its_error_bound(graph):
    alpha, epsilon = 0.25, 1e-4
    A = graph.adjacency.to_scipy().toarray() + np.eye(60)
    walk = A / A.sum(axis=1, keepdims=True)
    exact = alpha * np.linalg.inv(np.eye(60) - (1 - alpha) * walk)
    pushed = nearest_by_pagerank(graph.adjacency, alpha, epsilon, 60).toarray()
    # Only the residuals, each at most ε times the degree, are missing.
    assert (pushed <= exact + 1e-12).all()
    assert (exact - pushed).sum(axis=1).max() <= epsilon * A.sum()
    few = nearest_by_pagerank(graph.adjacency, alpha, epsilon, 5)
    assert np.diff(few.indptr).max() == 5
    row = np.sort(pushed[7])[::-1][:5]
    np.testing.assert_allclose(np.sort(few[[7]].data)[::-1], row)


def test_gccs_propagation_is_a_mean(graph):
    T = propagation(graph.adjacency).toarray()
    both = dense(graph) + np.eye(60)
    np.testing.assert_allclose(T, both / both.sum(axis=1, keepdims=True), atol=1e-6)


def test_squares_make_a_non_negative_affinity():
    Q = np.random.default_rng(0).standard_normal((20, 4)).astype(np.float32)
    np.testing.assert_allclose(squares(Q) @ squares(Q).T, (Q @ Q.T) ** 2, rtol=1e-4, atol=1e-4)


def test_a_rotated_membership_is_found():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 100)
    member = np.eye(4)[truth] / np.sqrt(np.bincount(truth))[truth][:, None]
    rotation, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    clusters = rotate_to_members((member @ rotation).astype(np.float32))
    assert len({(a, b) for a, b in zip(truth, clusters, strict=True)}) == 4


torch_only = pytest.mark.skipif(RIVALS["GAE"].missing is not None, reason="needs the extra rivals (torch)")


@torch_only
@pytest.mark.parametrize("weighted", [True, False])
def test_the_loss_over_all_pairs_has_the_gradient_of_the_dense_one(graph, weighted, monkeypatch):
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    from nafs.rivals import pairs

    monkeypatch.setattr(pairs, "_BLOCK", 7 * graph.n_nodes)  # several blocks, the last one smaller
    A = torch.from_numpy(graph.adjacency.to_scipy().toarray().astype(np.float64))
    n, edges = len(A), float(A.sum())
    target = A + torch.eye(n)
    z = torch.randn(n, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    weight = torch.tensor((n * n - edges) / edges if weighted else 1.0)
    dense_loss = binary_cross_entropy_with_logits(z @ z.T, target, pos_weight=weight)
    if weighted:
        dense_loss = dense_loss * n * n / (2 * (n * n - edges))
    dense_loss.backward()
    loss = pairs.AllPairs(graph.adjacency, weighted=weighted)
    np.testing.assert_allclose(loss.gradient(z).numpy(), z.grad.numpy(), atol=1e-7)
    # Random pairs estimate the same.
    loss = pairs.AllPairs(graph.adjacency, weighted=weighted, exact=10)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        mean = torch.stack([loss.gradient(z) for _ in range(3000)]).mean(dim=0)
    error = np.abs(mean.numpy() - z.grad.numpy()).max()
    assert error < 0.15 * np.abs(z.grad.numpy()).max()


@torch_only
def test_galas_decoder_sharpens(graph):
    from nafs.rivals.gala import sharpening

    A = graph.adjacency.to_scipy().toarray().astype(float)
    D = np.diag(1 / np.sqrt(2 + A.sum(axis=1)))
    np.testing.assert_allclose(sharpening(graph.adjacency).toarray(), D @ (2 * np.eye(60) - A) @ D)


def test_age_ranks_pairs():
    from nafs.rivals.age import ranked_pairs, smoothed

    similarity = np.arange(100, dtype=np.float32).reshape(10, 10)
    top, bottom = ranked_pairs(similarity, 0.05, 0.2, np.random.default_rng(0))
    assert sorted(top) == [95, 96, 97, 98, 99]
    assert len(bottom) == 5
    assert max(bottom) < 20
    graph = contextual_sbm(30, n_features=4, seed=0)
    S = dense(graph)
    expected = np.linalg.matrix_power(np.eye(30) / 3 + 2 * S / 3, 3) @ graph.features.dense
    np.testing.assert_allclose(smoothed(problem_of(graph, "links"), 3), expected, atol=1e-5)


def test_daegcs_proximity_mixes_one_and_two_steps(graph):
    from nafs.rivals.daegc import proximity

    pairs, weights = proximity(graph.adjacency)
    A = graph.adjacency.to_scipy().toarray() + np.eye(60)
    B = A / A.sum(axis=1, keepdims=True)
    M = np.where(A > 0, (B + B @ B) / 2, 0)
    np.testing.assert_allclose(sp.coo_array((weights, tuple(pairs)), shape=(60, 60)).toarray(), M, atol=1e-6)
