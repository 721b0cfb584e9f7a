"""The paper's quantities, node by node and hop by hop: for looking inside, not for embedding.

Each function smooths for a single r and keeps what the embedding throws away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice
from nafs.graph import read_adjacency, read_features
from nafs.smoothing import _kernel
from nafs.smoothing.distances import DISTANCES, distance_named
from nafs.smoothing.hops import Hops
from nafs.smoothing.method import Method, check_hops, check_one_r
from nafs.smoothing.threads import check_threads
from nafs.smoothing.weightings import WEIGHTINGS, weighting_named


def smoothed_features(
    features: Any,
    adjacency: Any,
    hop: int,
    r: float = 0.5,
    *,
    directed: bool | None = None,
    self_loops: bool = False,
    n_threads: int | None = None,
) -> NDArray[np.float32]:
    """Â_r^k X: the features after ``hop`` hops of smoothing.

    Parameters
    ----------
    features : array or sparse matrix of shape (n, f)
    adjacency : sparse matrix of shape (n, n)
    hop : int
    r : float in [0, 1]
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`.
    n_threads : int, optional

    Returns
    -------
    ndarray of float32, shape (n, f)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import smoothed_features
    >>> smoothed_features([[0.0], [4.0]], np.array([[0, 1], [1, 0]]), hop=1, r=0.0)
    array([[2.],
           [2.]], dtype=float32)
    """
    method = Method(check_hops(hop, "hop"), (check_one_r(r),), weighting="last")
    hops = _hops(features, adjacency, method, directed, self_loops, n_threads, distances=False)
    for last in _run(hops):
        result = last
    out = np.empty(result.features.shape, np.float32)
    result.write(out, 0)
    return out


def oversmoothing_distances(
    features: Any,
    adjacency: Any,
    n_hops: int = 20,
    r: float = 0.5,
    distance: str = "cosine",
    *,
    directed: bool | None = None,
    self_loops: bool = False,
    n_threads: int | None = None,
) -> NDArray[np.float32]:
    """D_i(k) of Definition 1, for every node i and hop k = 0..K.

    Parameters
    ----------
    features : array or sparse matrix of shape (n, f)
    adjacency : sparse matrix of shape (n, n)
    n_hops : int
    r : float in [0, 1]
    distance : {"cosine", "euclidean", "stationary_cosine"}
        "cosine" is the similarity to the node's own features, large where the node is far from
        over-smoothing; the others are distances to the stationary state.
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`.
    n_threads : int, optional

    Returns
    -------
    ndarray of float32, shape (n, n_hops + 1)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import oversmoothing_distances
    >>> oversmoothing_distances([[0.0], [4.0]], np.array([[0, 1], [1, 0]]), 1, 0.0, "euclidean")
    array([[2., 0.],
           [2., 0.]], dtype=float32)
    """
    check_choice("distance", distance, DISTANCES)
    method = Method(n_hops, (check_one_r(r),), weighting="last", distance=distance)
    hops = _hops(features, adjacency, method, directed, self_loops, n_threads, distances=True)
    out = np.empty((hops.layout.n_nodes, method.n_hops + 1), np.float32)
    for state in _run(hops):
        assert state.distances is not None
        out[:, state.hop] = state.distances[:, 0]
    return out


def smoothing_weights(
    features: Any,
    adjacency: Any,
    n_hops: int = 20,
    r: float = 0.5,
    distance: str = "cosine",
    weighting: str = "adaptive",
    *,
    directed: bool | None = None,
    self_loops: bool = False,
    n_threads: int | None = None,
) -> NDArray[np.float32]:
    """w_i(k) of Definition 2: how much hop k counts in the embedding of node i.

    Parameters
    ----------
    features : array or sparse matrix of shape (n, f)
    adjacency : sparse matrix of shape (n, n)
    n_hops : int
    r : float in [0, 1]
    distance : {"cosine", "euclidean", "stationary_cosine"}
    weighting : {"adaptive", "linear", "average", "last"}
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`.
    n_threads : int, optional

    Returns
    -------
    ndarray of float32, shape (n, n_hops + 1)
        Rows add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import smoothing_weights
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> weights = smoothing_weights(np.eye(3), path, n_hops=2, r=0.0)
    >>> weights.sum(axis=1).round(6)
    array([1., 1., 1.], dtype=float32)
    """
    check_choice("weighting", weighting, WEIGHTINGS)
    distances = oversmoothing_distances(
        features,
        adjacency,
        n_hops,
        r,
        distance,
        directed=directed,
        self_loops=self_loops,
        n_threads=n_threads,
    ).astype(np.float64)
    return weighting_named(weighting).weights(distances, distance_named(distance), axis=1)


def _hops(
    features: Any,
    adjacency: Any,
    method: Method,
    directed: bool | None,
    self_loops: bool,
    n_threads: int | None,
    *,
    distances: bool,
) -> Hops:
    X = read_features(features)
    graph = read_adjacency(adjacency, X.shape[0], directed=directed, self_loops=self_loops)
    threads = check_threads(n_threads)
    return Hops(graph, X, method, method.r, n_threads=threads, keep_distances=distances)


def _run(hops: Hops) -> Iterator[Hops]:
    try:
        for _ in range(hops.method.n_hops + 1):
            hops.advance()
            yield hops
    finally:
        _kernel.release_threads()
