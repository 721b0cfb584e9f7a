"""The stationary state Â_r^∞ X: what endless smoothing leaves of the features.

Within a connected component C, row i is d̃_i^r / vol(C) · Σ_{j∈C} d̃_j^(1-r) X_j with vol(C) = Σ_{j∈C} d̃_j.
Divided by d̃_i^r it is the same row for the whole component: the component's centre.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.graph import Adjacency, Features, read_adjacency, read_features
from nafs.smoothing.method import check_one_r

_COLUMNS = 32  # features handled at a time, so that float64 sums need little memory


def component_centres(graph: Adjacency, features: Features, r: tuple[float, ...]) -> NDArray[np.float32]:
    """Centres Σ_{j∈C} d̃_j^(1-r) X_j / vol(C), one row per component, the r's side by side."""
    require_undirected(graph)
    components, degrees = graph.components, graph.degrees
    count, (n, f) = int(components.max()) + 1, features.shape
    volume = np.bincount(components, weights=degrees, minlength=count)[components]
    centres = np.empty((count, len(r) * f), dtype=np.float32)
    for g, value in enumerate(r):
        share = degrees ** (1 - value) / volume
        mean = sp.csr_array((share, (components, np.arange(n))), shape=(count, n))
        for left in range(0, f, _COLUMNS):
            block = features.columns(left, min(f, left + _COLUMNS))
            centres[:, g * f + left : g * f + left + block.shape[1]] = mean @ block
    return centres


def require_undirected(graph: Adjacency) -> None:
    """Raise for a directed graph, whose stationary state has no closed form."""
    if graph.directed:
        raise ValueError(
            "the stationary state is defined for undirected graphs: pass directed=False (for an "
            "embedding, distance='cosine' does without it)"
        )


def stationary_state(
    features: Any,
    adjacency: Any,
    r: float = 0.5,
    *,
    directed: bool | None = None,
    self_loops: bool = False,
) -> NDArray[np.float32]:
    """Â_r^∞ X, by connected component.

    Parameters
    ----------
    features : array or sparse matrix of shape (n, f)
    adjacency : sparse matrix of shape (n, n)
    r : float in [0, 1]
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`; the graph must end up undirected.

    Returns
    -------
    ndarray of float32, shape (n, f)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import stationary_state
    >>> stationary_state([[1.0], [3.0], [7.0]], np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), r=0.0)
    array([[2.],
           [2.],
           [7.]], dtype=float32)
    """
    r = check_one_r(r)
    X = read_features(features)
    graph = read_adjacency(adjacency, X.shape[0], directed=directed, self_loops=self_loops)
    centres = component_centres(graph, X, (r,))
    scale = (graph.degrees**r).astype(np.float32)
    return np.asarray(centres[graph.components] * scale[:, None], dtype=np.float32)
