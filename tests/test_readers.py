"""Whatever people bring becomes the same graph: ids, order, weights and labels survive."""

import gzip
import warnings

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import random_graph
from graphs import assert_same, graphs
from hypothesis import given, settings

from nafs import Graph, from_edges, from_igraph, from_networkx, from_pyg, read_graph
from nafs.writers import write_graph, write_nodes

FEW = settings(max_examples=25, deadline=None)

EDGES = {"source": ["ann", "bob", "cy"], "target": ["bob", "cy", "dee"], "weight": [1.0, 2.5, 3.0]}
NODES = {"id": ["dee", "cy", "bob", "ann"], "x0": [1.0, 2.0, 3.0, 4.0], "x1": [0.0, 1.0, 0.0, 1.0]}
LABELS = ["red", "blue", "red", None]


def reference():
    return from_edges(EDGES, NODES | {"label": LABELS})


def with_labels(frame):
    return frame.assign(label=pd.Series(LABELS, dtype=object))


# --- round trips --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".csv.gz"])
@FEW
@given(graph=graphs())
def test_edge_and_node_tables_round_trip(tmp_path_factory, ending, graph):
    folder = tmp_path_factory.mktemp("trip")
    edges, nodes = folder / f"edges{ending}", folder / f"nodes{ending}"
    write_graph(graph, edges)
    write_nodes(graph, nodes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(read_graph(edges, nodes), graph)


@FEW
@given(graph=graphs())
def test_a_saved_folder_round_trips(tmp_path_factory, graph):
    folder = tmp_path_factory.mktemp("trip") / "graph"
    graph.save(folder)
    for mmap in (True, False):
        back = Graph.load(folder, mmap=mmap)
        assert_same(back, graph)
        assert back.feature_names == graph.feature_names
        assert back.notes == graph.notes
    assert_same(read_graph(folder), graph)


@FEW
@given(graph=graphs())
def test_graphml_round_trips(tmp_path_factory, graph):
    path = tmp_path_factory.mktemp("trip") / "graph.graphml"
    write_graph(graph, path)
    back = read_graph(path)
    # GraphML stores every name as text, and float32 as a decimal number.
    assert_same(back, graph, ids=False, nodes=False)
    assert [str(name) for name in back.ids] == [str(name) for name in graph.ids]
    if graph.features is not None:
        np.testing.assert_array_equal(back.features.dense, graph.features.dense)
    if graph.labels is not None:
        assert back.labels.to_arrow().to_pylist() == graph.labels.to_arrow().to_pylist()


@pytest.mark.parametrize("ending", [".mtx", ".npz"])
@FEW
@given(graph=graphs())
def test_matrices_round_trip_the_edges(tmp_path_factory, ending, graph):
    path = tmp_path_factory.mktemp("trip") / f"matrix{ending}"
    write_graph(graph, path)
    back = read_graph(path)
    assert_same(back, graph, ids=False, nodes=False)
    assert not back.has_ids


def test_sparse_features_stay_sparse_in_a_folder(tmp_path):
    A, _ = random_graph(0, 40)
    X = sp.random_array((40, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    graph = Graph(A, X, directed=False)
    graph.save(tmp_path / "g")
    back = Graph.load(tmp_path / "g")
    assert back.features.dense is None
    assert_same(back, graph)


def test_directed_graphs_and_self_loops_survive(tmp_path):
    A = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0]])
    graph = Graph(A, directed=True, self_loops=True)
    graph.save(tmp_path / "g")
    assert_same(Graph.load(tmp_path / "g"), graph)
    assert Graph.load(tmp_path / "g").adjacency.directed
    write_graph(graph, tmp_path / "e.csv")
    back = read_graph(tmp_path / "e.csv", directed=True, self_loops=True)
    assert_same(back, graph)


# --- the same graph through every constructor ------------------------------------------------------------


def as_networkx(kind=nx.Graph):
    graph = kind()
    for i, name in enumerate(NODES["id"]):
        graph.add_node(name, x=[NODES["x0"][i], NODES["x1"][i]])
        if LABELS[i] is not None:
            graph.nodes[name]["label"] = LABELS[i]
    graph.add_weighted_edges_from(zip(*EDGES.values(), strict=True))
    return graph


def as_igraph():
    graph = igraph.Graph(n=4, edges=[(3, 2), (2, 1), (1, 0)])
    graph.vs["name"], graph.es["weight"] = NODES["id"], EDGES["weight"]
    graph.vs["x"] = list(zip(NODES["x0"], NODES["x1"], strict=True))
    graph.vs["label"] = LABELS
    return graph


