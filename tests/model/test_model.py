"""Updates of a model equal full runs."""

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from closeness import assert_close
from hypothesis import given
from hypothesis import strategies as st
from models import assert_equal_to_full, model_of
from random_graphs import hub_graph

from nafs import Graph, from_edges
from nafs._support.errors import InputError
from nafs.datasets import power_law
from nafs.model import Model, _updates, kept_nbytes
from nafs.pipeline import Settings
from nafs.smoothing import Method

R = (0.0, 0.3, 0.5)


@pytest.mark.parametrize("weighting", ["adaptive", "linear", "average", "last"])
@pytest.mark.parametrize("ensemble", ["mean", "max", "concat"])
def test_a_model_holds_the_embedding(ensemble, weighting):
    assert_equal_to_full(model_of(0, Method(4, R, ensemble, weighting)))


@st.composite
def changes(draw):
    """A few updates: edges among old and new nodes, features, removals."""
    steps = []
    for _ in range(draw(st.integers(1, 3))):
        seed = draw(st.integers(0, 10**6))
        kinds = draw(st.sets(st.sampled_from(["edges", "features", "cut", "nodes"]), min_size=1))
        steps.append((seed, kinds))
    return steps


def one_update(model, seed, kinds, tolerance):
    rng = np.random.default_rng(seed)
    ids = model.ids.tolist()
    arguments = {}
    if "nodes" in kinds:
        gone = rng.choice(ids, 3, replace=False).tolist()
        arguments["remove_nodes"] = gone
        ids = [name for name in ids if name not in gone]
    if "cut" in kinds:
        A = model.graph.adjacency
        pairs = np.column_stack([A.rows, A.indices])
        pairs = [
            (model.ids[a], model.ids[b])
            for a, b in pairs
            if a < b and {model.ids[a], model.ids[b]} <= set(ids)
        ]
        if pairs:
            some = [pairs[i] for i in rng.choice(len(pairs), min(3, len(pairs)), replace=False)]
            arguments["remove_edges"] = tuple(zip(*some, strict=True))
    if "edges" in kinds:
        fresh = [f"new{rng.integers(50)}" for _ in range(3)]  # some come back
        ends = rng.choice([*ids, *fresh], (6, 2))
        arguments["edges"] = (ends[:, 0].tolist(), ends[:, 1].tolist())
    if "features" in kinds:
        some = rng.choice([*ids, "new1"], 2, replace=False).tolist()
        arguments["features"] = (some, rng.normal(size=(2, 10)))
    return model.update(tolerance=tolerance, missing="zeros", **arguments)


@given(
    changes(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["mean", "max", "concat"]),
    st.sampled_from(["adaptive", "adaptive", "linear", "average", "last"]),
    st.integers(0, 3),
)
def test_updates_equal_full_runs(steps, weighted, directed, ensemble, weighting, hops):
    model = model_of(1, Method(hops, R, ensemble, weighting), weighted=weighted, directed=directed)
    for seed, kinds in steps:
        one_update(model, seed, kinds, tolerance=0.0)
        assert_equal_to_full(model)


@given(st.integers(0, 10**6))
def test_dropped_differences_do_not_show(seed):
    rng = np.random.default_rng(seed)
    graph = power_law(1500, average_degree=6, n_features=12, seed=seed % 7)
    model = Model.build(graph, Method(3, R), n_threads=1)
    ends = rng.integers(0, 1500, 10)
    report = model.update(
        edges=(np.repeat([1500, 1501], 5), ends), features=([1500, 1501], rng.normal(size=(2, 12)))
    )
    assert_equal_to_full(model)
    assert report.recomputed <= 1502


@pytest.mark.parametrize(
    ("ensemble", "weighting"), [("mean", "adaptive"), ("concat", "linear"), ("max", "last")]
)
def test_fifty_updates_in_a_row_equal_a_full_run(ensemble, weighting):
    graph = power_law(3000, average_degree=6, n_features=12, seed=0)
    model = Model.build(graph, Method(3, R, ensemble, weighting), n_threads=1)
    rng = np.random.default_rng(0)
    n_full = 0
    for step in range(50):
        new = 3000 + step
        ends, row = rng.integers(0, new, 3), rng.normal(size=(1, 12))
        gone = {"remove_nodes": [int(rng.choice(model.ids[:-1]))]} if step % 10 == 9 else {}
        ends = [
            end for end in ends.tolist() if end in set(model.ids.tolist()) - set(gone.get("remove_nodes", []))
        ]
        report = model.update(edges=([new] * len(ends), ends), features=([new], row), **gone)
        n_full += report.full
    assert n_full < 50
    assert (model._store.kept.dropped > 0).any()
    assert_equal_to_full(model)


