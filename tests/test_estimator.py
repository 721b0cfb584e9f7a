"""NAFS keeps scikit-learn's contract."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from random_graphs import random_graph
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from nafs import (
    NAFS,
    Graph,
    Progress,
    oversmoothing_bound,
    oversmoothing_distances,
    smoothed_features,
    smoothing_weights,
)

# A node's embedding depends on the other rows: they are its neighbours.
EXPECTED = {
    "check_methods_subset_invariance": "rows are smoothed over each other, so a subset differs",
    "check_methods_sample_order_invariance": "neighbours are summed in the order of rows: float32 "
    "rounding differs by more than the check's 1e-9",
}
SUBSET_ONLY = {"check_methods_subset_invariance": EXPECTED["check_methods_subset_invariance"]}


@parametrize_with_checks(
    [NAFS(), NAFS(3, 0.5, "concat", "linear", "euclidean", state_dtype="float16")],
    expected_failed_checks=lambda estimator: EXPECTED if estimator.n_hops > 3 else SUBSET_ONLY,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_exceptions_to_the_conventions_are_all_needed():
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(NAFS(), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set(EXPECTED)


def test_fit_and_fit_transform_agree():
    A, X = random_graph(0)
    model = NAFS(4)
    Z = model.fit_transform(X, adjacency=A)
    assert np.array_equal(NAFS(4).fit(X, adjacency=A).embedding_, Z)
    assert np.array_equal(model.transform(X, adjacency=A), Z)
    assert model.embedding_ is Z
    assert model.adjacency_.n_nodes == len(X)


def test_transform_needs_fit_and_the_same_features():
    A, X = random_graph(0)
    with pytest.raises(NotFittedError):
        NAFS().transform(X)
    with pytest.raises(ValueError, match="3 features"):
        NAFS().fit(X, adjacency=A).transform(X[:, :3], adjacency=A)
    for model in (NAFS().fit(X, adjacency=A), NAFS().fit(Graph(A, X))):
        with pytest.raises(ValueError, match="transform needs a graph, as fit did: pass adjacency"):
            model.transform(X)


def test_the_constructor_stores_and_fit_checks():
    broken = NAFS(n_hops=-1, r=7, ensemble="sum")
    assert broken.get_params()["n_hops"] == -1
    assert clone(broken).r == 7
    with pytest.raises(ValueError, match="n_hops must be 0 or more"):
        broken.fit(np.eye(3))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_hops": -1}, ValueError, "n_hops must be 0 or more; got -1"),
        ({"n_hops": 2.5}, TypeError, "n_hops must be an integer; got 2.5"),
        ({"n_hops": True}, TypeError, "n_hops must be an integer"),
        ({"r": 1.2}, ValueError, r"r must lie in \[0, 1\]; got 1.2"),
        ({"r": (0.1, -0.1)}, ValueError, "got -0.1"),
        ({"r": float("nan")}, ValueError, "got nan"),
        ({"r": ()}, ValueError, "r is empty"),
        ({"r": "0.5"}, TypeError, "r must be a number"),
        ({"r": None}, TypeError, "r must be a number"),
        ({"r": ["x"]}, TypeError, "r must hold numbers"),
        (
            {"ensemble": "men"},
            ValueError,
            "'mean', 'max', 'concat'; got 'men' .did you mean 'mean'",
        ),
        ({"weighting": "soft"}, ValueError, "weighting must be one of"),
        ({"distance": "cosin"}, ValueError, "did you mean 'cosine'"),
        ({"state_dtype": "int8"}, ValueError, "state_dtype must be one of"),
        ({"n_threads": 0}, ValueError, "n_threads must lie in 1..1024"),
        ({"n_threads": 2.0}, TypeError, "n_threads must be an integer"),
        ({"memory_limit": "lots"}, ValueError, "must look like '4GB'"),
        ({"memory_limit": -5}, ValueError, "must be positive"),
        ({"r": {0.1, 0.2}}, TypeError, "list or tuple"),
        ({"self_loops": "no"}, TypeError, "self_loops must be True or False"),
        ({"memory_limit": 1.5}, TypeError, "memory_limit must be bytes"),
        ({"directed": "yes"}, TypeError, "directed must be True, False or None"),
        ({"metric": "nonsense"}, ValueError, "metric"),
    ],
)
def test_bad_parameters_are_refused(parameters, error, message):
    adjacency = np.eye(3)[::-1] if "metric" not in parameters else None
    with pytest.raises(error, match=message):
        NAFS(**parameters).fit(np.eye(3), adjacency=adjacency)


def test_a_failed_fit_leaves_nothing_behind():
    model = NAFS(ensemble="sum")
    with pytest.raises(ValueError, match="ensemble"):
        model.fit(np.eye(3))
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize("ensemble", ["mean", "concat"])
def test_names_and_data_frames(ensemble):
    A, X = random_graph(0, n_features=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"node{i}" for i in range(len(X))])
    model = NAFS(2, (0.0, 0.5), ensemble).set_output(transform="pandas")
    Z = model.fit_transform(frame, adjacency=A)
    names = ["a", "b", "c"]
    if ensemble == "concat":
        names = ["a_r0", "b_r0", "c_r0", "a_r0.5", "b_r0.5", "c_r0.5"]
    assert list(Z.columns) == names
    assert list(Z.index) == list(frame.index)
    assert np.array_equal(Z.to_numpy(), model.embedding_)
    assert list(NAFS(2, 0.5).fit(X, adjacency=A).get_feature_names_out()) == ["x0", "x1", "x2"]


def test_cloning_and_pickling():
    A, X = random_graph(0)
    model = NAFS(3, ensemble="max", memory_limit="1GB").fit(X, adjacency=A)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.embedding_, model.embedding_)
    assert clone(model).get_params() == model.get_params()


def test_a_pipeline_on_a_table():
    X = np.random.default_rng(0).normal(size=(40, 5))
    labels = make_pipeline(StandardScaler(), NAFS(3), KMeans(3, n_init=1)).fit_predict(X)
    assert set(labels) == {0, 1, 2}


def test_the_adjacency_is_routed_through_a_pipeline():
    A, X = random_graph(0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = NAFS(3).set_fit_request(adjacency=True).set_transform_request(adjacency=True)
        pipeline = make_pipeline(StandardScaler(), model, StandardScaler())
        Z = pipeline.fit_transform(X, adjacency=A)
        assert np.array_equal(pipeline.transform(X, adjacency=A), Z)
    scaled = StandardScaler().fit_transform(X)
    expected = StandardScaler().fit_transform(NAFS(3).fit_transform(scaled, adjacency=A))
    np.testing.assert_allclose(Z, expected, rtol=1e-5, atol=1e-6)


def test_sweeps_are_checked_before_they_start():
    with pytest.raises(ValueError, match="hops is empty"):
        NAFS().sweep(np.eye(3), hops=[])
    with pytest.raises(ValueError, match="hops must be 0 or more"):
        NAFS().sweep(np.eye(3), hops=[3, -1])
    with pytest.raises(ValueError, match="NaN"):
        NAFS().sweep([[np.nan]])
    assert [K for K, _ in NAFS(3).sweep(np.eye(3))] == [1, 2, 3]


def test_a_graph_passed_as_y_is_rejected():
    A, X = random_graph(0)
    for method in ("fit", "fit_transform"):
        with pytest.raises(TypeError, match="pass the graph as adjacency="):
            getattr(NAFS(), method)(X, A)


@pytest.mark.parametrize(
    "call", [smoothed_features, oversmoothing_distances, smoothing_weights, oversmoothing_bound]
)
def test_functions_of_one_r_accept_only_one(call):
    with pytest.raises(ValueError, match="r must be a single number here"):
        call(np.eye(2), np.eye(2)[::-1], 2, (0.0, 0.5))


def test_the_warning_about_direction_shows_the_callers_line():
    with pytest.warns(UserWarning, match="not symmetric") as record:
        NAFS(1).fit_transform(np.eye(2), adjacency=np.array([[0, 1], [0, 0]]))
    assert record[0].filename == __file__


def test_callbacks_and_hops_of_the_wrong_type_are_rejected():
    with pytest.raises(TypeError, match="progress must be callable"):
        NAFS().fit(np.eye(3), progress=True)
    with pytest.raises(TypeError, match="hops must be a sequence of integers"):
        NAFS().sweep(np.eye(3), hops=5)


def test_a_sweep_leaves_a_fitted_model_alone():
    A, X = random_graph(0)
    model = NAFS(2).fit(X, adjacency=A)
    list(model.sweep(X[:, :5], adjacency=A))
    assert model.n_features_in_ == 10
    assert np.array_equal(model.transform(X, adjacency=A), model.embedding_)


def test_progress_counts_up_to_the_end():
    A, X = random_graph(0)
    seen = []
    NAFS(4, (0.0, 0.5)).fit(X, adjacency=A, progress=seen.append)
    assert all(isinstance(step, Progress) for step in seen)
    assert [step.done for step in seen] == sorted({step.done for step in seen})
    assert seen[-1].done == seen[-1].total == len(X) * 5 * 2
    assert (seen[-1].hop, seen[-1].n_hops, seen[-1].r) == (4, 4, (0.5,))
    swept = []
    list(NAFS().sweep(X, adjacency=A, hops=[2], progress=swept.append))
    assert swept[-1].done == swept[-1].total


def test_an_error_in_the_callback_stops_the_run():
    def stop(step):
        raise RuntimeError("enough")

    A, X = random_graph(0)
    with pytest.raises(RuntimeError, match="enough"):
        NAFS().fit(X, adjacency=A, progress=stop)


def test_sparse_tables_without_a_graph():
    X = sp.random_array((30, 20), density=0.2, rng=np.random.default_rng(0), format="csr")
    np.testing.assert_allclose(NAFS(3).fit_transform(X), NAFS(3).fit_transform(X.toarray()), atol=1e-6)