def as_arrays():
    W = np.zeros((4, 4))
    W[[3, 2, 1], [2, 1, 0]] = EDGES["weight"]
    X = np.column_stack([NODES["x0"], NODES["x1"]])
    return Graph(sp.coo_array(W), X, ids=NODES["id"], labels=LABELS, directed=False)


CONSTRUCTORS = {
    "arrays": as_arrays,
    "pandas": lambda: from_edges(pd.DataFrame(EDGES), with_labels(pd.DataFrame(NODES))),
    "pandas index": lambda: from_edges(pd.DataFrame(EDGES), with_labels(pd.DataFrame(NODES)).set_index("id")),
    "polars": lambda: from_edges(pl.DataFrame(EDGES), pl.DataFrame(NODES | {"label": LABELS})),
    "pyarrow": lambda: from_edges(pa.table(EDGES), pa.table(NODES | {"label": LABELS})),
    "columns": lambda: from_edges(tuple(EDGES.values()), NODES | {"label": LABELS}),
    "list column": lambda: from_edges(
        EDGES,
        {
            "id": NODES["id"],
            "x": list(map(list, zip(NODES["x0"], NODES["x1"], strict=True))),
            "label": LABELS,
        },
    ),
    "networkx": lambda: from_networkx(as_networkx()),
    "networkx directed": lambda: from_networkx(as_networkx(nx.DiGraph)),
    "networkx multi": lambda: from_networkx(as_networkx(nx.MultiGraph)),
    "igraph": lambda: from_igraph(as_igraph()),
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_every_constructor_gives_the_same_bits(name):
    assert_same(CONSTRUCTORS[name](), reference())


def test_frames_with_other_names_and_kinds_of_columns():
    edges = pd.DataFrame({"when": [1, 2], "paper": ["a", "b"], "cites": ["b", "c"], "strength": [2, 3]})
    nodes = pd.DataFrame({"key": pd.Categorical(["a", "b", "c"]), "n": [1, 2, 3], "kind": [0, 1, 0]})
    graph = from_edges(
        edges, nodes, source="paper", target="cites", weight="strength", id="key", label="kind"
    )
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.adjacency.weights.tolist() == [2, 2, 3, 3]
    assert graph.feature_names == ("n",)
    assert graph.labels.classes == (0, 1)


def test_an_array_of_pairs_and_numbers_of_any_size():
    graph = from_edges(np.array([[7, 10**12], [10**12, -3]]))
    assert graph.ids.tolist() == [7, 10**12, -3]
    assert graph.n_edges == 2


def test_nodes_come_in_the_order_in_which_edges_name_them():
    assert from_edges((["z", "b"], ["y", "a"])).ids.tolist() == ["z", "y", "b", "a"]


class TestPyG:
    def data(self, **more):
        torch = pytest.importorskip("torch")
        pyg = pytest.importorskip("torch_geometric.data")
        edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        return pyg.Data(x=x, edge_index=edge_index, **{k: torch.tensor(v) for k, v in more.items()})

    def test_everything_is_taken(self):
        data = self.data(y=[2, 0, 2], edge_weight=[2.0, 2.0, 3.0, 3.0])
        graph = from_pyg(data)
        assert graph.n_edges == 2
        assert graph.adjacency.weights.tolist() == [2, 2, 3, 3]
        np.testing.assert_array_equal(graph.features.dense, data.x.numpy())
        assert graph.labels.to_arrow().to_pylist() == [2, 0, 2]

    def test_what_is_no_class_is_left_out_and_said(self):
        graph = from_pyg(self.data(y=[0.5, 1.5, 2.5]))
        assert graph.labels is None
        assert "not used" in graph.notes[0]


class FakeTensor(np.ndarray):
    """What from_pyg touches of a tensor."""

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return np.asarray(self)


def test_anything_that_looks_like_pyg_data_will_do():
    class Data:
        edge_index = np.array([[0, 1], [1, 2]]).view(FakeTensor)
        x = None
        y = np.array([[1], [0], [1]]).view(FakeTensor)
        num_nodes = 4

    Data.y = np.array([[1], [0], [1], [0]]).view(FakeTensor)
    graph = from_pyg(Data)
    assert (graph.n_nodes, graph.n_edges) == (4, 2)
    assert graph.labels.codes.tolist() == [1, 0, 1, 0]
    assert "1 of 4 nodes have no edges" in graph.notes[0]
    Data.num_nodes = 2
    with pytest.raises(ValueError, match="edge_index names node 2, but there are 2 nodes"):
        from_pyg(Data)


def test_no_framework_is_imported():
    import subprocess
    import sys

    code = (  # pandas is not in the list: pyarrow loads it by itself where it is installed
        "import sys; from nafs import from_edges, from_networkx; from_edges(([1, 2], [2, 3]));"
        "print([m for m in ('polars', 'networkx', 'igraph', 'torch', 'matplotlib') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# --- the rules for what does not match --------------------------------------------------------------------


def test_ids_without_features_get_zeros_and_are_reported():
    with pytest.warns(UserWarning, match=r"1 of 3 nodes have no features and get zeros .*'cy'"):
        graph = from_edges((["ann", "bob"], ["bob", "cy"]), {"id": ["bob", "ann"], "x": [1, 2]})
    assert graph.ids.tolist() == ["bob", "ann", "cy"]
    assert graph.features.dense.tolist() == [[1], [2], [0]]
    assert "1 of 3 nodes have no features" in graph.notes[0]


def test_features_without_edges_stay_as_isolated_nodes():
    graph = from_edges((["a"], ["b"]), {"id": ["c", "a", "b"], "x": [1, 2, 3]})
    assert graph.ids.tolist() == ["c", "a", "b"]
    assert graph.notes == ("1 of 3 nodes have no edges",)


def test_an_id_that_comes_twice_is_refused_with_its_rows():
    with pytest.raises(ValueError, match=r"nodes: id 'a' comes 2 times \(rows 1 and 3\)"):
        from_edges((["a"], ["b"]), {"id": ["a", "b", "a"], "x": [1, 2, 3]})


def test_ids_that_never_meet_are_refused():
    with pytest.raises(
        ValueError, match=r"none of its ids \('1', '2'\) is among the edges' ids \('a', 'b'\)"
    ):
        from_edges((["a"], ["b"]), {"id": [1, 2], "x": [1, 2]})


def test_numbers_meet_numbers_written_as_text():
    graph = from_edges((["1", "2"], ["2", "3"]), {"id": [3, 2, 1], "x": [1, 2, 3]})
    assert graph.ids.tolist() == [3, 2, 1]
    with pytest.warns(UserWarning, match="no features"):
        mixed = from_edges((["1", "x"], ["x", "2"]), {"id": [2, 1], "x": [5, 6]})
    assert mixed.ids.tolist() == ["2", "1", "x"], "numbers become text where an id is none"
    kept = from_edges((["01", "2"], ["2", "1"]))
    assert kept.ids.tolist() == ["01", "2", "1"], "01 is not 1"


def test_weights_and_ids_that_make_no_sense():
    with pytest.raises(ValueError, match=r"weight of edge 2 is -1\.0"):
        from_edges((["a", "b"], ["b", "c"], [1, -1]))
    with pytest.raises(ValueError, match="weight of edge 1 is missing"):
        from_edges((["a", "b"], ["b", "c"], [np.nan, 1]))
    with pytest.raises(ValueError, match="id in row 2 is missing"):
        from_edges((["a", None], ["b", "c"]))
    with pytest.raises(ValueError, match=r"id 1\.5 in row 1 is not a whole number"):
        from_edges(([1.5], [2.0]))
    with pytest.raises(ValueError, match="differ in length: 2 sources, 1 targets"):
        from_edges((["a", "b"], ["b"]))
    with pytest.raises(TypeError, match="ids must be whole numbers or strings"):
        from_edges(([True], [False]))


def test_other_things_are_refused_by_name():
    with pytest.raises(TypeError, match="edges must be a data frame"):
        from_edges(42)
    with pytest.raises(TypeError, match=r"expected a NetworkX graph; got builtins\.int"):
        from_networkx(3)
    with pytest.raises(TypeError, match="expected an igraph"):
        from_igraph(3)
    with pytest.raises(TypeError, match="edge_index"):
        from_pyg(3)
    with pytest.raises(TypeError, match=r"node \(0, 0\) is neither"):
        from_networkx(nx.grid_2d_graph(1, 3))
    with pytest.raises(ValueError, match="no column 'nope' for the source; there are 'source', 'target'"):
        from_edges({"source": [1], "target": [2]}, source="nope")
    with pytest.raises(ValueError, match=r"column 'name' holds .*string.*, not numbers"):
        from_edges((["a"], ["b"]), {"id": ["a", "b"], "name": ["x", "y"]})
    with pytest.raises(ValueError, match="lists of column 'v' differ in length"):
        from_edges((["a"], ["b"]), {"id": ["a", "b"], "v": [[1.0], [1.0, 2.0]]})
    graph = nx.Graph([("a", "b")])
    graph.nodes["a"]["x"], graph.nodes["b"]["x"] = [1, 2], [3]
    with pytest.raises(ValueError, match="node 'b' has 1 features where others have 2"):
        from_networkx(graph)


# --- text tables --------------------------------------------------------------------------------------------


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
        ("name,other\n1,2\n2,3\n", [1, 2, 3], None),
    ],
)
def test_edge_lists_as_people_write_them(tmp_path, text, ids, weights):
    path = tmp_path / "edges.txt"
    path.write_bytes(text.encode())
    graph = read_graph(path)
    assert graph.ids.tolist() == ids
    found = graph.adjacency.weights
    assert (None if found is None else found.tolist()) == weights
    (tmp_path / "edges.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert_same(read_graph(tmp_path / "edges.txt.gz"), graph)


def test_what_the_user_says_beats_the_guess(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("a,b,2,9\nb,c,3,9\n")
    graph = read_graph(path, source=2, target=1, weight=3, header=False)
    assert graph.ids.tolist() == ["b", "a", "c"]
    assert graph.adjacency.weights.tolist() == [2, 3, 2, 3]
    assert "column4 not used" in " ".join(graph.notes)
    assert read_graph(path, header=True).n_edges == 1


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
    with pytest.raises(ValueError, match=r"s4\.csv: its columns \(from, to, when\) are not those of"):
        read_graph(tmp_path / "s?.csv")


def test_a_first_line_that_may_be_a_header_is_pointed_out(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("follower,followee\na,b\nb,c\n")
    assert any(
        "the first line (follower, followee) is taken as an edge" in note for note in read_graph(path).notes
    )
    assert read_graph(path, header=True).n_edges == 2
    path.write_text("a,b\nb,c\n")
    assert read_graph(path).notes == ()


def test_a_sign_inside_values_is_not_a_comment(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("# made by hand\na#1,b\nb,c#2\n")
    assert read_graph(path).ids.tolist() == ["a#1", "b", "c#2"]
    path.write_text("a,b\n# in between\nb,c\n")
    assert read_graph(path).ids.tolist() == ["a", "b", "c"]
    path.write_text("a,b\n# in between\nb,c#2\n")
    with pytest.raises(ValueError, match="comments cannot be told from values"):
        read_graph(path)


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
    assert any("column(s) column1, day not used" in note for note in graph.notes)
    assert any("labels come from column 'Label'" in note for note in graph.notes)
    with pytest.raises(ValueError, match=r"'mo' in column 'day' is not a number.*--ignore"):
        read_graph(tmp_path / "e.csv", tmp_path / "n.csv")
    (tmp_path / "y.csv").write_text("id,label\na,1\nb,2\nc,3\n")
    graph = read_graph(tmp_path / "e.csv", tmp_path / "y.csv")
    assert graph.features is None
    assert any("no feature columns" in note for note in graph.notes)


def test_tables_in_the_wrong_place(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\nb,c\n")
    (tmp_path / "f.csv").write_text("id,f0,f1\na,0.25,1.5\nb,0.125,2.5\nc,-3.75,1.5\n")
    with pytest.raises(ValueError, match="look like measurements"):
        read_graph(tmp_path / "f.csv")
    with pytest.raises(ValueError, match=r"'f0' holds measurements such as 0\.25, not classes"):
        read_graph(tmp_path / "e.csv", labels=tmp_path / "f.csv")
    with pytest.raises(TypeError, match="several files are named by a pattern"):
        read_graph([tmp_path / "e.csv"])


def test_weights_can_be_ignored_and_times_are_pointed_out(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("1 2 1082040961\n2 3 1082155839\n")
    graph = read_graph(path)
    assert any("they look like times" in note for note in graph.notes)
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


def test_the_index_of_a_frame_is_an_id_or_nothing():
    edges = (["a", "b"], ["b", "c"])
    frame = pd.DataFrame({"id": ["a", "b", "c"], "x": [1, 2, 3]}, index=[7, 8, 9])
    assert from_edges(edges, frame).feature_names == ("x",)
    named = pd.DataFrame(
        {"x": [1, 2, 3], "name": ["p", "q", "r"]}, index=pd.Index(["a", "b", "c"], name="page")
    )
    assert from_edges(edges, named, features=["x"]).ids.tolist() == ["a", "b", "c"]


def test_weights_of_repeated_edges_add_up_exactly():
    many = (["a"] * 10**5, ["b"] * 10**5, [0.1] * 10**5)
    assert from_edges(many).adjacency.weights[0] == np.float32(10**4)
    W = sp.coo_array(
        (np.full(10**5, 0.1, np.float32), (np.zeros(10**5, int), np.ones(10**5, int))), shape=(2, 2)
    )
    assert Graph(W, directed=False).adjacency.weights[0] == np.float32(10**5 * float(np.float32(0.1)))
    both_ways = from_edges((["a", "b"], ["b", "a"], [2.0, 3.5]))
    assert both_ways.adjacency.weights.tolist() == [3.5, 3.5]


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
        with pytest.raises(ValueError, match="'0,5' in column 'column3' is not a number"):
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


def test_an_attribute_that_one_node_lacks_is_zero_there():
    graph = nx.Graph([("a", "b")])
    graph.nodes["a"].update(p=1, q=2)
    graph.nodes["b"].update(p=3)
    assert from_networkx(graph, features=["p", "q"]).features.dense.tolist() == [[1, 2], [3, 0]]


def test_the_label_column_is_looked_for_in_the_label_table(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\n")
    (tmp_path / "f.csv").write_text("id,x\na,1\nb,2\n")
    (tmp_path / "l.csv").write_text("id,size,community\na,5,one\nb,6,two\n")
    graph = read_graph(tmp_path / "e.csv", tmp_path / "f.csv", tmp_path / "l.csv", label="community")
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


@FEW
@given(graph=graphs(text_ids=True, features=True))
def test_a_node_table_names_the_rows_of_a_matrix(tmp_path_factory, graph):
    folder = tmp_path_factory.mktemp("trip")
    write_graph(graph, folder / "a.mtx")
    write_nodes(graph, folder / "n.parquet")
    assert_same(read_graph(folder / "a.mtx", folder / "n.parquet"), graph)
    Graph(graph.adjacency).save(folder / "nameless")
    assert_same(read_graph(folder / "nameless", folder / "n.parquet"), graph)


def test_what_networkx_knows_and_is_not_used_is_said():
    graph = nx.DiGraph([("a", "b")])
    graph.nodes["a"]["age"] = 3
    notes = " ".join(from_networkx(graph).notes)
    assert "the graph is directed; its edges count both ways" in notes
    assert "node attributes age are not used" in notes


@pytest.mark.parametrize(
    "edges",
    [
        [("a", "b", 2.0), ("b", "c", 3.0)],
        np.array([["a", "b", "2"], ["b", "c", "3"]], dtype=object),
        (["a", "b"], ["b", "c"], [2, 3]),
    ],
)
def test_edges_as_lists_and_arrays(edges):
    if isinstance(edges, np.ndarray):
        edges[:, 2] = [2, 3]
    graph = from_edges(edges)
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.adjacency.weights.tolist() == [2, 2, 3, 3]


def test_an_edge_index_is_an_array_of_two_rows():
    assert from_edges(np.array([[0, 1, 2, 3], [1, 2, 3, 0]])).n_edges == 4
    with pytest.raises(ValueError, match=r"got \(4, 5\)"):
        from_edges(np.zeros((4, 5), int))


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
        found = graph.features.sparse.toarray() if graph.features.dense is None else graph.features.dense
        np.testing.assert_array_equal(found, X)
        assert graph.labels.codes.tolist() == [1, 0, 1]
    graph = read_graph(tmp_path / "e.csv", tmp_path / "x.parquet", tmp_path / "y.csv")
    assert graph.ids.tolist() == [2, 0, 1]
    np.testing.assert_array_equal(graph.features.dense, X[[2, 0, 1]])
    assert graph.labels.codes.tolist() == [1, 1, 0]
    # A matrix for edges, tables for the rest: the matrix says the order.
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
    assert any("1 of its ids are no nodes and are left out" in note for note in again.notes)
    assert again.features.dense.tolist() == graph.features.dense.tolist()
    np.save(tmp_path / "x.npy", np.eye(4))
    assert read_graph(tmp_path / "g", tmp_path / "x.npy").features.dense.tolist() == np.eye(4).tolist()
    with pytest.raises(ValueError, match="read its source again"):
        read_graph(tmp_path / "g", directed=True)
    with pytest.raises(ValueError, match="name columns of a table"):
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
    assert any("1 of its ids are no nodes and are left out" in note for note in graph.notes)
