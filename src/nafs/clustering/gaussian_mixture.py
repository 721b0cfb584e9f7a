"""A mixture of Gaussians on the rows of an embedding's leading directions.

The mixture has one covariance for all clusters. That is K-means with a fitted metric: directions in which all
clusters spread widely count for less.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.measures import modularity
from nafs.graph import Adjacency

_ENOUGH = 1e-3  # gain in log-likelihood per node at which a fit stops
_WARM_UP = 10  # steps of K-means before the mixture
_FAR = 1000.0  # squared distance of the points from the origin, in units of their variance
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
    sample = points[some]
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
        return self.scores_of(moved @ self.whiten).T

    def scores_of(self, white: NDArray[Any]) -> NDArray[Any]:
        """The same for whitened points, one row for each cluster."""
        scores: NDArray[Any] = self.means @ white.T
        scores += (self.log_weights - 0.5 * np.einsum("ij,ij->i", self.means, self.means))[:, None]
        return scores

    def predict(self, points: NDArray[Any]) -> NDArray[np.int64]:
        """The likeliest cluster of each point."""
        step = max(1, (1 << 24) // len(self.means))
        parts = [self.scores(points[top : top + step]).argmax(axis=1) for top in range(0, len(points), step)]
        return np.concatenate(parts)


def fit_mixture(points: NDArray[Any], clusters: NDArray[np.int64], count: int, max_iter: int) -> Mixture:
    """Expectation and maximisation from given clusters.

    With one covariance for all, whitening reduces each step to two products of the size that K-means needs; a
    general mixture needs one for each cluster. Products of points have the precision of the points; arrays of
    the size of the covariance are float64.
    """
    n, d = points.shape
    kind = points.dtype
    origin = _far_mean(points)
    if origin is not None:
        points = points - origin
    squares = (points.T @ points).astype(np.float64)
    spread = np.trace(squares) / n - float((points.mean(axis=0, dtype=np.float64) ** 2).sum())
    floor = np.eye(d) * max(_FLOOR * spread / d, 1e-12)
    shares = np.zeros((count, n), kind)  # NumPy finds the largest of a column much faster than that of a row
    shares[clusters, np.arange(n)] = 1
    before = -np.inf
    for _ in range(max_iter):
        sizes = shares.sum(axis=1, dtype=np.float64) + 10 * np.finfo(float).eps
        means = (shares @ points).astype(np.float64) / sizes[:, None]
        covariance = (squares - (means.T * sizes) @ means) / n + floor
        whiten = _whitening(covariance, float(floor[0, 0]))
        model = Mixture(
            whiten.astype(kind), (means @ whiten).astype(kind), np.log(sizes / n).astype(kind), 0.0
        )
        white = points @ model.whiten
        shares = model.scores_of(white)
        top = shares.max(axis=0)
        np.exp(shares - top, out=shares)
        total = shares.sum(axis=0)
        shares /= total
        likelihood = float(
            (np.log(total) + top).mean(dtype=np.float64)
            - 0.5 * float(np.einsum("ij,ij->i", white, white).sum(dtype=np.float64)) / n
            + np.log(np.diag(whiten)).sum()
        )
        if likelihood - before < _ENOUGH:
            break
        before = likelihood
    return model._replace(likelihood=likelihood, origin=origin)


def _far_mean(points: NDArray[Any]) -> NDArray[Any] | None:
    """The mean of points that are so far from the origin that rounding would hide their spread."""
    mean = points.mean(axis=0, dtype=np.float64)
    spread = float(points.var(axis=0, dtype=np.float64).sum())
    return mean.astype(points.dtype) if float(mean @ mean) > _FAR * spread else None


def _whitening(covariance: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """The matrix that turns points of this covariance into points of covariance 1.

    Points that nearly coincide far from the origin have a covariance that is mostly rounding, and may have
    negative eigenvalues: these are raised to the floor.
    """
    try:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)).T)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariance)
        least = max(floor, 1e-6 * float(values[-1]))
        raised = (vectors * np.maximum(values, least)) @ vectors.T
        return np.asarray(np.linalg.inv(np.linalg.cholesky(raised)).T)


def _nearest(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest of some centres, after a few steps of K-means."""
    for step in range(_WARM_UP + 1):
        clusters = (points @ centres.T - 0.5 * np.einsum("ij,ij->i", centres, centres)).argmax(axis=1)
        if step < _WARM_UP:
            sizes = np.bincount(clusters, minlength=len(centres))
            sums = np.zeros_like(centres)
            np.add.at(sums, clusters, points)
            centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    return np.asarray(clusters, np.int64)
