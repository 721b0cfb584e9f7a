"""Ids that a program wrote as 1.0 match 1, and errors name this cause where that would be a guess."""

import csv

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from command import run

from nafs import InputError, embed, from_edges, read_graph
from nafs.graph.spellings import whole_like
from nafs.model import Model

N = 20
FINAL_ZERO = "written with a final .0, and are read as whole numbers"


def ring(kind=int):
    ids = np.arange(N).astype(kind)
    return pd.DataFrame({"source": ids, "target": np.roll(ids, 1)})


def nodes(kind=int):
    """People whose sizes are no ids, but for one."""
    return pd.DataFrame({"user": np.arange(N)[::-1].astype(kind), "size": [1.0, *(np.arange(1, N) + 0.5)]})


def tables(tmp_path, edges, people, labels=None):
    """The paths of CSV tables, in the order of read_graph."""
    paths = []
    for name, frame in (("e.csv", edges), ("n.csv", people), ("l.csv", labels)):
        if frame is not None:
            frame.to_csv(tmp_path / name, index=False)
            paths.append(tmp_path / name)
    return paths


@pytest.mark.parametrize(("edge_kind", "node_kind"), [(int, float), (float, int)])
def test_floats_in_one_table_match_whole_numbers_in_another(tmp_path, edge_kind, node_kind):
    expected = from_edges(ring(), nodes())
    graph = read_graph(*tables(tmp_path, ring(edge_kind), nodes(node_kind)))
    assert graph.ids.tolist() == expected.ids.tolist()
    np.testing.assert_array_equal(graph.features.toarray(), expected.features.toarray())
    assert sum(FINAL_ZERO in note for note in graph.notes) == 1
    texts = [frame.astype(str) for frame in (ring(edge_kind), nodes(node_kind)[["user"]])]
    again = from_edges(texts[0], texts[1].assign(size=nodes()["size"]))
    assert again.ids.tolist() == expected.ids.tolist()


def test_floats_in_one_column_of_edges_match_whole_numbers_in_the_other(tmp_path):
    edges = ring()
    edges["target"] = edges.target.astype(float)
    graph = read_graph(*tables(tmp_path, edges, nodes()))
    assert graph.n_nodes == N
    assert any(f"target: all ids are {FINAL_ZERO}" in note for note in graph.notes)
    assert read_graph(tmp_path / "e.csv", id_type="text").n_nodes == 2 * N


def test_floats_everywhere_stay_as_they_are_written(tmp_path):
    graph = read_graph(*tables(tmp_path, ring(float), nodes(float)))
    assert graph.ids[0] == f"{N - 1}.0"
    assert not any(FINAL_ZERO in note for note in graph.notes)
    versions = pd.DataFrame({"user": ["1.0", "2.0", "1.1"], "size": [1, 2, 3]})
    kept = from_edges((["1.0"], ["2.0"]), versions)
    assert kept.ids.tolist() == ["1.0", "2.0", "1.1"]


def test_labels_written_as_floats(tmp_path):
    labels = pd.DataFrame({"user": [0.0, 1.0, 9.0, 10.0], "kind": ["a", "a", "b", "b"]})
    for paths in (tables(tmp_path, ring(), nodes(), labels), tables(tmp_path, ring(float), nodes(), labels)):
        graph = read_graph(*paths)
        assert graph.labels.known.sum() == 4
        assert any(f"l.csv: all ids are {FINAL_ZERO}" in note for note in graph.notes)
    kinds = labels.set_index("user")["kind"]
    answer = embed(from_edges(ring(), nodes()), n_hops=1).classify(kinds)
    assert (answer.known >= 0).sum() == 4
    assert from_edges(ring(), nodes(), labels=kinds).labels.known.sum() == 4


def test_a_matrix_is_joined_by_number(tmp_path):
    """Not in the order of the rows, as ids with other names would be."""
    adjacency = np.roll(np.eye(N), 1, axis=1)
    np.save(tmp_path / "a.npy", adjacency + adjacency.T)
    nodes(float).to_csv(tmp_path / "n.csv", index=False)
    graph = read_graph(tmp_path / "a.npy", tmp_path / "n.csv")
    np.testing.assert_allclose(graph.features.toarray().ravel(), nodes()["size"][::-1], rtol=1e-6)
    np.save(tmp_path / "x.npy", np.eye(N))
    ring(float).to_csv(tmp_path / "e.csv", index=False)
    assert read_graph(tmp_path / "e.csv", tmp_path / "x.npy").n_nodes == N


def test_answers_stay_beside_the_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables(tmp_path, ring(), nodes(float))
    assert run("cluster", "e.csv", "-f", "n.csv", "-k", "2", "--hops", "1", "-o", "out.csv", "-q") == 0
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["user"] for row in rows] == [str(i) for i in range(N)][::-1]
    assert "size" in rows[0]


