"""Features for graphs that have none."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from nafs import Graph, embed, structural_features


def communities(seed, n=300, groups=3, inside=0.12, outside=0.01):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, groups, n)
    chance = np.where(truth[:, None] == truth[None, :], inside, outside)
    upper = np.triu(rng.random((n, n)) < chance, 1)
    return sp.csr_array(upper | upper.T), truth


def test_the_seed_decides():
    A, _ = communities(0)
    graph = Graph(A)
    first = structural_features(graph.adjacency, 20, seed=1)
    np.testing.assert_array_equal(first, structural_features(graph.adjacency, 20, seed=1))
    assert not np.array_equal(first, structural_features(graph.adjacency, 20, seed=2))
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_communities_are_found_without_features(seed):
    A, truth = communities(seed)
    embedding = embed(Graph(A), n_hops=10)
    found = KMeans(3, n_init=10, random_state=0).fit_predict(embedding.matrix)
    assert normalized_mutual_info_score(truth, found) > 0.8


def test_isolated_nodes_and_single_nodes_have_features_too():
    graph = Graph(np.zeros((3, 3)))
    X = structural_features(graph.adjacency, 16)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)
    assert embed(graph).matrix.shape == (3, 128)
    with pytest.raises(ValueError, match="n_columns must be at least 1"):
        structural_features(graph.adjacency, 0)
