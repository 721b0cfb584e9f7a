"""What a user holds: an embedding by node id, its similar nodes and missing links, its files."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from command import run
from random_graphs import random_graph

from nafs import Embedding, Graph, cluster, embed, from_edges, read_graph


@pytest.fixture
def embedding():
    A, X = random_graph(2, n=40)
    names = [f"node{i}" for i in range(40)]
    graph = Graph(A, X, ids=names, labels=["a", "b"] * 20)
    return graph, embed(graph, n_hops=3)


def test_similar_by_id(embedding):
    _, result = embedding
    table = result.similar(["node3", "node5"], k=2)
    assert table.column_names == ["id", "rank", "neighbor", "score"]
    assert table.column("id").to_pylist() == ["node3", "node3", "node5", "node5"]
    assert table.column("rank").to_pylist() == [1, 2, 1, 2]
    assert result.similar(None, k=3).num_rows == 120
    with pytest.raises(ValueError, match=r"unknown id 'nodee3'; the closest are 'node3'"):
        result.similar("nodee3")
    with pytest.raises(ValueError, match="no ids: name at least one"):
        result.similar([])


def test_ids_that_are_numbers():
    result = embed(Graph(sp.csr_array(np.ones((3, 3))), np.eye(3), ids=[10, 20, 30]), n_hops=1)
    assert result.similar(10, k=1).num_rows == result.similar("10", k=1).num_rows == 1
    with pytest.raises(ValueError, match="unknown id 11; the closest are '10'"):
        result.similar(11)


def test_suggestions_need_the_graph_that_was_embedded(embedding):
    graph, result = embedding
    links = result.suggest_links(graph, 5)
    assert links.column_names == ["source", "target", "score", "reason"]
    assert links.num_rows == 5
    assert result.suggest_links(graph, 2, ["node1"]).column("source").to_pylist() == ["node1"] * 2
    with pytest.raises(ValueError, match=r"not the graph that was embedded: .* 0 is not embedded"):
        result.suggest_links(Graph(*random_graph(3, n=40)), 5)


@pytest.mark.parametrize("name", ["e.parquet", "e.csv", "e.npy"])
def test_an_embedding_written_is_read_again(embedding, tmp_path, name):
    _, result = embedding
    result.write(tmp_path / name)
    again = Embedding.load(tmp_path / name)
    np.testing.assert_allclose(again.matrix, result.matrix, rtol=1e-6)
    assert again.id_array.equals(result.id_array)
    assert again.labels.classes == result.labels.classes
    assert (again.labels.codes == result.labels.codes).all()
    if name != "e.csv":
        assert again.settings["n_hops"] == 3
        assert again.settings["input"] == result.settings["input"]
        assert again.settings["version"]


def test_an_embedding_carries_its_settings(embedding):
    graph, result = embedding
    assert set(result.settings["input"]) == {"nodes", "edges", "features"}
    other = embed(graph.with_features(graph.features.dense + 1), n_hops=3)
    assert other.settings["input"]["edges"] == result.settings["input"]["edges"]
    assert other.settings["input"]["features"] != result.settings["input"]["features"]
    pytest.importorskip("polars")
    assert result.to_polars().shape == (40, 12)


def test_the_commands(embedding, tmp_path, capsys):
    graph, result = embedding
    result.write(tmp_path / "e.parquet")
    graph.save(tmp_path / "graph")
    assert run("similar", tmp_path / "e.parquet", "node3", "-k", "2", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["neighbor"] for row in rows] == result.similar("node3", 2).column("neighbor").to_pylist()
    assert run("similar", tmp_path / "e.parquet", "--all", "-o", tmp_path / "n.parquet", "-k", "3", "-q") == 0
    assert pyarrow.parquet.read_table(tmp_path / "n.parquet").num_rows == 120
    graph_and = ["suggest-links", tmp_path / "graph"]
    assert run(*graph_and, "--embedding", tmp_path / "e.parquet", "-k", "3", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 3
    assert run(*graph_and, "--node", "node1", "--hops", "2", "-k", "3", "--json") == 0
    assert [row["source"] for row in json.loads(capsys.readouterr().out)] == ["node1"] * 3
    for arguments, message in (
        (["similar", tmp_path / "e.parquet"], "name at least one node"),
        (["similar", tmp_path / "e.parquet", "--all"], "name a file with --output"),
        (["similar", tmp_path / "e.parquet", "node33x"], "unknown id 'node33x'; the closest are"),
        (["similar", tmp_path / "e.parquet", "node3", "-o", "x.xlsx"], "tables are written as"),
        (["similar", tmp_path / "no.parquet", "node3"], "no such file"),
        (["similar", "node3", tmp_path / "e.parquet"], "the file of the embedding comes first"),
        (["suggest-links", tmp_path / "graph", "--node", "nobody"], "unknown id 'nobody'"),
    ):
        assert run(*arguments) == 2
        assert message in " ".join(capsys.readouterr().err.split())


def test_notebooks_show_tables_and_names_stay_text():
    A, X = random_graph(4, n=10)
    graph = Graph(A, X, ids=["<b>bold</b>", *(f"n{i}" for i in range(9))], labels=["a", "b"] * 5)
    result = embed(graph, n_hops=2)
    for shown in (graph._repr_html_(), graph.describe()._repr_html_(), result._repr_html_()):
        assert shown.startswith("<table>")
        assert "<b>" not in shown
    assert "&lt;b&gt;bold" in result._repr_html_()
    assert "2 hops" in result._repr_html_()


def test_settings_of_any_kind_are_written_and_the_score_is_kept(tmp_path):
    A, X = random_graph(5, n=60)
    graph = Graph(A, X)
    result = embed(graph, n_hops=np.int64(2), r=np.linspace(0, 0.5, 3), n_clusters=np.int64(2))
    for name in ("e.parquet", "e.npy"):
        result.write(tmp_path / name)
        assert Embedding.load(tmp_path / name).settings["r"] == [0.0, 0.25, 0.5]
    linked = embed(graph, n_hops="auto", goal="links")
    linked.write(tmp_path / "l.parquet")
    again = Embedding.load(tmp_path / "l.parquet")
    assert again.settings["score"] == linked.choice.score
    assert again.suggest_links(graph, 5).equals(linked.suggest_links(graph, 5))
    bare = embed(Graph(A), dim=16, seed=7, n_hops=2)
    assert (bare.settings["dim"], bare.settings["seed"]) == (16, 7)


def test_labels_of_other_nodes_only_are_ignored(tmp_path):
    (tmp_path / "z.csv").write_text("id,e0,e1,label\nann,1,0,red\nbob,0,1,\ncy,1,1,\n")
    (tmp_path / "e.csv").write_text("bob,cy\n")
    assert Embedding.load(tmp_path / "z.csv").labels.classes == ("red",)
    loaded = Embedding.load(tmp_path / "z.csv", read_graph(tmp_path / "e.csv"))
    assert loaded.labels is None
    assert loaded.matrix.tolist() == [[0, 1], [1, 1]]


def test_functions_take_each_others_objects():
    import networkx as nx
    from sklearn.cluster import KMeans

    import nafs
    from nafs.tasks import evaluate_classification, evaluate_clustering

    network = nx.karate_club_graph()
    for node in network:
        network.nodes[node]["label"] = int(network.nodes[node]["club"] == "Officer")
    graph = nafs.from_networkx(nx.Graph(network.edges), directed=False)
    embedding = embed(nx.Graph(network.edges), n_hops=3)
    assert nafs.cluster(embedding, 2).labels.tolist() == embedding.cluster(2).labels.tolist()
    assert len(embedding.cluster(2, graph=nx.Graph(network.edges)).labels) == 34
    assert embedding.suggest_links(nx.Graph(network.edges), 3).num_rows == 3
    assert KMeans(2, n_init=1, random_state=0).fit_predict(embedding).shape == (34,)
    labelled = Graph(graph.adjacency, labels=[i % 2 for i in range(34)])
    assert evaluate_clustering(embedding, labelled, seeds=1).values["NMI"]
    assert evaluate_classification(embedding, labelled, count=1).values["ACC"]
    for room in ("datasets", "tasks", "pictures"):
        assert getattr(nafs, room).__name__ == f"nafs.{room}"
    assert nafs.structural_features(graph).shape == (34, 128)


@pytest.mark.parametrize(
    ("ids", "message"), [([10, 20, 30], "closest are 30, 20"), (["a", "b", "c"], "'a', 'b'")]
)
def test_an_unknown_number_is_answered_with_known_ids(tmp_path, capsys, ids, message):
    embed(Graph(sp.csr_array(np.ones((3, 3))), np.eye(3), ids=ids), n_hops=1).write(tmp_path / "e.parquet")
    assert run("similar", tmp_path / "e.parquet", "99") != 0
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", ["paper", "score"])
def test_answers_call_ids_as_the_table_of_nodes_does(tmp_path, name):
    """Also if an answer has a column of that name."""
    ids = [f"p{i}" for i in range(20)]
    edges = pd.DataFrame({"source": ids, "target": np.roll(ids, 1)})
    nodes = pd.DataFrame({name: ids, "a": np.arange(20.0) % 7, "label": ["x", None, None, "y"] * 5})
    edges.to_csv(tmp_path / "e.csv", index=False)
    nodes.to_csv(tmp_path / "n.csv", index=False)
    for graph in (read_graph(tmp_path / "e.csv", tmp_path / "n.csv"), from_edges(edges, nodes)):
        embedding = embed(graph, n_hops=2)
        similar = embedding.similar("p3", k=2)
        assert similar.column_names == [
            name,
            "rank",
            "neighbor",
            "nafs_score" if name == "score" else "score",
        ]
        assert similar[name].to_pylist() == ["p3", "p3"]
        answer = embedding.classify()
        assert answer.to_pandas()[name].tolist() == ids
        assert f"<th>{name}</th>" in answer._repr_html_()
        assert embedding.cluster(2).to_pandas()[name].tolist() == ids
        assert cluster(graph, 2).to_pandas()[name].tolist() == ids
    plain = embed(from_edges(edges), n_hops=2)
    assert plain.similar("p3").column_names[0] == "id"


def test_the_clusters_that_the_hops_were_chosen_for_are_not_found_again(embedding):
    graph, _ = embedding
    chosen = embed(graph, n_hops="auto", n_clusters=3)
    np.testing.assert_array_equal(chosen.cluster(3).labels, cluster(graph, 3).labels)
    assert chosen.cluster(3).clustering is chosen.choice.clustering
    assert "one embedding" not in chosen.cluster(3).explain()
    for others in (chosen.cluster(4), chosen.cluster(3, seed=0), embed(graph, n_hops=2).cluster(3)):
        assert "these are clusters of one embedding" in others.explain()


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        (["--hops", "2", "--score", "inner"], "the inner product of the two vectors"),
        (["--hops", "2"], "the cosine of the two vectors, from -1 to 1"),
        (["--score", "head"], "the log-odds of a link by the link head, up to a constant"),
    ],
)
def test_the_command_says_what_the_scores_of_links_are(embedding, tmp_path, capsys, words, meaning):
    graph, _ = embedding
    graph.save(tmp_path / "graph")
    assert run("suggest-links", tmp_path / "graph", "-k", "3", *words) == 0
    assert f"score: {meaning}" in capsys.readouterr().err


def test_the_default_score_of_links_is_the_one_that_was_chosen(embedding):
    _, result = embedding
    assert result.link_score() == "cosine"
    for by in ("head", "cosine"):
        fitted = replace(result, settings={"link_head": {}, "suggest_by": by})
        assert fitted.link_score() == by
    with pytest.raises(ValueError, match="needs an embedding made with"):
        result.link_score("head")
