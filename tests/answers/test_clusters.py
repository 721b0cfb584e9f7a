"""Clusters of all nodes, described in words and joined to the user's table."""

import csv
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from command import run
from sklearn.metrics import adjusted_rand_score

import nafs
from nafs.datasets import contextual_sbm, example_table


@pytest.fixture(scope="module")
def graph():
    return contextual_sbm(
        400, n_classes=3, homophily=0.9, average_degree=10, n_features=8, signal=1.5, seed=0
    )


def test_clusters_of_a_graph_and_of_an_embedding(graph):
    clusters = nafs.cluster(graph, 3)
    assert adjusted_rand_score(graph.labels.codes, clusters.labels) > 0.9
    assert clusters.clustering.agreement > 0.5
    assert "agree" in clusters.explain()
    table = clusters.description().to_pandas()
    assert table["size"].sum() == 400
    assert table.cohesion.between(-1, 1).all()
    assert repr(clusters) == "Clusters(400 nodes in 3 clusters)"
    assert clusters._repr_html_().count("<tr>") == 4
    alone = nafs.embed(graph, n_hops=5, preprocessing="auto").cluster(3, graph=graph)
    assert adjusted_rand_score(clusters.labels, alone.labels) > 0.9


def test_the_same_clusters_again(graph):
    assert np.array_equal(nafs.cluster(graph, 3).labels, nafs.cluster(graph, 3).labels)


def test_the_number_of_clusters_is_chosen(graph):
    clusters = nafs.cluster(graph)
    assert 2 <= clusters.clustering.n_clusters <= 5
    assert clusters.clustering.numbers


def test_the_command_joins_clusters_to_the_table(tmp_path, monkeypatch, capsys):
    pytest.importorskip("skrub")
    monkeypatch.chdir(tmp_path)
    words = ["cluster", example_table("citations"), "-f", example_table("papers"), "--clusters", "4"]
    assert run(*words, "-o", "clusters.csv", "-q") == 0
    with open("clusters.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    with example_table("papers").open(newline="") as file:
        papers = list(csv.DictReader(file))
    assert [row["paper"] for row in rows] == [paper["paper"] for paper in papers]
    assert [row["title"] for row in rows] == [paper["title"] for paper in papers]
    topics = dict(line.split(",") for line in example_table("all_topics").read_text().splitlines())
    truth = [topics[row["paper"]] for row in rows]
    assert adjusted_rand_score(truth, [row["cluster"] for row in rows]) > 0.8
    with open("clusters.clusters.csv", newline="") as file:
        described = list(csv.DictReader(file))
    sizes = Counter(row["cluster"] for row in rows)
    assert {row["cluster"]: int(row["size"]) for row in described} == dict(sizes)
    assert run(*words, "-o", "clusters.csv") == 2, "an existing file is left alone"
    capsys.readouterr()
    assert run(*words) == 0
    assert "distinguished_by" in capsys.readouterr().out


@pytest.mark.parametrize("header", ["customer,city", ""], ids=["header", "no header"])
def test_columns_of_words_stay_beside_the_clusters(tmp_path, monkeypatch, header):
    """With words only, the first line alone does not show whether a table has a header."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [f"c{node},{('Berlin', 'Paris')[node % 2]}" for node in rng.permutation(40)]
    (tmp_path / "nodes.csv").write_text("\n".join([*filter(None, [header]), *rows]) + "\n")
    edges = [
        f"c{a},c{2 * b + a % 2}" for a in range(40) for b in rng.integers(0, 20, 3) if a != 2 * b + a % 2
    ]
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    assert run("cluster", "edges.csv", "-f", "nodes.csv", "-k", "2", "-o", "out.csv") == 0
    written = pd.read_csv("out.csv")
    assert written.iloc[:, 0].tolist() == [row.split(",")[0] for row in rows]
    assert written.iloc[:, 1].tolist() == [row.split(",")[1] for row in rows]


def test_a_graph_without_features_is_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pairs = [f"{a},{(a + step) % 30}" for a in range(30) for step in (1, 2)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(pairs) + "\n")
    assert run("cluster", "edges.csv", "-k", "2", "-o", "out.csv") == 0
    assert "the graph has no features" in capsys.readouterr().err


@pytest.fixture
def two_points(tmp_path, monkeypatch):
    """A ring of nodes with one of two rows of features: more than two clusters would be empty."""
    monkeypatch.chdir(tmp_path)
    nodes = pd.DataFrame({"id": np.arange(40), "a": np.arange(40) % 2, "b": 1 - np.arange(40) % 2})
    edges = pd.DataFrame({"source": nodes.id, "target": np.roll(nodes.id, 1)})
    nodes.to_csv("nodes.csv", index=False)
    edges.to_csv("edges.csv", index=False)
    return nafs.from_edges(edges, nodes)


def test_fewer_clusters_than_requested_are_a_warning(two_points, recwarn):
    embedding = nafs.embed(two_points, n_hops=0)
    with pytest.warns(UserWarning, match="2 clusters instead of 9") as caught:
        embedding.cluster(9)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match="2 clusters instead of 9"):
        nafs.cluster(embedding, 9)
    with pytest.warns(UserWarning, match="instead of 30"):
        nafs.cluster(two_points, 30, structure="none")
    recwarn.clear()
    embedding.cluster(2)
    embedding.cluster()
    assert not recwarn


@pytest.mark.parametrize("hops", ["0", "auto"])
def test_the_command_says_once_that_clusters_are_fewer(two_points, capsys, hops):
    words = ("cluster", "edges.csv", "-f", "nodes.csv", "-k", "9", "--hops", hops, "--structure", "none")
    assert run(*words) == 0
    assert capsys.readouterr().err.count("instead of 9") == 1
