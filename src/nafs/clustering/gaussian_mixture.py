"""A mixture of Gaussians on the rows of an embedding's leading directions.

The mixture has one covariance for all clusters. That is K-means with a fitted metric: directions in which all
clusters spread widely count for less.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.kmeans import means_of, nearest_members
from nafs.clustering.measures import modularity
from nafs.graph import Adjacency

_ENOUGH = 1e-3  # gain in log-likelihood per node at which a fit stops
_WARM_UP = 10  # steps of K-means before the mixture
_FAR = 1000.0  # squared distance of the points from the origin, in units of their variance
_LEAST = 10 * float(np.finfo(float).eps)  # nodes that even an empty cluster has
_FLOOR = 1e-3  # added to the covariance, relative to the mean variance of all points


def mixture(
    points: NDArray[np.float64],
    n_clusters: int,
    *,
    graph: Adjacency | None = None,
    seed: int = 0,
    n_init: int = 5,
    start: NDArray[np.int64] | None = None,
    max_iter: int = 100,
    most: int = 20_000,
) -> NDArray[np.int64]:
    """Clusters by a mixture of Gaussians with one covariance.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    n_clusters : int
    graph : Adjacency, optional
        Among several starts, the clusters with the highest modularity in this graph are chosen; without a
        graph, the likeliest ones. (The likeliest mixture often follows the noise.)
    seed : int
    n_init : int
        Starts from K-means.
    start : ndarray of int, optional
        Clusters of an additional start.
    max_iter : int
        Steps of each start.
    most : int
        Rows that the mixture is fitted to.

    Returns
    -------
    ndarray of int, shape (n,)
    """
    from sklearn.cluster import kmeans_plusplus

    rng = np.random.default_rng(seed)
    some = np.arange(len(points))
    most = max(most, 10 * n_clusters)
    if len(points) > most:
        some = np.sort(rng.choice(len(points), most, replace=False))
    sample = points[some].astype(np.float64, copy=False)
    starts = [] if start is None else [start[some]]
    for _ in range(n_init):
        centres, _ = kmeans_plusplus(sample, n_clusters, random_state=int(rng.integers(1 << 31)))
        starts.append(_nearest(sample, centres))
    best, best_clusters = -np.inf, np.zeros(len(points), np.int64)
    for first in starts:
        model = fit_mixture(sample, first, n_clusters, max_iter)
        clusters = model.predict(points)
        value = model.likelihood if graph is None else modularity(graph, clusters)
        if value > best:
            best, best_clusters = value, clusters
    return best_clusters


class Mixture(NamedTuple):
    """Means in the coordinates in which the common covariance is 1, and how to get there."""

    whiten: NDArray[Any]
    means: NDArray[Any]
    log_weights: NDArray[Any]
    likelihood: float
    origin: NDArray[Any] | None = None

    def scores(self, points: NDArray[Any]) -> NDArray[Any]:
        """Log density under each cluster, without terms that all clusters share."""
        moved = points if self.origin is None else points - self.origin
        return self.scores_of(moved.T).T

    def scores_of(self, columns: NDArray[Any]) -> NDArray[Any]:
        """The same for points that are columns; one row for each cluster."""
        scores: NDArray[Any] = (self.means @ self.whiten.T) @ columns
        scores += (self.log_weights - 0.5 * np.einsum("ij,ij->i", self.means, self.means))[:, None]
        return scores

    def predict(self, points: NDArray[Any]) -> NDArray[np.int64]:
        """The likeliest cluster of each point."""
        step = max(1, (1 << 24) // len(self.means))
        parts = [self.scores(points[top : top + step]).argmax(axis=1) for top in range(0, len(points), step)]
        return np.concatenate(parts)


def fit_mixture(
    points: NDArray[Any],
    clusters: NDArray[np.int64],
    count: int,
    max_iter: int,
    prior: NDArray[Any] | None = None,
) -> Mixture:
    """Expectation and maximisation from given clusters.

    ``prior``, of shape (count, n), has the logarithms of each point's prior probabilities, up to a constant;
    without it they are the sizes of the clusters alone.

    With one covariance for all, each step takes two products of the size that K-means needs; a general
    mixture needs one for each cluster. Products of points have the precision of the points; arrays of the
    size of the covariance, and the likelihood, are float64.
    """
    n, d = points.shape
    kind = points.dtype
    products, mean, spread = moments(points)
    origin = None
    if mean @ mean > _FAR * spread:  # so far from the origin that rounding would hide the spread
        origin = mean.astype(kind)
        points = points - origin
        products, mean, spread = moments(points)
    columns = np.ascontiguousarray(points.T)
    squares = (points.T @ points).astype(np.float64)
    least = max(_FLOOR * spread / d, 1e-12)
    shares = np.zeros((count, n), kind)  # NumPy finds the largest of a column much faster than that of a row
    shares[clusters, np.arange(n)] = 1
    before = -np.inf
    for _ in range(max_iter):
        sizes = shares.sum(axis=1, dtype=np.float64) + _LEAST
        means = (shares @ points).astype(np.float64) / sizes[:, None]
        covariance = (squares - (means.T * sizes) @ means) / n
        covariance.flat[:: d + 1] += least
        whiten = whitening(covariance, least)
        centers = (means @ whiten).astype(kind)
        model = Mixture(whiten.astype(kind), centers, np.log(sizes / n).astype(kind), 0.0)
        shares = model.scores_of(columns)
        if prior is not None:
            shares += prior
        top = shares.max(axis=0)
        shares -= top
        np.exp(shares, out=shares)
        total = shares.sum(axis=0)
        shares /= total
        likelihood = float(
            (np.log(total) + top).sum(dtype=np.float64) / n
            - 0.5 * np.vdot(whiten, products @ whiten) / n
            + np.log(whiten.diagonal()).sum()
        )
        if likelihood - before < _ENOUGH:
            break
        before = likelihood
    return model._replace(likelihood=likelihood, origin=origin)


def moments(points: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Products of the columns, mean, and the sum of the variances of all columns."""
    exact = points.astype(np.float64, copy=False)
    products, mean = exact.T @ exact, exact.mean(axis=0)
    return products, mean, float(np.trace(products)) / len(points) - float(mean @ mean)


def whitening(covariance: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """The matrix that turns points of this covariance into points of covariance 1.

    Points that nearly coincide far from the origin have a covariance that is mostly rounding, and may have
    negative eigenvalues: these are raised to the floor.
    """
    from scipy.linalg.lapack import dpotrf, dtrtri  # without the checks of numpy.linalg, which take longer

    root, failed = dpotrf(covariance, lower=1)
    if failed:
        values, vectors = np.linalg.eigh(covariance)
        least = max(floor, 1e-6 * float(values[-1]))
        root, _ = dpotrf((vectors * np.maximum(values, least)) @ vectors.T, lower=1)
    return np.asarray(dtrtri(root, lower=1)[0].T)


def _nearest(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest of some centres, after a few steps of K-means."""
    columns = np.ascontiguousarray(points.T)
    members = nearest_members(columns, centres)
    for _ in range(_WARM_UP):
        means, sizes = means_of(points, members)
        centres = np.where(sizes[:, None] > 0, means, centres)
        members = nearest_members(columns, centres)
    return np.asarray(members.argmax(axis=0), np.int64)
