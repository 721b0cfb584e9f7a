"""Convert the arguments of an estimator's ``fit`` and ``transform`` to a job."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs._support.budget import check_limit
from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs.graph import Adjacency, Features, Graph, nearest_neighbor_graph, read_adjacency, read_features
from nafs.graph.adjacency import reading_nbytes
from nafs.graph.indices import check_indices
from nafs.pipeline.job import Job
from nafs.pipeline.settings import Settings


def refuse_graph_as_target(X: Any, y: Any) -> None:
    """Raise if a graph was passed as ``y``, which is ignored."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if isinstance(X, Graph) or len(shape) != 2:
        return
    if shape[0] == shape[1] > 1 and shape[:1] == np.shape(X)[:1]:
        raise InputTypeError("the second argument is y, which is ignored: pass the graph as adjacency=...")


def read_job(model: Any, settings: Settings, X: Any, adjacency: Any, *, reset: bool | None) -> Job:
    """The job for a call of an estimator.

    Parameters
    ----------
    model : NAFS
        Its ``n_features_in_`` and ``feature_names_in_`` are set or compared.
    settings : Settings
    X : array-like, sparse matrix or Graph
    adjacency : sparse matrix, optional
    reset : bool or None
        ``True``: the features define what the model expects. ``False``: they are compared with it. ``None``:
        neither.

    Returns
    -------
    Job
        An interrupted run in ``work_dir`` is always resumed if its inputs and settings are the same.
    """
    resume = settings.resources.work_dir is not None
    if isinstance(X, Graph):
        _check_graph(model, X, adjacency, reset)
        return Job.of(X, settings, resume=resume)
    if sp.issparse(X):
        check_indices(X, "features")  # before scikit-learn converts it
    checked = _validate(model, X, reset)
    features = read_features(checked)
    if adjacency is None:
        graph = nearest_neighbor_graph(
            checked, model.n_neighbors, model.metric, n_jobs=settings.resources.threads
        )
    else:
        check_limit(
            reading_nbytes(adjacency),
            settings.resources.limit,
            "converting the graph to canonical form may need",
            "raise the limit, or pass the result of nafs.graph.read_adjacency",
        )
        graph = read_adjacency(
            adjacency, features.shape[0], directed=model.directed, self_loops=model.self_loops
        )
    held = _copied(features, X) + _copied(graph, adjacency)
    return replace(Job(graph, features, settings), held=held, resume=resume)


def _validate(model: Any, X: Any, reset: bool | None) -> Any:
    from sklearn.utils.validation import check_array, validate_data

    if reset is None:
        return check_array(X, accept_sparse="csr", ensure_all_finite=False, input_name="X")
    return validate_data(model, X, accept_sparse="csr", ensure_all_finite=False, reset=reset)


def _check_graph(model: Any, graph: Graph, adjacency: Any, reset: bool | None) -> None:
    """Raise if a graph does not match the model."""
    if adjacency is not None:
        raise InputTypeError("a Graph has its own edges: leave adjacency out")
    if model.directed is not None and model.directed != graph.adjacency.directed:
        raise InputError(
            Parameter("directed", model.directed),
            ", but the graph was read with ",
            Parameter("directed", graph.adjacency.directed),
        )
    if graph.features is None:
        raise InputError(
            "the graph has no features; use nafs.embed(graph), which computes structural ones, or add some "
            "with graph.with_features(...)"
        )
    width = graph.features.shape[1]
    if reset:
        model.n_features_in_ = width
        if hasattr(model, "feature_names_in_"):
            del model.feature_names_in_
    elif reset is False and width != model.n_features_in_:
        raise InputError(f"the graph has {width} features, but fit saw {model.n_features_in_}")


def _copied(read: Features | Adjacency, original: Any) -> int:
    """Bytes that reading an input allocated besides the caller's own arrays."""
    if read is original or (isinstance(read, Features) and read.matrix is original):
        return 0
    return read.nbytes