def test_dropped_differences_that_change_the_weights_of_hops_count_as_well():
    # States of centred features are short, so that small differences turn them and shift the weights.
    n, rng = 8000, np.random.default_rng(0)
    graph = Graph(power_law(n, average_degree=20, seed=0).adjacency, rng.normal(size=(n, 64)))
    model = Model.build(graph, Method(3), n_threads=1)
    for new in range(n, n + 6):
        model.update(edges=([new] * 3, rng.integers(0, n, 3)), features=([new], rng.normal(size=(1, 64))))
    full = Model.build(model.graph, Method(3), n_threads=1).matrix
    assert (model._store.kept.dropped > 0).any()
    assert (np.abs(model.matrix - full).max(axis=1) <= 1e-5 * np.abs(full).max(axis=1)).all()


@pytest.mark.parametrize(("hops", "weighting"), [(2, "average"), (2, "adaptive"), (3, "adaptive")])
def test_neighbours_may_drop_later_what_the_last_hop_dropped_first(hops, weighting, monkeypatch):
    monkeypatch.setattr("nafs.model.updating.full_time", lambda *_: np.inf)  # follow every change
    n, middle = 24, 12
    step = np.roll(np.eye(n), 1, axis=1)
    X = np.column_stack([np.ones(n), np.linspace(0.5, 1, n)]).astype(np.float32)
    model = Model.build(Graph(step + step.T, X), Method(hops, (0.0,), weighting=weighting), n_threads=1)

    def raise_features(node, amount):
        X[node] += np.float32(amount)
        model.update(features=([node], X[[node]]))

    for _ in range(12):  # large enough to be followed up to the last hop, and small there
        for node in (middle - hops, middle + hops):
            raise_features(node, 3.1e-5 * 3 ** (hops - 2))
    for _ in range(16):  # so small that neighbours drop them one hop before
        for node in range(middle - 2, middle + 3):
            raise_features(node, 0.4e-5)
    assert_close(model.matrix, oracle.embedding(step + step.T, X, hops, (0.0,), "mean", weighting, "cosine"))


def test_updates_do_not_depend_on_threads_or_instructions():
    graph = power_law(2000, average_degree=8, n_features=20, seed=1)
    rng = np.random.default_rng(0)
    ends, rows = rng.integers(0, 2000, 10), rng.normal(size=(2, 20))
    results = []
    for loops, threads in (("v3", 1), ("v3", 2), ("baseline", 1)):
        try:
            _updates.use(loops)
        except ValueError:  # this machine has one kind of loops only
            continue
        model = Model.build(graph, Method(3, R), n_threads=threads)
        model.update(edges=(np.repeat([2000, 2001], 5), ends), features=([2000, 2001], rows))
        results.append(model.matrix.copy())
    if len(results) > 1:
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_allclose(results[0], results[2], atol=1e-5)


def test_hubs():
    A, X = hub_graph(8)
    model = Model.build(Graph(A, X), Method(3, R), n_threads=1)
    model.update(edges=([0, 1000], [320, 0]), features=([1000], [np.ones(8)]))
    assert_equal_to_full(model)


def test_a_large_change_is_a_full_run_and_distances_to_the_stationary_state_always_are():
    graph = power_law(20_000, average_degree=6, n_features=16, seed=0)
    model = Model.build(graph, Method(3, R), n_threads=1)
    rng = np.random.default_rng(0)
    report = model.update(features=(model.ids.tolist(), rng.normal(size=(20_000, 16))))
    assert report.full
    assert report.share == 1
    assert "faster" in report.explain()
    assert_equal_to_full(model)
    model = model_of(2, Method(3, R, distance="euclidean"))
    assert model.update(edges=(["n1"], ["n2"])).full


def test_the_report_says_what_was_recomputed():
    chain = sp.diags_array([np.ones(99), np.ones(99)], offsets=[1, -1])
    model = Model.build(Graph(chain, np.eye(100)), Method(2, (0.5,)), n_threads=1)
    report = model.update(edges=([99], [100]), features=([100], [np.ones(100)]), tolerance=0.0)
    assert (report.new, report.changed, report.full) == (1, 1, False)
    assert report.recomputed == 4  # the new node, its neighbour and two further
    assert_equal_to_full(model)


def test_ids_come_back_and_unknown_ids_are_named():
    model = model_of(3, Method(2, R))
    before = model.matrix.copy()
    edges = [model.ids[i] for i in model.graph.adjacency.indices[: model.graph.adjacency.indptr[1]]]
    row = model.graph.features.toarray()[0]
    model.update(remove_nodes=["n0"], tolerance=0.0)
    assert "n0" not in model.ids.tolist()
    with pytest.raises(InputError, match="unknown id 'n0'"):
        model.update(remove_nodes=["n0"])
    model.update(edges=(["n0"] * len(edges), edges), features=(["n0"], [row]), tolerance=0.0)
    np.testing.assert_allclose(model.matrix, before, atol=1e-5)
    with pytest.raises(InputError, match="no edge between"):
        model.update(remove_edges=(["n1"], ["n1"]))
    with pytest.raises(InputError, match="the model has 10"):
        model.update(features=(["n1"], [[1.0]]))


