"""Nearest nodes and suggested links, compared with exhaustive search."""

import json
import sys

import numpy as np
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from command import run
from random_graphs import random_graph

from nafs import Embedding, Graph, embed, read_graph
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
    found, scores = nearest(matrix, np.arange(300), 5, score=score, exact=exact)
    every = all_scores(matrix, score)
    np.testing.assert_allclose(scores, np.take_along_axis(every, found, 1), rtol=1e-4, atol=1e-5)
    np.fill_diagonal(every, -np.inf)
    best = -np.sort(-every, axis=1)[:, :5]
    some = np.arange(300) != 7  # a row of zeros is as near to all
    close = np.isclose(scores[some], best[some], rtol=1e-4, atol=1e-5)
    assert close.mean() >= (1 if exact else 0.95)
    assert not (found == np.arange(300)[:, None]).any()
    assert (np.diff(scores, axis=1) <= 0).all()
    again, _ = nearest(matrix, np.arange(300), 5, score=score, exact=exact)
    assert np.array_equal(found, again)


def test_fewer_rows_than_requested_and_bad_numbers():
    matrix = np.eye(3, dtype=np.float32)
    found, _ = nearest(matrix, np.array([1]), 10)
    assert found.tolist() == [[0, 2]]
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
        lambda told: nearest(matrix, np.arange(9000), 3, exact=exact, progress=told),
        lambda told: suggest_pairs(graph, matrix, 3, score="cosine", exact=exact, progress=told),
        lambda told: suggest_pairs(graph, matrix, 3, nodes=np.arange(4), progress=told),
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


@pytest.fixture
def embedding():
    A, X = random_graph(2, n=40)
    names = [f"node{i}" for i in range(40)]
    graph = Graph(A, X, ids=names, labels=["a", "b"] * 20)
    return graph, embed(graph, n_hops=3)


def test_similar_by_id(embedding):
    _, made = embedding
    table = made.similar(["node3", "node5"], k=2)
    assert table.column_names == ["id", "rank", "neighbor", "score"]
    assert table.column("id").to_pylist() == ["node3", "node3", "node5", "node5"]
    assert table.column("rank").to_pylist() == [1, 2, 1, 2]
    assert made.similar(None, k=3).num_rows == 120
    with pytest.raises(ValueError, match=r"unknown id 'nodee3'; the closest are 'node3'"):
        made.similar("nodee3")
    with pytest.raises(ValueError, match="no ids: name at least one"):
        made.similar([])


def test_ids_that_are_numbers():
    made = embed(Graph(sp.csr_array(np.ones((3, 3))), np.eye(3), ids=[10, 20, 30]), n_hops=1)
    assert made.similar(10, k=1).num_rows == made.similar("10", k=1).num_rows == 1
    with pytest.raises(ValueError, match="unknown id 11; the closest are '10'"):
        made.similar(11)


def test_suggestions_need_the_graph_that_was_embedded(embedding):
    graph, made = embedding
    found = made.suggest_links(graph, 5)
    assert found.column_names == ["source", "target", "score"]
    assert found.num_rows == 5
    assert made.suggest_links(graph, 2, ["node1"]).column("source").to_pylist() == ["node1"] * 2
    with pytest.raises(ValueError, match=r"not the graph that was embedded: .* 0 is not embedded"):
        made.suggest_links(Graph(*random_graph(3, n=40)), 5)


@pytest.mark.parametrize("name", ["e.parquet", "e.csv", "e.npy"])
def test_an_embedding_written_is_read_again(embedding, tmp_path, name):
    _, made = embedding
    made.write(tmp_path / name)
    again = Embedding.load(tmp_path / name)
    np.testing.assert_allclose(again.matrix, made.matrix, rtol=1e-6)
    assert again.id_array.equals(made.id_array)
    assert again.labels.classes == made.labels.classes
    assert (again.labels.codes == made.labels.codes).all()
    if name != "e.csv":
        assert again.settings["n_hops"] == 3
        assert again.settings["input"] == made.settings["input"]
        assert again.settings["version"]


