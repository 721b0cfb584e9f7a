"""Renumbered nodes: a valid order, always the same, and no bit of a result changes."""

import itertools
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
from random_graphs import hub_graph, random_graph

from nafs import Graph
from nafs._support.errors import InputError
from nafs.datasets import power_law
from nafs.graph import read_adjacency, read_features
from nafs.smoothing import Method, _kernel
from nafs.smoothing.distances import DISTANCES
from nafs.smoothing.ensembles import ENSEMBLES
from nafs.smoothing.hops import Hops
from nafs.smoothing.order import community_order, with_order
from nafs.smoothing.weightings import WEIGHTINGS


def star(n):
    A = np.zeros((n, n))
    A[0, 1:] = A[1:, 0] = 1
    return A


GRAPHS = {
    "one node": sp.csr_array((1, 1)),
    "no edges": sp.csr_array((9, 9)),
    "star": star(300),
    "complete": np.ones((30, 30)) - np.eye(30),
    "hubs": hub_graph(3)[0],
    "random": random_graph(1, 200, 0.03)[0],
    "weighted": random_graph(2, 200, 0.03, weighted=True)[0],
    "power law": power_law(2000, average_degree=8, n_features=2, seed=3).adjacency,
}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_order_names_every_node_once_and_is_always_the_same(name):
    graph = read_adjacency(GRAPHS[name])
    first, again = community_order(graph), community_order(graph, n_threads=3)
    assert np.array_equal(np.sort(first.nodes), np.arange(graph.n_nodes))
    assert np.array_equal(first.nodes, again.nodes)
    assert np.array_equal(first.graph.indptr, again.graph.indptr)
    assert np.array_equal(first.graph.indices, again.graph.indices)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_renumbered_graph_is_the_same_graph(name):
    graph = read_adjacency(GRAPHS[name])
    renumbered = community_order(graph)
    nodes, rows = renumbered.nodes, renumbered.graph
    expected = graph.to_scipy().toarray()[np.ix_(nodes, nodes)]
    np.testing.assert_array_equal(rows.to_scipy().toarray(), expected)
    for i, node in enumerate(nodes):  # neighbours keep their order within a row
        row = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
        before = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        assert np.array_equal(nodes[row], before)


