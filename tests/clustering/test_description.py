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


def test_numbers_beside_categories_in_a_sparse_table_are_described():
    rng = np.random.default_rng(0)
    age = np.array([20.0, 45.0, 70.0])[CODES] + rng.normal(size=60)
    city = np.eye(2)[rng.integers(0, 2, 60)]
    table = sp.csr_array(np.column_stack([age, city]))
    clusters = described(features=(table, ["age", "city: Oslo", "city: Rome"]))
    assert "low age" in clusters[0].name
    assert "high age" in clusters[2].name


def test_rare_words_name_a_cluster_if_no_other_has_them():
    codes = np.repeat([0, 1], 200)
    words = np.zeros((400, 60), np.float32)
    words[np.arange(400), codes * 30 + np.arange(400) % 30] = 1  # each in 3 % of one cluster
    facts = NodeFacts(features=(sp.csr_array(words), [f"word{i}" for i in range(60)]))
    first, second = describe_clusters(codes, np.eye(2)[codes], range(400), facts)
    assert first.name.startswith("word")
    assert set(first.name.split(", ")) <= {f"word{i}" for i in range(30)}
    assert set(second.name.split(", ")) <= {f"word{i}" for i in range(30, 60)}


def test_a_name_holds_no_word_that_few_nodes_have():
    often = np.zeros((60, 2), np.float32)
    often[CODES == 0, 0] = 1
    often[np.flatnonzero(CODES == 0)[:4], 1] = 1
    clusters = described(features=(sp.csr_array(often), ["Rome", "student"]))
    assert clusters[0].name == "Rome"
    assert "student (13 %)" in clusters[0].words


def test_unknown_values_and_equal_names():
    clusters = described(
        categories={"label": (np.full(60, -1), ["x"])},
        numbers={"age": np.full(60, np.nan)},
        texts={"t": [None] * 60},
    )
    assert len({cluster.name for cluster in clusters}) == 3
    same = described(categories={"city": (np.where(CODES < 2, 0, 1), ["Oslo", "Rome"])})
    assert len({cluster.name for cluster in same}) == 3


def test_words_that_are_rare_by_chance_describe_nothing():
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 24, 2400)
    table = sp.csr_array((rng.random((2400, 1500)) < 0.01).astype(np.float32))
    names = [f"w{i}" for i in range(1500)]
    vectors = np.eye(24)[clusters]
    described = describe_clusters(clusters, vectors, np.arange(2400), NodeFacts(features=(table, names)))
    assert all(cluster.name.startswith("around ") for cluster in described)
    table = sp.lil_array(table)
    table[np.flatnonzero(clusters == 3)[:15], 7] = 1  # 15 in a hundred, against one elsewhere
    facts = NodeFacts(features=(sp.csr_array(table), names))
    described = describe_clusters(clusters, vectors, np.arange(2400), facts)
    assert described[3].name == "w7"


def test_a_category_that_most_nodes_have_is_no_measurement():
    table = np.zeros((60, 2), np.float32)
    table[:, 0] = (CODES < 2) & (np.arange(60) % 10 > 0)
    table[:, 1] = np.arange(60) % 7 + 1 + 9 * (CODES == 2)
    clusters = described(features=(sp.csr_array(table), ["city: Oslo", "age"]))
    assert not any("high city" in cluster.words.lower() for cluster in clusters)
    assert clusters[2].name == "high age"
