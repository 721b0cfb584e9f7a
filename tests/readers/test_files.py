"""Edge lists, features and labels in files, as people write them."""

import gzip
import itertools
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse as sp
from graphs import LABELS, assert_same, reference

from nafs import Graph, from_edges, read_graph
from nafs._support.errors import InputError


@pytest.mark.parametrize(
    ("text", "ids", "weights"),
    [
        ("source,target\na,b\nb,c\n", ["a", "b", "c"], None),
        ("a,b\nb,c\n", ["a", "b", "c"], None),
        ("# FromNodeId\tToNodeId\n0\t1\n1\t2\n", [0, 1, 2], None),
        ("% a comment\n0 1 0.5\n1 2 0.25\n", [0, 1, 2], [0.5, 0.5, 0.25, 0.25]),
        ("from;to;w\n1;2;3\n2;5;4\n", [1, 2, 5], [3, 3, 4, 4]),
        ("u|v\nx y|z\n", ["x y", "z"], None),
        ('"a, b",c\nc,"d ""e"""\n', ["a, b", "c", 'd "e"'], None),
        ("\ufeffsrc,dst\r\na,b\r\n", ["a", "b"], None),
        ("Source,Target,Weight,note\na,b,2,hello\n", ["a", "b"], [2, 2]),
        ("name,other\n1,2\n2,3\n1,3\n2,2\n3,1\n", [1, 2, 3], None),
    ],
)
def test_edge_lists_as_people_write_them(tmp_path, text, ids, weights):
    path = tmp_path / "edges.txt"
    path.write_bytes(text.encode())
    graph = read_graph(path)
    assert graph.ids.tolist() == ids
    stored = graph.adjacency.weights
    assert (None if stored is None else stored.tolist()) == weights
    (tmp_path / "edges.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert_same(read_graph(tmp_path / "edges.txt.gz"), graph)


def test_what_the_user_says_beats_the_guess(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("a,b,2,9\nb,c,3,9\n")
    graph = read_graph(path, source=2, target=1, weight=3, header=False)
    assert graph.ids.tolist() == ["b", "a", "c"]
    assert graph.adjacency.weights.tolist() == [2, 3, 2, 3]
    assert "not used: 'column4'" in graph.notes[0]
    assert read_graph(path, header=True, source=1, target=2).n_edges == 1


def test_several_files_by_pattern(tmp_path):
    (tmp_path / "part-1.csv").write_text("source,target\na,b\n")
    (tmp_path / "part-2.csv").write_text("source,target\nb,c\n")
    assert read_graph(tmp_path / "part-*.csv").ids.tolist() == ["a", "b", "c"]
    odd = tmp_path / "odd[1]*.csv"
    odd.write_text("source,target\nx,y\n")
    assert read_graph(odd).ids.tolist() == ["x", "y"]


def test_files_of_a_pattern_are_judged_one_by_one(tmp_path):
    (tmp_path / "s1.csv").write_text("source,target\na,b\n")
    (tmp_path / "s2.csv").write_text("# no header after split\nx,y\n")
    (tmp_path / "s3.csv").write_text("target,source\nb,z\n")
    graph = read_graph(tmp_path / "s?.csv")
    assert graph.ids.tolist() == ["a", "b", "x", "y", "z"]
    assert graph.n_edges == 3
    (tmp_path / "s4.csv").write_text("from,to,when\n1,2,3\n")
    with pytest.raises(ValueError, match=r"s4\.csv: its columns \('from', 'to', 'when'\) are not those of"):
        read_graph(tmp_path / "s?.csv")


def test_a_first_line_that_may_be_a_header_is_pointed_out(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("paper,cites\na,b\nb,c\n")
    assert any("the first line (paper, cites) is read as an edge" in note for note in read_graph(path).notes)
    assert read_graph(path, header=True).n_edges == 2
    path.write_text("a,b\nb,c\n")
    assert len(read_graph(path).notes) == 1


def test_a_sign_inside_values_is_not_a_comment(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("# made by hand\na#1,b\nb,c#2\n")
    assert read_graph(path).ids.tolist() == ["a#1", "b", "c#2"]
    path.write_text("a,b\n# in between\nb,c#2\n")
    with pytest.raises(InputError, match=r"line 2: 1 instead of 2 columns.* comment"):
        read_graph(path)
    graph = read_graph(path, comment="#")
    assert graph.ids.tolist() == ["a", "b", "c#2"]
    assert any("1 line skipped as comments" in note for note in graph.notes)


def test_blanks_around_ids_do_not_count(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("source, target\na, b\nb , c\nc, a\n")
    graph = read_graph(path)
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.n_edges == 3


def test_columns_that_are_no_features(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\nb,c\n")
    nodes = pd.DataFrame(
        {"id": ["a", "b", "c"], "x": [1, 2, 3], "Label": [0, 1, 1], "day": ["mo", "tu", "we"]}
    )
    nodes.to_csv(tmp_path / "n.csv")  # with pandas' index in front
    graph = read_graph(tmp_path / "e.csv", tmp_path / "n.csv", ignore=["day"])
    assert graph.feature_names == ("x",)
    assert graph.labels.codes.tolist() == [0, 1, 1]
    assert "id = 'id', label = 'Label', 1 feature ('x'), not used: 'column1', 'day'" in graph.notes[0]
    assert "day" in " ".join(read_graph(tmp_path / "e.csv", tmp_path / "n.csv").notes), "words are encoded"
    (tmp_path / "y.csv").write_text("id,label\na,1\nb,2\nc,3\n")
    graph = read_graph(tmp_path / "e.csv", tmp_path / "y.csv")
    assert graph.features is None
    assert any("no feature columns" in note for note in graph.notes)


def test_tables_in_the_wrong_place(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\nb,c\n")
    (tmp_path / "f.csv").write_text("id,f0,f1\na,0.25,1.5\nb,0.125,2.5\nc,-3.75,1.5\n")
    with pytest.raises(InputError, match="looks like a table of nodes"):
        read_graph(tmp_path / "f.csv")
    with pytest.raises(InputError, match="look like measurements"):
        read_graph(tmp_path / "f.csv", source="f0", target="f1")
    with pytest.raises(InputError, match=r"which of the columns 'f0', 'f1' holds the labels.*label_column"):
        read_graph(tmp_path / "e.csv", labels=tmp_path / "f.csv")
    with pytest.raises(InputError, match=r"'f0' holds measurements such as 0\.25, not classes"):
        read_graph(tmp_path / "e.csv", labels=tmp_path / "f.csv", label_column="f0")
    with pytest.raises(TypeError, match="several files are named by a pattern"):
        read_graph([tmp_path / "e.csv"])


def test_weights_can_be_ignored_and_times_are_pointed_out(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("1 2 1082040961\n2 3 1082155839\n")
    graph = read_graph(path)
    assert any("look like times" in note for note in graph.notes)
    assert read_graph(path, weight=False).adjacency.weights is None
    assert from_edges({"source": [1], "target": [2], "weight": [5]}, weight=False).adjacency.weights is None


def test_kinds_of_ids_in_parquet(tmp_path):
    path = tmp_path / "e.parquet"
    pa.parquet.write_table(pa.table({"source": [1.0, 2.0], "target": [2, 3]}), path)
    assert read_graph(path).ids.tolist() == [1, 2, 3]
    pa.parquet.write_table(pa.table({"source": [1, 2], "target": ["2", "x"]}), path)
    assert read_graph(path).ids.tolist() == ["1", "2", "x"]
    pa.parquet.write_table(pa.table({"source": pa.array([2**63, 1], pa.uint64()), "target": [1, 2]}), path)
    assert read_graph(path).ids.tolist() == [str(2**63), "1", "2"]
    assert from_edges(([2**70, 1], [1, 2])).ids.tolist() == [str(2**70), "1", "2"]
    pa.parquet.write_table(pa.table({"source": [1.5], "target": [2]}), path)
    with pytest.raises(ValueError, match=r"source id 1\.5 is not a whole number"):
        read_graph(path)
    pa.parquet.write_table(pa.table({"source": [True], "target": [2]}), path)
    with pytest.raises(TypeError, match="the source column holds BOOLEAN"):
        read_graph(path)


def test_folders_named_like_columns_are_only_folders(tmp_path):
    folder = tmp_path / "weight=5"
    folder.mkdir()
    pa.parquet.write_table(pa.table({"source": ["a"], "target": ["b"]}), folder / "e.parquet")
    assert read_graph(folder / "e.parquet").adjacency.weights is None


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("e.csv", "u,v\nv,w\nw,y\n", ["u", "v", "w", "y"]),
        ("e.csv", "alice,bob\n1,2\n3,alice\n", ["alice", "bob", "1", "2", "3"]),
        ("e.tsv", "Smith, J\tBob\nBob\tRoe, R\n", ["Smith, J", "Bob", "Roe, R"]),
        ("e.csv", "a;b;0,5\nb;c;0,7\n", None),
        ("e.csv", "New York,Los Angeles\nLos Angeles,San Diego\n", ["New York", "Los Angeles", "San Diego"]),
    ],
)
def test_guesses_that_would_go_wrong(tmp_path, name, text, ids):
    (tmp_path / name).write_text(text)
    if ids is None:
        with pytest.raises(ValueError, match="'0,5' in column 'column3' has a decimal comma"):
            read_graph(tmp_path / name)
    else:
        assert read_graph(tmp_path / name).ids.tolist() == ids


def test_numbers_for_column_names(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\n")
    (tmp_path / "f.csv").write_text("id,0,1\na,1,2\nb,3,4\n")
    graph = read_graph(tmp_path / "e.csv", tmp_path / "f.csv")
    assert graph.ids.tolist() == ["a", "b"]
    assert graph.feature_names == ("0", "1")


def test_a_late_comment_is_pointed_out(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("".join(f"{i},{i + 1}\n" for i in range(300)) + "# 3,4\n")
    assert any("looks like a comment" in note for note in read_graph(path).notes)
    assert read_graph(path, comment="#").n_edges == 300


def test_the_label_column_is_looked_for_in_the_label_table(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\n")
    (tmp_path / "f.csv").write_text("id,x\na,1\nb,2\n")
    (tmp_path / "l.csv").write_text("id,size,community\na,5,one\nb,6,two\n")
    graph = read_graph(tmp_path / "e.csv", tmp_path / "f.csv", tmp_path / "l.csv", label_column="community")
    assert graph.labels.classes == ("one", "two")


def test_wide_tables(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\n")
    names = ",".join(f"feature_number_{i}" for i in range(12_000))
    values = ",".join(["0.123456789"] * 12_000)
    (tmp_path / "f.csv").write_text(f"id,{names}\na,{values}\nb,{values}\n")
    assert read_graph(tmp_path / "e.csv", tmp_path / "f.csv").features.shape == (2, 12_000)


def test_matrices_of_the_wrong_size_are_refused(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(np.ones((3, 3))))
    np.save(tmp_path / "x.npy", np.eye(2))
    np.save(tmp_path / "y.npy", np.array([0, 1]))
    with pytest.raises(ValueError, match=r"x\.npy: it has 2 rows for 3 nodes"):
        read_graph(tmp_path / "a.npz", tmp_path / "x.npy")
    with pytest.raises(ValueError, match=r"y\.npy: it has 2 rows for 3 nodes"):
        read_graph(tmp_path / "a.npz", labels=tmp_path / "y.npy")
    (tmp_path / "e.csv").write_text("0,1\n1,2\n")
    with pytest.raises(ValueError, match=r"y\.npy: its 2 rows are nodes 0\.\.1, but"):
        read_graph(tmp_path / "e.csv", labels=tmp_path / "y.npy")


def test_features_and_labels_in_every_form(tmp_path):
    (tmp_path / "e.csv").write_text("0,1\n1,2\n")
    X = np.array([[1.0, 0], [0, 2], [0, 0]], np.float32)
    np.save(tmp_path / "x.npy", X)
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(X))
    scipy.io.mmwrite(tmp_path / "x.mtx", sp.coo_array(X))
    np.save(tmp_path / "y.npy", np.array([1, 0, 1]))
    pd.DataFrame({"id": [2, 0, 1], "a": X[[2, 0, 1], 0], "b": X[[2, 0, 1], 1]}).to_parquet(
        tmp_path / "x.parquet"
    )
    (tmp_path / "y.csv").write_text("node,label\n2,1\n0,1\n1,0\n")
    for name in ("x.npy", "x.npz", "x.mtx"):
        graph = read_graph(tmp_path / "e.csv", tmp_path / name, tmp_path / "y.npy")
        values = graph.features.sparse.toarray() if graph.features.dense is None else graph.features.dense
        np.testing.assert_array_equal(values, X)
        assert graph.labels.codes.tolist() == [1, 0, 1]
    graph = read_graph(tmp_path / "e.csv", tmp_path / "x.parquet", tmp_path / "y.csv")
    assert graph.ids.tolist() == [2, 0, 1]
    np.testing.assert_array_equal(graph.features.dense, X[[2, 0, 1]])
    assert graph.labels.codes.tolist() == [1, 1, 0]
    # A matrix for edges, tables for the others: the matrix determines the order.
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])))
    graph = read_graph(tmp_path / "a.npz", tmp_path / "x.parquet", tmp_path / "y.csv")
    np.testing.assert_array_equal(graph.features.dense, X)
    assert graph.labels.codes.tolist() == [1, 0, 1]


def test_new_features_for_a_saved_graph(tmp_path):
    graph = reference()
    graph.save(tmp_path / "g")
    (tmp_path / "x.csv").write_text("id,z\nann,1\nbob,2\ncy,3\ndee,4\n")
    again = read_graph(tmp_path / "g", tmp_path / "x.csv")
    assert again.ids.tolist() == graph.ids.tolist(), "a saved graph keeps its order"
    assert again.features.dense.ravel().tolist() == [4, 3, 2, 1]
    assert again.labels.to_arrow().to_pylist() == LABELS
    assert again.adjacency is not None
    assert_same(again, graph, nodes=False)
    (tmp_path / "y.csv").write_text("id,label\nann,new\nzoe,old\n")
    again = read_graph(tmp_path / "g", labels=tmp_path / "y.csv")
    assert again.labels.to_arrow().to_pylist() == [None, None, None, "new"]
    assert any("1 of its 2 ids are not nodes and are ignored ('zoe')" in note for note in again.notes)
    assert again.features.dense.tolist() == graph.features.dense.tolist()
    np.save(tmp_path / "x.npy", np.eye(4))
    assert read_graph(tmp_path / "g", tmp_path / "x.npy").features.dense.tolist() == np.eye(4).tolist()
    with pytest.raises(ValueError, match="read its source again"):
        read_graph(tmp_path / "g", directed=True)
    with pytest.raises(ValueError, match="no columns to be named"):
        read_graph(tmp_path / "g", source="x")


def test_a_directed_graph_with_loops_stays_so_with_new_tables(tmp_path):
    A = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0]])
    graph = Graph(A, ids=["a", "b", "c"], directed=True, self_loops=True)
    graph.save(tmp_path / "g")
    (tmp_path / "x.csv").write_text("id,z\nc,1\nb,2\na,3\n")
    again = read_graph(tmp_path / "g", tmp_path / "x.csv")
    assert_same(again, graph, nodes=False)
    assert again.adjacency.directed
    assert again.features.dense.ravel().tolist() == [3, 2, 1]


def test_labels_that_do_not_match_are_reported(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\nb,c\n")
    (tmp_path / "y.csv").write_text("id,label\na,1\nz,2\n")
    graph = read_graph(tmp_path / "e.csv", labels=tmp_path / "y.csv")
    assert graph.labels.to_arrow().to_pylist() == [1, None, None]
    assert "2 of 3 nodes have no label" in graph.notes
    assert any("1 of its 2 ids are not nodes and are ignored ('z')" in note for note in graph.notes)


@pytest.mark.parametrize("kind", ["numbers", "names", "rows"])
@pytest.mark.parametrize("weights", [None, "ones", "any"])
def test_tables_sorted_on_disk_make_the_same_graph(tmp_path, monkeypatch, kind, weights):
    monkeypatch.setattr("nafs.readers.database._SMALL", 0)
    monkeypatch.setattr("nafs.readers.size.IN_TABLES", 10**9)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 200, (2000, 2)), columns=["source", "target"])
    if kind != "rows":
        table *= 7
    if kind == "names":
        table = "n" + table.astype(str)
    if weights:
        table["weight"] = 1.0 if weights == "ones" else rng.random(2000).round(1)  # some are 0
    table.to_parquet(tmp_path / "edges.parquet")
    nodes = pd.DataFrame(rng.random((150, 3)), columns=["a", "b", "c"])
    nodes.insert(0, "id", pd.unique(table["source"])[:150])
    nodes.to_parquet(tmp_path / "nodes.parquet")
    options = itertools.product((False, True), (False, True), (None, "nodes.parquet"))
    for directed, self_loops, features in options:
        graphs = []
        for limit in (None, "200MB"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # nodes without features
                graphs.append(
                    read_graph(
                        tmp_path / "edges.parquet",
                        features and tmp_path / features,
                        directed=directed,
                        self_loops=self_loops,
                        missing="zeros",
                        memory_limit=limit,
                    )
                )
        a, b = (graph.adjacency for graph in graphs)
        assert np.array_equal(a.indptr, b.indptr)
        assert np.array_equal(a.indices, b.indices)
        assert (a.weights is None) == (b.weights is None) == (weights != "any")
        if a.weights is not None:
            np.testing.assert_allclose(a.weights, b.weights, rtol=1e-6)
        assert graphs[0].id_array.equals(graphs[1].id_array)
        assert graphs[0].notes == graphs[1].notes
        if features:
            assert np.array_equal(graphs[0].features.dense, graphs[1].features.dense)


def test_naming_a_column_says_that_the_first_line_names_them(tmp_path):
    (tmp_path / "e.csv").write_text("whom,by,when\na,b,2024-01-01\nb,c,2024-01-02\n")
    graph = read_graph(tmp_path / "e.csv", source="whom", target="by")
    assert graph.ids.tolist() == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"'when' in column .* if line 1 names the columns, set header"):
        read_graph(tmp_path / "e.csv")


def test_empty_labels_count_as_missing(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\nb,c\nc,d\n")
    (tmp_path / "l.csv").write_text("id,label\na,x\nb,\nc,y\n")
    assert "2 of 4 nodes have no label" in read_graph(tmp_path / "e.csv", labels=tmp_path / "l.csv").notes
