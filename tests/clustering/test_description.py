"""Clusters in words."""

import numpy as np
import scipy.sparse as sp

from nafs.clustering.description import NodeFacts, describe_clusters

CODES = np.repeat([0, 1, 2], [30, 20, 10])
VECTORS = np.eye(3)[CODES] + np.random.default_rng(0).normal(size=(60, 3)) * 0.01
IDS = [f"n{i}" for i in range(60)]


def described(**facts):
    return describe_clusters(CODES, VECTORS, IDS, NodeFacts(**facts))


def test_without_facts_clusters_are_named_after_typical_nodes():
    clusters = described()
    assert [cluster.size for cluster in clusters] == [30, 20, 10]
    assert all(0.99 < cluster.cohesion <= 1 for cluster in clusters)
    for code, cluster in enumerate(clusters):
        assert cluster.name == f"around {IDS[cluster.typical[0]]}"
        assert set(CODES[cluster.typical]) == {code}


def test_categories_that_are_far_more_frequent_give_the_name():
    cities = np.where(CODES == 0, 0, np.where(np.arange(60) % 2, 1, 2))
    clusters = described(categories={"city": (cities, ["Oslo", "Rome", "Lima"])})
    assert clusters[0].name == "Oslo"
    assert clusters[0].words == "100 % have city Oslo (50 % of all)"
    assert len({cluster.name for cluster in clusters}) == 3


def test_words_and_numbers():
    texts = [["the graph walks", "an image of light", None][code] for code in CODES]
    clusters = described(
        texts={"abstract": texts}, numbers={"age": np.where(CODES == 2, 90.0, np.arange(60) % 7)}
    )
    assert set(clusters[0].name.split(", ")) == {"graph", "walks"}
    assert set(clusters[1].name.split(", ")) == {"image", "light"}
    assert clusters[2].name == "high age"
    assert "90 on average" in clusters[2].words


def test_sparse_and_dense_features():
    table = np.zeros((60, 4), np.float32)
    table[np.arange(60), CODES] = 1
    table[:, 3] = 1
    names = ["kernel", "protein", "robot", "common"]
    assert [cluster.name for cluster in described(features=(sp.csr_array(table), names))] == names[:3]
    assert described(features=(table, names))[1].name == "high protein, low kernel"


def test_names_leave_out_the_column_that_a_word_comes_from():
    table = np.zeros((60, 3), np.float32)
    table[np.arange(60), CODES] = 1
    names = ["notes: kernel", "venue: Green Review", "robot"]
    clusters = described(features=(sp.csr_array(table), names))
    assert [cluster.name for cluster in clusters] == ["kernel", "Green Review", "robot"]
    assert "notes: kernel" in clusters[0].words


def test_unknown_values_and_equal_names():
    clusters = described(
        categories={"label": (np.full(60, -1), ["x"])},
        numbers={"age": np.full(60, np.nan)},
        texts={"t": [None] * 60},
    )
    assert len({cluster.name for cluster in clusters}) == 3
    same = described(categories={"city": (np.where(CODES < 2, 0, 1), ["Oslo", "Rome"])})
    assert len({cluster.name for cluster in same}) == 3
