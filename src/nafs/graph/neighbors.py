"""The k-nearest-neighbour graph of the rows of a table, for data without a graph."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.blas import one_blas_thread
from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs.graph.adjacency import Adjacency, read_adjacency

_BLOCK, _FEWEST = 1024, 64  # rows that a thread asks for at a time
_DISTANCES = 1 << 26  # to all other rows that a thread may hold


def nearest_neighbor_graph(
    features: Any, n_neighbors: int = 10, metric: str = "euclidean", n_jobs: int | None = None
) -> Adjacency:
    """Connect each row to its nearest rows by undirected edges.

    Parameters
    ----------
    features : array or sparse matrix of shape (n, f)
    n_neighbors : int
        Neighbours of each row, not counting itself; at most all other rows.
    metric : str
        Any metric of :class:`sklearn.neighbors.NearestNeighbors`.
    n_jobs : int, optional
        Threads; by default, as many as there are processors. The graph does not depend on it.

    Returns
    -------
    Adjacency

    Examples
    --------
    >>> from nafs.graph import nearest_neighbor_graph
    >>> graph = nearest_neighbor_graph([[0.0], [0.1], [5.0], [5.1]], n_neighbors=1)
    >>> graph.indices.tolist()
    [1, 0, 3, 2]
    """
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, Integral):
        raise InputTypeError(Parameter("n_neighbors"), f" must be an integer; got {n_neighbors!r}")
    if n_neighbors < 1:
        raise InputError(Parameter("n_neighbors"), f" must be at least 1; got {n_neighbors}")
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise InputTypeError(Parameter("n_jobs"), f" must be an integer or None; got {n_jobs!r}")
    if n_jobs is not None and n_jobs < 1 and n_jobs != -1:
        raise InputError(Parameter("n_jobs"), f" must be at least 1, or -1 for all processors; got {n_jobs}")
    features = features.tocsr() if sp.issparse(features) else np.asarray(features)
    n = features.shape[0]
    if n == 1:
        return read_adjacency(sp.csr_array((1, 1)))
    places = _nearest(features, min(int(n_neighbors), n - 1), metric, n_jobs)
    starts = np.arange(n + 1) * places.shape[1]
    graph = sp.csr_array((np.ones(places.size), places.ravel(), starts), shape=(n, n))
    return read_adjacency(graph, directed=False)


def _nearest(features: Any, n_neighbors: int, metric: str, n_jobs: int | None) -> NDArray[np.int64]:
    """The places of the nearest rows, shape (n, n_neighbors).

    Which of several equally near rows scikit-learn returns depends on how its threads share the work. Here
    each of our threads asks for a block of rows and shares nothing, so the graph does not depend on their
    number.
    """
    from sklearn.neighbors import NearestNeighbors
    from threadpoolctl import threadpool_limits

    search = NearestNeighbors(metric=metric).fit(features)

    n = features.shape[0]
    step = max(_FEWEST, min(_BLOCK, _DISTANCES // n))  # some metrics need the distances to all other rows

    def block(begin: int) -> NDArray[np.int64]:
        rows = features[begin : begin + step]
        nearest = search.kneighbors(rows, n_neighbors + 1, return_distance=False)
        others = nearest != np.arange(begin, begin + rows.shape[0])[:, None]
        # Among equal rows, a row may not have found itself: then the farthest goes.
        others[others.all(axis=1), -1] = False
        return np.asarray(nearest[others].reshape(-1, n_neighbors), np.int64)

    workers = int(n_jobs) if n_jobs is not None and n_jobs > 0 else _processors()
    with (
        one_blas_thread(),
        ThreadPoolExecutor(workers, initializer=threadpool_limits, initargs=(1, "openmp")) as pool,
    ):
        return np.concatenate(list(pool.map(block, range(0, n, step))))


def _processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