def test_embed_new_is_close_to_the_full_result_and_leaves_the_model_alone():
    graph = power_law(2000, average_degree=10, n_features=16, seed=0)
    model = Model.build(graph, Method(3, R), n_threads=1)
    before = model.matrix.copy()
    rng = np.random.default_rng(0)
    for _ in range(3):
        x, neighbors = rng.normal(size=16), rng.choice(2000, 5, replace=False)
        row = model.embed_new(x, neighbors)
        np.testing.assert_array_equal(model.matrix, before)
        other = Model.build(graph, Method(3, R), n_threads=1)
        other.update(edges=([2000] * 5, neighbors), features=([2000], [x]))
        full = other.matrix[-1]
        assert row @ full / np.linalg.norm(row) / np.linalg.norm(full) > 0.98


def test_embed_new_reads_its_edges_as_updates_do():
    model = model_of(6, Method(2, R))
    x = np.arange(10.0)
    np.testing.assert_array_equal(model.embed_new(x, ["n1", "n1"]), model.embed_new(x, ["n1"]))
    np.testing.assert_allclose(
        model.embed_new(x, ["n1", "n1"], [1, 2]), model.embed_new(x, ["n1"], [3]), rtol=1e-5
    )
    np.testing.assert_allclose(model.embed_new(x, []), x, rtol=1e-5)  # without a neighbour
    for weights in ([1], [[1, 1]], 0.5):
        with pytest.raises(InputError, match="weights: 2 edges need a flat list of 2 weights; got the shape"):
            model.embed_new(x, ["n1", "n2"], weights)
    with pytest.raises(InputError, match="weights must be numbers"):
        model.embed_new(x, ["n1", "n2"], ["a", "b"])
    for weight in (-1, 0, np.nan, 1e39, 1e-50):
        with pytest.raises(InputError, match="weights must be positive numbers that float32 can hold"):
            model.embed_new(x, ["n1", "n2"], [1, weight])
        with pytest.raises(InputError, match=r"edges: weights must be positive.*; number 0 is"):
            model.update(edges=(["n1"], ["n2"], [weight]))


@pytest.mark.parametrize("settings", [Settings.of(n_hops=2), 2])
def test_the_ids_are_in_the_same_column_as_when_the_model_was_built(settings):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    ids = [f"{node:05d}" for node in range(200)]
    edges = pandas.DataFrame({"source": rng.choice(ids, 800), "target": rng.choice(ids, 800)})
    nodes = pandas.DataFrame(
        {"customer": ids, "age": rng.normal(40, 9, 200), "postcode": rng.permutation(ids)}
    )
    graph = from_edges(edges, nodes, id_column="customer", ignore=["postcode"])
    model = Model.build(graph, settings)
    before = model.matrix.copy()
    new = pandas.DataFrame({"customer": ["00201"], "age": [99.0], "postcode": ["00123"]})
    report = model.update(features=new)
    assert report.new == 1
    assert "00201" in model.ids
    np.testing.assert_array_equal(model.matrix[:200], before)


def test_a_guessed_column_of_ids_is_noted():
    pandas = pytest.importorskip("pandas")
    path = Graph(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.ones((3, 1)), ids=["a", "b", "c"])
    model = Model.build(path, 1)
    report = model.update(features=pandas.DataFrame({"key": ["a"], "f0": [2.0]}))
    assert "the column 'key' was taken as the ids of the features" in report.notes


def test_empty_lists_change_nothing():
    model = model_of(6, Method(2, R))
    before = model.matrix.copy()
    report = model.update(edges=([], []), remove_nodes=[], remove_edges=([], []))
    assert (report.new, report.removed, report.changed, report.recomputed) == (0, 0, 0, 0)
    np.testing.assert_array_equal(model.matrix, before)


def test_models_are_saved_and_loaded(tmp_path):
    model = model_of(4, Method(3, R), weighted=True)
    model.update(remove_nodes=["n5"])
    model.save(tmp_path / "model")
    again = Model.load(tmp_path / "model", n_threads=1)
    np.testing.assert_array_equal(again.matrix, model.matrix)
    assert again.ids.tolist() == model.ids.tolist()
    for each in (model, again):
        each.update(edges=(["n1", "n7"], ["n5", "n9"]), features=(["n5"], [np.ones(10)]), tolerance=0.0)
        assert_equal_to_full(each)
    assert Model.load(tmp_path / "model").ids.tolist() != again.ids.tolist()  # the files stay as they were
    with pytest.raises(InputError, match=r"no model\.json"):
        Model.load(tmp_path)


def test_the_size_is_known_before():
    model = model_of(5, Method(3, R))
    assert kept_nbytes(60, 10, Method(3, R)) == model.nbytes
