"""K-means from inner products: for few rows of many columns.

Distances to the mean c of a cluster C need no means: with G = X Xᵀ,
|x_i - c|² = G_ii - 2 Σ_{j∈C} G_ij / |C| + Σ_{j,l∈C} G_jl / |C|².
All starts go through one product, and columns count only once, when G is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEPS = 300


def kmeans_of_products(products: NDArray[Any], n_clusters: int, seed: int, n_init: int) -> NDArray[np.int64]:
    """The clusters of least inertia among several starts.

    Parameters
    ----------
    products : ndarray of shape (n, n)
        Inner products of the rows, best of centred ones.
    n_clusters : int
    seed : int
    n_init : int
        Starts by greedy k-means++, as in scikit-learn.

    Returns
    -------
    ndarray of int, shape (n,)
    """
    n = len(products)
    rng = np.random.default_rng(seed)
    starts = [_nearest_seeds(products, _seeds(products, n_clusters, rng)) for _ in range(n_init)]
    clusters = np.stack(starts)  # (starts, n)
    going = np.ones(n_init, bool)
    inertia = np.full(n_init, np.inf)
    for _ in range(_STEPS):
        active = np.flatnonzero(going)
        member = np.zeros((n, len(active), n_clusters), products.dtype)
        member[np.arange(n)[:, None], np.arange(len(active))[None, :], clusters[active].T] = 1
        sizes = np.maximum(member.sum(axis=0), 1)  # (active, clusters)
        sums = (products @ member.reshape(n, -1)).reshape(member.shape)
        within = np.einsum("isc,isc->sc", member, sums) / sizes**2  # |c|²
        apart = within - 2 * sums / sizes
        apart[:, member.sum(axis=0) == 0] = np.inf  # a cluster that lost all its rows stays empty
        found = apart.argmin(axis=2).T
        inertia[active] = np.trace(products) + apart.min(axis=2).sum(axis=0, dtype=np.float64)
        going[active] = (found != clusters[active]).any(axis=1)
        clusters[active] = found
        if not going.any():
            break
    return np.asarray(clusters[int(inertia.argmin())], np.int64)


def _seeds(products: NDArray[Any], count: int, rng: np.random.Generator) -> list[int]:
    """Rows far from each other: each the best of a few drawn in proportion to the squared distance."""
    own = np.diag(products)
    chosen = [int(rng.integers(len(own)))]
    nearest = _squares(products, own, chosen)[0]
    for _ in range(1, count):
        total = nearest.sum(dtype=np.float64)
        trials = 2 + int(np.log(count))
        drawn = (
            rng.choice(len(own), trials, p=nearest / total)
            if total > 0
            else rng.integers(len(own), size=trials)
        )
        left = np.minimum(_squares(products, own, list(drawn)), nearest)
        best = int(left.sum(axis=1, dtype=np.float64).argmin())
        chosen.append(int(drawn[best]))
        nearest = left[best]
    return chosen


def _nearest_seeds(products: NDArray[Any], seeds: list[int]) -> NDArray[np.int64]:
    return np.asarray(_squares(products, np.diag(products), seeds).argmin(axis=0), np.int64)


def _squares(products: NDArray[Any], own: NDArray[Any], rows: list[int]) -> NDArray[np.float64]:
    """Squared distances of all rows to some of them."""
    found = own[None, :] + own[rows][:, None] - 2 * products[rows]
    return np.asarray(np.maximum(found, 0), np.float64)
