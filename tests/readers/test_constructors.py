"""Data frames, arrays and graphs of other libraries become the same graph."""

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from graphs import EDGES, LABELS, NODES, assert_same, reference

from nafs import Graph, from_edges, from_igraph, from_networkx, from_pyg, read_graph


def with_labels(frame):
    return frame.assign(label=pd.Series(LABELS, dtype=object))


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
        edges, nodes, source="paper", target="cites", weight="strength", id_column="key", label_column="kind"
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
        assert "not used" in graph.notes[1]


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
    assert "1 of 4 nodes have no edges" in graph.notes[1]
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


def test_ids_without_features_are_refused_or_get_zeros_and_are_reported():
    edges, nodes = (["ann", "bob"], ["bob", "cy"]), {"id": ["bob", "ann"], "x": [1, 2]}
    with pytest.raises(ValueError, match=r"1 of 3 nodes have no .*'cy'.*missing='zeros'"):
        from_edges(edges, nodes)
    with pytest.warns(UserWarning, match=r"1 of 3 nodes have no features and get zeros .*'cy'"):
        graph = from_edges(edges, nodes, missing="zeros")
    assert graph.ids.tolist() == ["bob", "ann", "cy"]
    assert graph.features.dense.tolist() == [[1], [2], [0]]
    assert "1 of 3 nodes have no features" in graph.notes[1]


def test_features_without_edges_stay_as_isolated_nodes():
    graph = from_edges((["a"], ["b"]), {"id": ["c", "a", "b"], "x": [1, 2, 3]})
    assert graph.ids.tolist() == ["c", "a", "b"]
    assert graph.notes[1:] == ("1 of 3 nodes have no edges",)


def test_an_id_that_comes_twice_is_refused_with_its_rows():
    with pytest.raises(ValueError, match=r"nodes: id 'a' occurs 2 times \(rows 1 and 3\)"):
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
        mixed = from_edges((["1", "x"], ["x", "2"]), {"id": [2, 1], "x": [5, 6]}, missing="zeros")
    assert mixed.ids.tolist() == ["2", "1", "x"], "numbers become text where an id is none"
    kept = from_edges((["01", "2"], ["2", "1"]))
    assert kept.ids.tolist() == ["01", "2", "1"], "01 is not 1"


def test_weights_and_ids_that_make_no_sense():
    with pytest.raises(ValueError, match=r"edge 2 \('b' → 'c'\): the weight is -1\.0"):
        from_edges((["a", "b"], ["b", "c"], [1, -1]))
    with pytest.raises(ValueError, match=r"edge 1 .*weight is missing"):
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
    with pytest.raises(ValueError, match=r"its columns give no features \(name: category"):
        from_edges((["a"], ["b"]), {"id": ["a", "b"], "name": ["x", "y"]})
    with pytest.raises(ValueError, match="lists of column 'v' differ in length"):
        from_edges((["a"], ["b"]), {"id": ["a", "b"], "v": [[1.0], [1.0, 2.0]]})
    graph = nx.Graph([("a", "b")])
    graph.nodes["a"]["x"], graph.nodes["b"]["x"] = [1, 2], [3]
    with pytest.raises(ValueError, match="node 'b' has 1 features where others have 2"):
        from_networkx(graph)


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


def test_what_networkx_knows_and_is_not_used_is_said():
    graph = nx.DiGraph([("a", "b")])
    graph.nodes["a"]["age"] = 3
    notes = " ".join(from_networkx(graph).notes)
    assert "1 row makes 1 undirected edge (direction dropped)" in notes
    assert "node attribute 'age' is not used" in notes


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


def test_labels_beside_frames():
    edges, nodes = (["a", "b"], ["b", "c"]), {"id": ["c", "b", "a"], "x": [1, 2, 3]}
    for labels in (pd.DataFrame({"id": ["a", "b"], "class": ["r", "s"]}), {"a": "r", "b": "s"}):
        graph = from_edges(edges, nodes, labels=labels)
        assert graph.labels.to_arrow().to_pylist() == [None, "s", "r"]
    with pytest.raises(ValueError, match="none of its ids"):
        from_edges(edges, nodes, labels={"z": "r"})
    with pytest.raises(ValueError, match="mapping of id to class"):
        from_edges(edges, nodes, labels=["r", "s"])
    with pytest.raises(TypeError, match=r"edges must be the path of a file; .*nafs.from_edges"):
        read_graph(pd.DataFrame({"source": [1], "target": [2]}))
