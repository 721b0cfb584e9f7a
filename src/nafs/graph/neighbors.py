"""The k-nearest-neighbour graph of the rows of a table, for data without a graph."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs.graph.adjacency import Adjacency, read_adjacency


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
        Passed to scikit-learn.

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
    if not sp.issparse(features):
        features = np.asarray(features)
    n = features.shape[0]
    if n == 1:
        return read_adjacency(sp.csr_array((1, 1)))
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(
        features, min(int(n_neighbors), n - 1), metric=metric, include_self=False, n_jobs=n_jobs
    )
    return read_adjacency(graph, directed=False)
