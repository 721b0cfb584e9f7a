"""The smoothed features of every node, hop and r, and the embedding that follows from them.

``states[i, g, k - 1]`` is row i of Â_r^k X for the g-th r and hop k = 1..K. Hop 0 is X itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency, read_features
from nafs.smoothing.distances import distance_named
from nafs.smoothing.hops import Hops, Layout, Workspace
from nafs.smoothing.method import Method
from nafs.smoothing.weightings import weighting_named

_VALUES = 1 << 22  # combined in one go


def with_spare(n_nodes: int) -> int:
    """Rows to allocate for so many nodes, so that new ones have room."""
    return n_nodes + max(64, n_nodes // 20)


def states_shape(n_nodes: int, n_columns: int, method: Method) -> tuple[int, int, int, int]:
    """Shape of the states."""
    return n_nodes, len(method.r), method.n_hops, n_columns


def states_nbytes(n_nodes: int, n_columns: int, method: Method, dtype: str = "float32") -> int:
    """Bytes of the states, with room for new nodes.

    Examples
    --------
    >>> from nafs.model.states import states_nbytes
    >>> from nafs.smoothing import Method
    >>> states_nbytes(169_343, 64, Method(3, (0.0, 0.5)), "float16")
    136558080
    """
    return (
        int(np.prod(states_shape(with_spare(n_nodes), n_columns, method), dtype=np.int64))
        * np.dtype(dtype).itemsize
    )


def smooth(
    graph: Adjacency,
    features: NDArray[np.float32],
    method: Method,
    states: NDArray[Any],
    *,
    n_threads: int = 1,
) -> None:
    """Write the states of a graph into the first rows of an array."""
    n, f = features.shape
    last = replace(method, weighting="last")
    checked = read_features(features)
    workspace = Workspace(Layout(n, f, 1), last)
    out = np.empty((n, f), np.float32)
    for g, r in enumerate(method.r):
        hops = Hops(graph, checked, replace(last, r=(r,)), (r,), n_threads=n_threads, workspace=workspace)
        hops.advance()
        for k in range(method.n_hops):
            hops.advance()
            hops.write(out, 0)
            states[:n, g, k] = out


def combine(
    features: NDArray[np.float32], states: NDArray[np.float32], method: Method
) -> NDArray[np.float32]:
    """The embedding of some nodes from their features and states."""
    out = np.empty((len(features), method.n_columns(features.shape[1])), np.float32)
    step = max(1, _VALUES // max(1, states[:1].size))
    for top in range(0, len(features), step):
        rows = slice(top, top + step)
        out[rows] = _combine(features[rows], states[rows].astype(np.float32, copy=False), method)
    return out


def _combine(X: NDArray[np.float32], states: NDArray[np.float32], method: Method) -> NDArray[np.float32]:
    distance, weighting = distance_named(method.distance), weighting_named(method.weighting)
    n, groups, hops, _ = states.shape
    squares, dots = np.empty((n, groups, hops + 1)), np.empty((n, groups, hops + 1))
    squares[:, :, 0] = dots[:, :, 0] = np.einsum("if,if->i", X, X, dtype=np.float64)[:, None]
    dots[:, :, 1:] = np.matmul(states, X[:, None, :, None])[..., 0]
    squares[:, :, 1:] = np.einsum("igkf,igkf->igk", states, states)
    norms = np.sqrt(squares[:, :1, :1])
    weights = weighting.weights(distance.formula(dots, squares, norms), distance, axis=2)
    parts = np.matmul(weights[:, :, None, 1:], states)[:, :, 0]
    parts += weights[:, :, 0, None] * X[:, None, :]
    if method.ensemble == "mean":
        return np.asarray(parts.mean(axis=1, dtype=np.float32))
    return np.asarray(parts.max(axis=1) if method.ensemble == "max" else parts.reshape(n, -1))
