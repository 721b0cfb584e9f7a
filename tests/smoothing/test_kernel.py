"""The kernel raises on wrong calls instead of reading past a buffer, and counts in 64 bits."""

import sys

import numpy as np
import oracle
import pytest
import scipy.sparse as sp

from nafs import NAFS
from nafs.engines import cached
from nafs.graph import read_adjacency, read_features
from nafs.smoothing import Method, _kernel
from nafs.smoothing.hops import Hops

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


CALL = {
    "begin",
    "end",
    "state",
    "following",
    "owing",
    "opening",
    "postpone",
    "parts",
    "sums",
    "sums_before",
    "computed",
}


@pytest.fixture
def call():
    """Run a hop with valid arguments, except those that are overridden."""
    hops = Hops(read_adjacency(PATH), read_features(np.eye(3)), Method(3, (0.5,)), (0.5,))
    hops.advance()
    right = {**hops._bound, "begin": 0, "end": 3, "state": hops._state, "following": hops._next}

    def run(**wrong):
        arguments = {**right, **wrong}
        bound = {name: value for name, value in arguments.items() if name not in CALL}
        _kernel.HopKernel(**bound).run(**{name: arguments[name] for name in arguments if name in CALL})

    run()
    return run


@pytest.mark.parametrize(
    "wrong",
    [
        {"begin": -1},
        {"end": 4},
        {"begin": 2, "end": 1},
        {"features": 0},
        {"groups": 2},
        {"indptr": np.zeros(3, np.int64)},
        {"indptr": np.array([0, 1, 2, 99], np.int64)},
        {"weights": np.ones(1, np.float32)},
        {"state": np.zeros((2, 3), np.float32)},
        {"state": np.zeros((3, 3), np.int32)},
        {"following": np.zeros((3, 2), np.float32)},
        {"following": np.zeros((3, 3), np.float16)},
        {"sum": None},
        {"sum": np.zeros((3, 6), np.float32)[:, ::2]},
        {"total": np.zeros((1, 1), np.float32)},
        {"x": None},
        {"x": np.zeros((2, 3), np.float32)},
        {"x_norms": None},
        {"x_norms": np.zeros(2, np.float32)},
        {"x": None, "x_indptr": np.zeros(4, np.int64)},
        {"x": None, "x_indptr": np.zeros(2, np.int64)},
        {"centres": np.zeros((1, 3), np.float32), "component": np.zeros(2, np.int32)},
        {"centres": np.zeros((1, 2), np.float32), "component": np.zeros(3, np.int32)},
        {"distance": _kernel.Distance.stationary_cosine},
        {"centred": True},
        {"node": np.zeros(2, np.int32)},
        {"node": np.zeros(3, np.int32), "x": np.zeros((2, 3), np.float32)},
        {"owing": True, "postpone": True},
        {"postpone": True, "distances": np.zeros((3, 1), np.float32)},
        {"postpone": True, "following": None},
        {"postpone": True, "state": None, "sums": np.zeros((3, 2))},
        {"postpone": True, "state": None, "weighting": _kernel.Weighting.last},
        {"owing": True, "state": None},
        {"opening": True, "state": None},
        {"opening": True, "postpone": True},
        {"opening": True, "parts": np.zeros((3, 2))},
        {"owing": True, "sums": np.zeros((3, 2))},
        {"owing": False, "sums_before": np.zeros((3, 2))},
        {"computed": True},
        {"computed": True, "sums": np.zeros((3, 2)), "following": None},
        {"parts": np.zeros((3, 2)), "sums": np.zeros((3, 2))},
        {"sums": np.zeros((3, 1))},
        {"sums": np.zeros((3, 2)), "distance": _kernel.Distance.none},
    ],
)
def test_wrong_shapes_and_options_raise(call, wrong):
    with pytest.raises(ValueError, match="kernel: "):
        call(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"indices": np.zeros(4, np.int64)},
        {"sum": np.zeros((3, 3), np.float64)},
        {"inverse_degree": np.zeros(3)},
        {"distance": 1},
        {"weighting": "last"},
        {"scale": None},
    ],
)
def test_arrays_of_another_type_are_not_copied_silently(call, wrong):
    with pytest.raises(TypeError):
        call(**wrong)