def test_an_update_knows_its_nodes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables(tmp_path, ring(), nodes())
    pd.DataFrame({"source": [1.0], "target": [9.0]}).to_csv("new.csv", index=False)
    pd.DataFrame({"user": [3.0]}).to_csv("gone.csv", index=False)
    assert run("embed", "e.csv", "-f", "n.csv", "--hops", "1", "-o", "z.csv", "--keep", "model", "-q") == 0
    assert run("update", "model", "--edges", "new.csv", "--remove-nodes", "gone.csv", "-q") == 0
    assert sorted(Model.load("model").id_array.to_pylist()) == [i for i in range(N) if i != 3]


@pytest.mark.parametrize("id_column", [None, "user"])
def test_errors_name_a_final_zero_where_only_some_ids_have_it(tmp_path, id_column):
    mixed = nodes(float).astype({"user": object})
    mixed.loc[0, "user"] = "x"
    paths = tables(tmp_path, ring(), mixed)
    with pytest.raises(InputError, match=r"differ in a final \.0 only.*: write the ids alike"):
        read_graph(*paths, id_column=id_column)


def test_a_missing_id_is_found_among_floats(tmp_path):
    gap = nodes(float)
    gap.loc[2, "user"] = None
    with pytest.raises(InputError, match="line 4: the id in column 'user' is missing"):
        read_graph(*tables(tmp_path, ring(), gap))


def test_features_of_a_graph_that_exists():
    graph = from_edges(ring())
    frame = nodes(float).astype({"user": str})
    again = graph.with_features(pa.Table.from_pandas(frame), id_column="user")
    np.testing.assert_array_equal(
        again.features.toarray(), graph.with_features(nodes(), id_column="user").features.toarray()
    )


def test_new_nodes_of_an_update_need_no_known_id(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables(tmp_path, ring(), nodes())
    assert run("embed", "e.csv", "-f", "n.csv", "--hops", "1", "-o", "z.csv", "--keep", "model", "-q") == 0
    pd.DataFrame({"source": [1.0, 77.0], "target": [77.0, 78.0]}).to_csv("new.csv", index=False)
    rows = pd.concat([nodes(float).iloc[:1]] * 2)
    rows["user"] = [77.0, 78.0]
    rows.to_csv("rows.csv", index=False)
    assert run("update", "model", "--edges", "new.csv", "-f", "rows.csv", "-q") == 0
    ids = Model.load("model").id_array
    assert pa.types.is_int64(ids.type)
    assert sorted(ids.to_pylist()) == [*range(N), 77, 78]


def test_a_text_column_that_begins_with_a_gap_does_not_matter(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = nodes()
    table.insert(0, "name", [None, *(f"n{i}" for i in range(1, N))])
    tables(tmp_path, ring(), table)
    options = ["--id", "user", "--ignore", "name", "-k", "2", "--hops", "1", "-q"]
    assert run("cluster", "e.csv", "-f", "n.csv", *options, "-o", "out.csv") == 0
    with open("out.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == N


def test_a_few_labels_in_another_spelling(tmp_path):
    edges, _ = tables(tmp_path, ring(), nodes())
    (tmp_path / "l.csv").write_text("user,group\n1.0,a\n2.0,b\n3.0,b\nx17,a\n")
    with pytest.raises(InputError, match=r"differ in a final \.0 only"):
        read_graph(edges, labels=tmp_path / "l.csv")


def test_fractions_are_no_ids(tmp_path):
    edges, _ = tables(tmp_path, ring(), nodes())
    pd.DataFrame({"x": [0.5, *map(float, range(1, N))], "y": 0.25}).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(InputError, match="no column") as error:
        read_graph(edges, tmp_path / "x.csv")
    assert "may hold them" not in str(error.value)


def test_labels_of_a_graph_whose_ids_have_a_final_zero():
    graph = from_edges((["1.0", "2.0", "3.0", "4.0"], ["2.0", "3.0", "4.0", "1.0"]))
    answer = embed(graph, n_hops=1).classify({1: "a", 2: "b", 3: "a", 4: "b"})
    assert answer.known.tolist() == [0, 1, 0, 1]


def test_minus_zero_is_zero():
    assert whole_like(pa.array(["-0.0", "2.0"]), pa.array([0, 2])).to_pylist() == [0, 2]


def test_a_query_may_be_a_float():
    embedding = embed(from_edges(ring()), n_hops=1)
    assert embedding.rows(3.0).tolist() == embedding.rows(3).tolist() == embedding.rows("3.0").tolist()
