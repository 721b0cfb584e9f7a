"""Features for graphs that have none."""

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from nafs import Graph, embed, from_edges, structural_features
from nafs._support.errors import MemoryLimitError
from nafs.datasets import load_dataset, power_law
from nafs.structure import structural_nbytes
from nafs.structure.cooccurrence import choose_landmarks, cooccurrence
from nafs.structure.hashing import hash_ids


def communities(seed, n=300, groups=3, inside=0.12, outside=0.01):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, groups, n)
    chance = np.where(truth[:, None] == truth[None, :], inside, outside)
    upper = np.triu(rng.random((n, n)) < chance, 1)
    return sp.csr_array(upper | upper.T), truth


def cosines(a, b):
    return np.einsum("ij,ij->i", a, b) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))


def features_by_id(graph, ids):
    place = {value: i for i, value in enumerate(graph.ids.tolist())}
    return structural_features(graph)[[place[value] for value in ids]]


def edge_table(graph):
    A = graph.adjacency
    once = A.rows < A.indices
    return np.column_stack([A.rows[once], A.indices[once]])


def test_the_seed_decides():
    A, _ = communities(0)
    graph = Graph(A)
    first = structural_features(graph, 20, seed=1)
    np.testing.assert_array_equal(first, structural_features(graph.adjacency, 20, seed=1))
    assert not np.array_equal(first, structural_features(graph, 20, seed=2))
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_communities_are_found_without_features(seed):
    A, truth = communities(seed)
    embedding = embed(Graph(A), n_hops=10)
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(embedding.matrix)
    assert normalized_mutual_info_score(truth, labels) > 0.8


def test_isolated_nodes_and_single_nodes_have_features_too():
    graph = Graph(np.zeros((3, 3)))
    X = structural_features(graph, 16)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)
    assert embed(graph).matrix.shape == (3, 128)
    with pytest.raises(ValueError, match="at least 1 column"):
        structural_features(graph, 0)


def test_the_order_of_nodes_and_edges_does_not_matter():
    graph = power_law(3000, average_degree=6, n_features=1, seed=2)
    edges, rng = edge_table(graph), np.random.default_rng(0)
    shuffled = edges[rng.permutation(len(edges))]
    first, other = (from_edges((table[:, 0], table[:, 1])) for table in (edges, shuffled))
    assert first.ids.tolist() != other.ids.tolist()
    ids = first.ids.tolist()
    assert cosines(features_by_id(first, ids), features_by_id(other, ids)).min() > 1 - 1e-5


@pytest.mark.parametrize("name", ["cora", "power law"])
def test_one_more_edge_changes_little(name, request):
    if name == "cora":
        request.getfixturevalue("planetoid_home")
        edges = edge_table(load_dataset("cora").graph)
    else:
        edges = edge_table(power_law(5000, average_degree=6, n_features=1, seed=2))
    more = np.concatenate([edges, [[edges[0, 0], 10**6]]])  # a new node
    closed = np.concatenate([edges, [[edges[0, 0], edges[-1, 1]]]])  # two old ones
    graph = from_edges((edges[:, 0], edges[:, 1]))
    ids = graph.ids.tolist()
    before = features_by_id(graph, ids)
    for table in (more, closed):
        after = features_by_id(from_edges((table[:, 0], table[:, 1])), ids)
        alike = cosines(before, after)
        assert np.median(alike) > 0.998
        assert np.quantile(alike, 0.05) > 0.99


def test_a_number_and_its_text_are_the_same_id():
    edges = np.array([[1, 2], [2, 3], [3, 1], [3, 4], [4, 5]])
    numbers = from_edges((edges[:, 0], edges[:, 1]))
    texts = from_edges(([*map(str, edges[:, 0]), "new"], [*map(str, edges[:, 1]), "other"]))
    hashes = dict(zip(texts.ids.tolist(), hash_ids(texts.id_array).tolist(), strict=True))
    assert [hashes[str(i)] for i in numbers.ids] == hash_ids(numbers.id_array).tolist()
    assert hash_ids(pa.array([1, 2]), seed=1).tolist() != hash_ids(pa.array([1, 2])).tolist()


def test_cooccurrence_is_the_log_of_walks_over_chance():
    A, _ = communities(1, n=40)
    graph = Graph(A).adjacency
    landmarks = choose_landmarks(hash_ids(np.arange(40)), 10)
    walk = (A.toarray() + np.eye(40)) / graph.degrees[:, None]
    powers = sum(np.linalg.matrix_power(walk, k) for k in range(1, 11)) / 10
    expected = np.log1p(powers * graph.degrees.sum() / graph.degrees)[:, landmarks]
    for panel in (3, 64):
        np.testing.assert_allclose(cooccurrence(graph, landmarks, panel=panel), expected, atol=2e-3)


def test_memory_limits_change_nothing_but_memory():
    graph = power_law(3000, average_degree=6, n_features=1, seed=2)
    free = structural_features(graph)
    least = structural_nbytes(3000, 128) - 2 * 3000 * 500  # no room for the table of co-occurrences
    assert structural_nbytes(3000, 128, least) <= least
    np.testing.assert_array_equal(free, structural_features(graph, memory_limit=least))
    np.testing.assert_array_equal(free, structural_features(graph, n_threads=2))
    with pytest.raises(MemoryLimitError, match="structural features takes"):
        structural_features(graph, memory_limit=1_000_000)