@pytest.fixture
def columns():
    """Run a pass over panels of columns with valid arguments, except those that are overridden."""
    inputs = read_adjacency(PATH), read_features(np.eye(3))
    bound = cached._Panels(*inputs, n_hops=2, n_threads=1, together=False)._bound
    ones = np.ones(3, np.float32)
    passes = {
        "measure": {"begin": 0, "end": 1, "unscale": ones, "parts": np.zeros(8 * 3 * 3 * 2, np.float32)},
        "smooth": {
            "begin": 0,
            "end": 1,
            "unscale": ones,
            "weights": np.ones((3, 3), np.float32),
            "share": ones,
            "out": np.zeros((3, 3), np.float32),
            "ensemble": _kernel.Ensemble.write,
            "fresh": True,
        },
    }

    def run(which, **wrong):
        call = {name: wrong.pop(name, value) for name, value in passes[which].items()}
        getattr(_kernel.ColumnKernel(**{**bound, **wrong}), which)(**call)

    run("measure")
    run("smooth")
    return run


@pytest.mark.parametrize(
    "wrong",
    [
        {"begin": -1},
        {"end": 2},
        {"features": 0},
        {"hops": -1},
        {"hops": 3},
        {"slots": 0},
        {"indptr": np.array([0, 1, 2, 99], np.int64)},
        {"node": np.zeros(2, np.int32)},
        {"unscale": np.ones(2, np.float32)},
        {"x": None},
        {"x": np.zeros((3, 2), np.float32)},
        {"x": None, "x_indptr": np.zeros(3, np.int64)},
        {"buffers": np.zeros(3 * 3 * 32 - 1, np.float32)},
    ],
)
@pytest.mark.parametrize("which", ["measure", "smooth"])
def test_wrong_panels_raise(columns, which, wrong):
    with pytest.raises(ValueError, match="kernel: "):
        columns(which, **wrong)


@pytest.mark.parametrize(
    ("which", "wrong"),
    [
        ("measure", {"parts": np.zeros(7, np.float32)}),
        ("smooth", {"weights": np.ones((3, 2), np.float32)}),
        ("smooth", {"share": np.ones(2, np.float32)}),
        ("smooth", {"out": np.zeros((3, 2), np.float32)}),
    ],
)
def test_wrong_results_of_panels_raise(columns, which, wrong):
    with pytest.raises(ValueError, match="kernel: "):
        columns(which, **wrong)


def test_arrays_live_as_long_as_the_kernel_that_is_bound_to_them():
    hops = Hops(read_adjacency(PATH), read_features(np.eye(3)), Method(3, (0.5,)), (0.5,))
    norms = hops._bound["x_norms"]
    watched = sys.getrefcount(norms)
    kernel = _kernel.HopKernel(**hops._bound)
    assert sys.getrefcount(norms) > watched
    del kernel
    assert sys.getrefcount(norms) == watched


def test_a_state_cannot_be_overwritten(call):
    state = np.zeros((3, 3), np.float32)
    with pytest.raises(ValueError, match="cannot overwrite"):
        call(state=state, following=state)


def test_padding_is_only_used_where_the_array_has_it():
    graph, X = read_adjacency(PATH), read_features(np.ones((3, 70)))
    hops = Hops(graph, X, Method(3, (0.0,)), (0.0,))
    hops.advance()
    base = np.full((4, 72), 7.0, np.float32)
    hops._kernel.run(0, 3, state=hops._state, following=base[:3, 2:])
    assert np.allclose(base[:3, 2:], 1.0)
    assert (base[:, :2] == 7).all()
    assert (base[3] == 7).all()


def test_the_gather_probe_reads_every_neighbour():
    graph = read_adjacency(PATH)
    state = np.arange(9, dtype=np.float32).reshape(3, 3)
    expected = ((PATH + np.eye(3)) @ state).sum()
    assert _kernel.gather(graph.indptr, graph.indices, state, 2) == pytest.approx(expected)


@pytest.mark.slow
def test_states_of_more_than_two_to_the_31_elements():
    f, r = 8, tuple(np.linspace(0, 1, 16))
    n = 2**31 // (f * len(r)) + 1000
    nodes = np.arange(n, dtype=np.int32)
    ring = np.stack([np.roll(nodes, 1), np.roll(nodes, -1)], axis=1)
    ring.sort(axis=1)
    A = sp.csr_array((np.ones(2 * n, bool), ring.ravel(), np.arange(0, 2 * n + 1, 2)), shape=(n, n))
    X = np.random.default_rng(0).random((n, f), dtype=np.float32)
    Z = NAFS(2, r, "max", "last", state_dtype="float16", directed=True, memory_limit="12GB").fit_transform(
        X, adjacency=A
    )
    # Around any row a short ring looks the same: every node has two neighbours.
    for row in (0, n // 2, n - 900, n - 1):
        around = (row + np.arange(-5, 6)) % n
        small = np.zeros((11, 11))
        small[np.arange(11), (np.arange(11) + 1) % 11] = 1
        expected = oracle.embedding(small + small.T, X[around], 2, r, "max", "last", "cosine")[5]
        np.testing.assert_allclose(Z[row], expected, atol=2e-3)