def test_an_embedding_carries_its_settings(embedding):
    graph, made = embedding
    assert set(made.settings["input"]) == {"nodes", "edges", "features"}
    other = embed(graph.with_features(graph.features.dense + 1), n_hops=3)
    assert other.settings["input"]["edges"] == made.settings["input"]["edges"]
    assert other.settings["input"]["features"] != made.settings["input"]["features"]
    pytest.importorskip("polars")
    assert made.to_polars().shape == (40, 12)


def test_the_commands(embedding, tmp_path, capsys):
    graph, made = embedding
    made.write(tmp_path / "e.parquet")
    graph.save(tmp_path / "graph")
    assert run("similar", tmp_path / "e.parquet", "node3", "-k", "2", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["neighbor"] for row in rows] == made.similar("node3", 2).column("neighbor").to_pylist()
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
        (["suggest-links", tmp_path / "graph", "--node", "nobody"], "unknown id 'nobody'"),
    ):
        assert run(*arguments) == 2
        assert message in " ".join(capsys.readouterr().err.split())


def test_notebooks_show_tables_and_names_stay_text():
    A, X = random_graph(4, n=10)
    graph = Graph(A, X, ids=["<b>bold</b>", *(f"n{i}" for i in range(9))], labels=["a", "b"] * 5)
    made = embed(graph, n_hops=2)
    for shown in (graph._repr_html_(), graph.describe()._repr_html_(), made._repr_html_()):
        assert shown.startswith("<table>")
        assert "<b>" not in shown
    assert "&lt;b&gt;bold" in made._repr_html_()
    assert "2 hops" in made._repr_html_()


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
    found, scores = nearest(matrix, asked, 7, score="inner")
    every = matrix[asked] @ matrix.T
    every[np.arange(len(asked)), asked] = -np.inf
    order = np.argsort(-every, axis=1, kind="stable")[:, :7]
    assert found[0, 0] == n - 1
    assert np.array_equal(scores, np.take_along_axis(every, order, 1))
    assert np.array_equal(found, order)


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
    found, scores = nearest(few, np.arange(700), 699, exact=False)
    assert (found >= 0).all()
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
        found, _ = nearest(matrix, np.arange(6000), 10)
    assert np.mean([len(set(a) & set(b)) for a, b in zip(truth, found, strict=True)]) >= 9.5
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
    found, _ = suggest_pairs(graph, matrix, 10, exact=False)
    assert len({tuple(pair) for pair in exact} & {tuple(pair) for pair in found}) >= 9


def test_settings_of_any_kind_are_written_and_the_score_is_kept(tmp_path):
    A, X = random_graph(5, n=60)
    graph = Graph(A, X)
    made = embed(graph, n_hops=np.int64(2), r=np.linspace(0, 0.5, 3), n_clusters=np.int64(2))
    for name in ("e.parquet", "e.npy"):
        made.write(tmp_path / name)
        assert Embedding.load(tmp_path / name).settings["r"] == [0.0, 0.25, 0.5]
    linked = embed(graph, n_hops="auto", goal="links")
    linked.write(tmp_path / "l.parquet")
    again = Embedding.load(tmp_path / "l.parquet")
    assert again.settings["score"] == linked.choice.score
    assert again.suggest_links(graph, 5).equals(linked.suggest_links(graph, 5))
    bare = embed(Graph(A), columns=16, seed=7, n_hops=2)
    assert (bare.settings["columns"], bare.settings["seed"]) == (16, 7)


def test_no_command_has_two_options_with_one_name():
    import typer.main

    from nafs.cli.app import app

    for name, command in typer.main.get_command(app).commands.items():
        flags = [flag for option in command.params for flag in option.opts]
        assert len(flags) == len(set(flags)), name


def test_labels_of_other_nodes_only_are_ignored(tmp_path):
    (tmp_path / "z.csv").write_text("id,e0,e1,label\nann,1,0,red\nbob,0,1,\ncy,1,1,\n")
    (tmp_path / "e.csv").write_text("bob,cy\n")
    assert Embedding.load(tmp_path / "z.csv").labels.classes == ("red",)
    found = Embedding.load(tmp_path / "z.csv", read_graph(tmp_path / "e.csv"))
    assert found.labels is None
    assert found.matrix.tolist() == [[0, 1], [1, 1]]
