"""The embedding of one node that is not part of the graph.

The node sees the graph, but the graph does not see the node: its neighbours keep their states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.model.states import Kept, combined
from nafs.smoothing.distances import distance_named
from nafs.smoothing.ensembles import ensemble_named
from nafs.smoothing.method import Method
from nafs.smoothing.weightings import weighting_named


def embed_one(
    kept: Kept,
    method: Method,
    x: NDArray[np.float32],
    neighbors: NDArray[np.int64],
    weights: NDArray[np.float32],
) -> NDArray[np.float32]:
    """The embedding of a node with prepared features ``x``, given the places of its neighbours."""
    if method.needs_stationary_state:
        raise InputError(f"embed_new cannot use the distance {method.distance!r}")
    r = np.asarray(method.r)
    degree = 1.0 + float(weights.sum(dtype=np.float64))
    scale = (degree**r).astype(np.float32)
    states = np.empty((method.n_hops, len(r), len(x)), np.float32)
    own = x / scale[:, None]
    for k in range(method.n_hops):
        around = np.tensordot(weights, kept.z(neighbors, k), axes=1)
        own = (own + around) / np.float32(degree)
        states[k] = own
    return np.asarray(combined(_weighted(x, states, scale, method)[None], method)[0])


def _weighted(
    x: NDArray[np.float32], states: NDArray[np.float32], scale: NDArray[np.float32], method: Method
) -> NDArray[np.float32]:
    """The embedding of one node as it is kept, from its features and its states of shape (K, len(r), f)."""
    every = np.concatenate([(x / scale[:, None])[None], states]).astype(np.float64)
    distance, weighting = distance_named(method.distance), weighting_named(method.weighting)
    dots, squares = every @ x.astype(np.float64), np.einsum("kgf,kgf->kg", every, every)
    weights = weighting.weights(
        distance.formula(dots, squares, np.asarray(np.linalg.norm(x))), distance, axis=0
    )
    parts = np.einsum("kg,kgf->gf", weights, every) * scale[:, None]
    averaged = ensemble_named(method.ensemble).averages
    return np.asarray(parts.mean(axis=0) if averaged else parts.ravel(), np.float32)
