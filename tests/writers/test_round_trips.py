"""What is written is read back the same: ids, order, weights, labels."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import assert_same, graphs
from hypothesis import given, settings
from random_graphs import random_graph

from nafs import Graph, read_graph
from nafs.writers import write_graph, write_nodes

FEW = settings(max_examples=25, deadline=None)


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


@FEW
@given(graph=graphs(text_ids=True, features=True))
def test_a_node_table_names_the_rows_of_a_matrix(tmp_path_factory, graph):
    folder = tmp_path_factory.mktemp("trip")
    write_graph(graph, folder / "a.mtx")
    write_nodes(graph, folder / "n.parquet")
    assert_same(read_graph(folder / "a.mtx", folder / "n.parquet"), graph)
    Graph(graph.adjacency).save(folder / "nameless")
    assert_same(read_graph(folder / "nameless", folder / "n.parquet"), graph)
