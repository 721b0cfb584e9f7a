"""K-means by greedy k-means++; and K-means from inner products, for few rows of many columns.

For the latter, distances to the mean c of a cluster C need no means: with G = X Xᵀ,
|x_i - c|² = G_ii - 2 Σ_{j∈C} G_ij / |C| + Σ_{j,l∈C} G_jl / |C|².
All starts share one product, and the number of columns matters only once, for computing G.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEPS = 300
_LARGE = 1 << 26  # values; larger matrices are clustered in mini-batches
_FEW = 4096  # rows; up to this many, wide matrices are clustered by inner products


def kmeans_by_seed(matrix: NDArray[Any], n_clusters: int, n_init: int) -> Callable[[int], NDArray[np.int64]]:
    """A function that returns the clusters of a matrix for a seed, the best of several starts.

    Work that does not depend on the seed is done here, once.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.kmeans import kmeans_by_seed
    >>> clusters = kmeans_by_seed(np.array([[0.0], [0.1], [5.0]]), 2, 3)(0)
    >>> bool(clusters[0] == clusters[1] != clusters[2])
    True
    """
    from sklearn.cluster import KMeans, MiniBatchKMeans

    if matrix.shape[0] <= _FEW and matrix.shape[1] > 256:
        products = _products(matrix)
        return lambda seed: kmeans_of_products(products, n_clusters, seed, n_init)

    def clusters(seed: int) -> NDArray[np.int64]:
        if matrix.size > _LARGE:
            model = MiniBatchKMeans(n_clusters, batch_size=16384, n_init=min(n_init, 3), random_state=seed)
        else:
            model = KMeans(n_clusters, n_init=n_init, random_state=seed)
        return np.asarray(model.fit_predict(matrix), dtype=np.int64)

    return clusters


def _products(matrix: NDArray[Any]) -> NDArray[np.float32]:
    """Inner products of the centred rows."""
    centred = np.asarray(matrix - matrix.mean(axis=0), np.float32)
    return centred @ centred.T


def kmeans(points: NDArray[Any], n_clusters: int, rng: np.random.Generator, steps: int) -> NDArray[np.int64]:
    """The clusters of one start by greedy k-means++.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.kmeans import kmeans
    >>> clusters = kmeans(np.array([[0.0], [0.1], [5.0]]), 2, np.random.default_rng(0), 10)
    >>> bool(clusters[0] == clusters[1] != clusters[2])
    True
    """
    columns = np.ascontiguousarray(points.T)  # products with this layout take a third of the time
    centers = points[_spread_rows(points, columns, n_clusters, rng)]
    members = nearest_members(columns, centers)
    for _ in range(steps):
        means, sizes = means_of(points, members)
        centers = means if sizes.all() else np.where(sizes[:, None] > 0, means, centers)  # empty ones stay
        closer = nearest_members(columns, centers)
        if (closer == members).all():
            break
        members = closer
    return np.asarray(members.argmax(axis=0), np.int64)


def _spread_rows(
    points: NDArray[Any], columns: NDArray[Any], count: int, rng: np.random.Generator
) -> list[int]:
    """Rows far from each other: each the best of a few drawn in proportion to the squared distance."""
    squares = np.einsum("ij,ij->i", points, points)
    n, trials = len(points), 2 + int(np.log(count))
    chosen = [int(rng.integers(n))]
    nearest = np.maximum(squares + squares[chosen[0]] - 2 * (points @ points[chosen[0]]), 0)
    for _ in range(1, count):
        reach = np.cumsum(nearest, dtype=np.float64)
        if reach[-1] > 0:
            drawn = np.minimum(reach.searchsorted(rng.random(trials) * reach[-1], side="right"), n - 1)
        else:
            drawn = rng.integers(0, n, trials)
        apart = squares[drawn][:, None] + squares
        apart -= (2 * points[drawn]) @ columns
        np.maximum(apart, 0, out=apart)
        np.minimum(apart, nearest, out=apart)
        best = int(apart.sum(axis=1, dtype=np.float64).argmin())
        chosen.append(int(drawn[best]))
        nearest = apart[best]
    return chosen


def nearest_members(columns: NDArray[Any], centers: NDArray[Any]) -> NDArray[np.bool_]:
    """Which center is the nearest of each point, shape (n_clusters, n); of equally near ones the first.

    Points are columns. NumPy compares rows of this matrix far faster than it finds the place of a maximum.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.kmeans import nearest_members
    >>> nearest_members(np.array([[0.0, 0.1, 5.0]]), np.array([[0.0], [4.0]]))
    array([[ True,  True, False],
           [False, False,  True]])
    """
    scores = centers @ columns
    scores -= 0.5 * np.einsum("ij,ij->i", centers, centers)[:, None]
    members: NDArray[np.bool_] = scores == scores.max(axis=0)
    if np.count_nonzero(members) != columns.shape[1]:  # some points have several nearest centers
        members = members_of(scores.argmax(axis=0), len(centers))
    return members


def members_of(clusters: NDArray[np.int64], n_clusters: int) -> NDArray[np.bool_]:
    """Which points each cluster has, shape (n_clusters, n)."""
    members = np.zeros((n_clusters, len(clusters)), bool)
    members[clusters, np.arange(len(clusters))] = True
    return members


def means_of(points: NDArray[Any], members: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and size of each cluster; an empty one has mean 0."""
    shares = members.astype(points.dtype)
    sizes = shares.sum(axis=1)
    return (shares @ points) / np.maximum(sizes, 1)[:, None], sizes


def kmeans_of_products(products: NDArray[Any], n_clusters: int, seed: int, n_init: int) -> NDArray[np.int64]:
    """The clusters of least inertia among several starts.

    Parameters
    ----------
    products : ndarray of shape (n, n)
        Inner products of the rows, preferably centred.
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
        closest = apart.argmin(axis=2).T
        inertia[active] = np.trace(products) + apart.min(axis=2).sum(axis=0, dtype=np.float64)
        going[active] = (closest != clusters[active]).any(axis=1)
        clusters[active] = closest
        if not going.any():
            break
    return np.asarray(clusters[int(inertia.argmin())], np.int64)


def _seeds(products: NDArray[Any], count: int, rng: np.random.Generator) -> list[int]:
    """Rows far from each other: each is the best of a few drawn in proportion to the squared distance."""
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
        distances = np.minimum(_squares(products, own, list(drawn)), nearest)
        best = int(distances.sum(axis=1, dtype=np.float64).argmin())
        chosen.append(int(drawn[best]))
        nearest = distances[best]
    return chosen


def _nearest_seeds(products: NDArray[Any], seeds: list[int]) -> NDArray[np.int64]:
    return np.asarray(_squares(products, np.diag(products), seeds).argmin(axis=0), np.int64)


def _squares(products: NDArray[Any], own: NDArray[Any], rows: list[int]) -> NDArray[np.float64]:
    """Squared distances of all rows to some of them."""
    squares = own[None, :] + own[rows][:, None] - 2 * products[rows]
    return np.asarray(np.maximum(squares, 0), np.float64)