def test_communities_lie_together():
    rng = np.random.default_rng(0)
    n, size = 600, 30
    community = rng.permutation(np.arange(n) // size)
    near = np.equal.outer(community, community) & (rng.random((n, n)) < 0.4)
    A = near | (rng.random((n, n)) < 0.0005)
    graph = read_adjacency(A | A.T)

    def changes(labels):
        return int((np.diff(labels) != 0).sum())

    assert changes(community[community_order(graph).nodes]) < 0.1 * changes(community)


def test_heavy_edges_decide_in_weighted_graphs():
    A = np.zeros((8, 8))
    for i in range(8):  # a ring whose every other edge is heavy
        A[i, (i + 1) % 8] = A[(i + 1) % 8, i] = 9 if i % 2 else 1
    place = np.argsort(community_order(read_adjacency(A)).nodes)
    for i in (1, 3, 5, 7):
        assert abs(place[i] - place[(i + 1) % 8]) == 1


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("ensemble", "weighting", "distance"), list(itertools.product(ENSEMBLES, WEIGHTINGS, DISTANCES))
)
def test_no_bit_changes(ensemble, weighting, distance, sparse, weighted):
    A, X = random_graph(5, 150, 0.05, weighted=weighted, n_features=20)
    if sparse:
        X[np.random.default_rng(5).random(X.shape) < 0.9] = 0
    graph, features = read_adjacency(A), read_features(sp.csr_array(X) if sparse else X)
    method, renumbered = Method(4, (0.0, 0.4), ensemble, weighting, distance), community_order(graph)
    copies = [features.take(renumbered.nodes)]
    if not sparse:  # dense rows can be copied in part
        copies.append(features.take(renumbered.nodes[:70]))
    for state_dtype in ("float32", "float16"):
        results = []
        choices = [{}, {"order": renumbered}]
        choices += [{"order": renumbered, "arranged": copy} for copy in copies]
        # Nor does it matter which hops leave their share of the sum to a later one.
        runs = [*((options, {0, 1, 2, 3}) for options in choices), ({}, {0}), ({}, {1, 3}), ({}, set())]
        for options, postponed in runs:
            hops = Hops(graph, features, method, method.r, state_dtype=state_dtype, n_threads=2, **options)
            for k in range(5):
                hops.advance(postpone=k in postponed)
            out = np.empty((graph.n_nodes, method.n_columns(20)), np.float32)
            hops.write(out, 0)
            results.append(out.tobytes())
        assert len(set(results)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": np.zeros(3, np.int32)},
        {"order": np.array([0, 1, 7], np.int32)},
        {"new_indptr": np.zeros(3, np.int64)},
        {"new_indices": np.zeros(3, np.int32)},
        {"new_weights": np.zeros(4, np.float32)},
    ],
)
def test_wrong_orders_raise(wrong):
    graph = read_adjacency(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    right = {
        "indptr": graph.indptr,
        "indices": graph.indices,
        "weights": None,
        "order": np.arange(3, dtype=np.int32),
        "new_indptr": np.zeros(4, np.int64),
        "new_indices": np.zeros(4, np.int32),
        "new_weights": None,
        "threads": 1,
    }
    _kernel.renumber(**right)
    with pytest.raises(ValueError, match="kernel: "):
        _kernel.renumber(**{**right, **wrong})


def test_a_buffer_that_is_too_small_raises():
    graph = read_adjacency(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    buffer = np.zeros(_kernel.order_bytes(3, 4) - 1, np.uint8)
    with pytest.raises(ValueError, match="kernel: "):
        _kernel.community_order(graph.indptr, graph.indices, None, np.zeros(3, np.int32), buffer)


def test_the_order_can_be_interrupted():
    code = """
        import signal, numpy as np
        from nafs.graph import Adjacency
        from nafs.smoothing.order import community_order
        n, degree = 400_000, 24
        indices = np.random.default_rng(0).integers(0, n, n * degree, dtype=np.int32)
        graph = Adjacency(np.arange(0, n * degree + 1, degree), indices, None, True)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            community_order(graph)
        except KeyboardInterrupt:
            print("interrupted")
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "interrupted"


def test_a_saved_order_is_used_again_and_changes_no_bit(tmp_path, monkeypatch):
    pytest.importorskip("typer", reason="the command line writes the order")
    graph = power_law(3000, average_degree=8, n_features=4, seed=5)
    graph.save(tmp_path / "plain")
    target = tmp_path / "ordered"
    main_convert(tmp_path / "plain", target)
    loaded = Graph.load(target)
    expected = community_order(graph.adjacency)
    assert np.array_equal(loaded.adjacency.order, expected.nodes)

    def find(*_arguments):
        raise AssertionError("the order was found again")

    monkeypatch.setattr("nafs.smoothing.order._kernel", _NoOrder(find))
    again = community_order(loaded.adjacency)
    assert np.array_equal(again.graph.indices, expected.graph.indices)


class _NoOrder:
    """The kernel without its search for an order."""

    def __init__(self, find):
        self.community_order = find

    def __getattr__(self, name):
        return getattr(_kernel, name)


def main_convert(source, target):
    subprocess.run(
        [sys.executable, "-m", "nafs", "convert", source, target, "--order", "--quiet"], check=True
    )


@pytest.mark.parametrize("wrong", [[0, 1, 1], [0, 1, 3], [-1, 0, 1]])
def test_a_damaged_order_is_refused(tmp_path, wrong):
    graph = Graph(with_order(read_adjacency(star(3))))
    graph.save(tmp_path / "graph")
    np.save(tmp_path / "graph" / "order.npy", np.array(wrong, np.int32))
    with pytest.raises(InputError, match=r"order\.npy does not list every node once"):
        Graph.load(tmp_path / "graph")
