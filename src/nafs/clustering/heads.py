"""Six ways to cluster the rows of one embedding. They err differently, which is what makes a vote useful.

Every head takes leading directions, the number of clusters and a random generator, and returns a cluster for
each row.

- ``mixture``: Gaussians with one covariance, on unit rows in 2 k directions, started by K-means.
- ``spherical``: K-means on unit rows in k + 1 directions.
- ``projection``: K-means and the best subspace for its centres in turn, that is, the minimum of
  ‖Z - G F Wᵀ‖ over memberships G, centres F and an orthonormal W (Fettal et al., WSDM 2022).
- ``projection_mixture``: the mixture started by ``projection``.
- ``singular``: K-means on unit rows of the left singular vectors 2 to k + 1, which gives every direction the
  same weight (Lin et al., 2024).
- ``subspace``: spectral clustering by the squared products of left singular vectors (Fettal et al., AAAI
  2023).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.directions import Directions, unit_rows
from nafs.clustering.gaussian_mixture import fit_mixture
from nafs.clustering.kmeans import centers_of, kmeans, nearest_center

Labels = NDArray[np.int64]
_STEPS = 30  # of each iteration; heads that have not converged then still take part in the vote
_SQUARED = 40  # left singular vectors whose products ``subspace`` takes; their number grows with the square


def partitions(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Iterator[Labels]:
    """The clusters of every head, in the order of ``HEADS``."""
    projected = projection(directions, n_clusters, rng)
    for name, head in HEADS.items():
        if name == "projection":
            yield projected
        elif name == "projection_mixture":
            yield mixture_from(directions, n_clusters, projected)
        else:
            yield head(directions, n_clusters, rng)


def mixture_from(directions: Directions, n_clusters: int, start: Labels) -> Labels:
    """A mixture of Gaussians on unit rows, started from given clusters."""
    points = directions.unit(2 * n_clusters).astype(np.float64)
    return fit_mixture(points, start, n_clusters, _STEPS).predict(points)


def mixture(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Labels:
    """A mixture of Gaussians on unit rows, started by K-means."""
    start = kmeans(directions.unit(2 * n_clusters), n_clusters, rng, _STEPS)
    return mixture_from(directions, n_clusters, start)


def spherical(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Labels:
    """K-means on unit rows."""
    return kmeans(directions.unit(n_clusters + 1), n_clusters, rng, _STEPS)


def projection(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Labels:
    """K-means in a subspace that is fitted to its centres."""
    rows = directions.rows[:, : 4 * n_clusters]
    clusters = kmeans(rows[:, :n_clusters], n_clusters, rng, _STEPS)
    for _ in range(_STEPS):
        centers, sizes = centers_of(rows, clusters, n_clusters)
        # For given memberships the best subspace is spanned by the centres, weighted by their sizes.
        _, _, axes = np.linalg.svd(np.sqrt(sizes)[:, None] * centers, full_matrices=False)
        closer = nearest_center(rows @ axes.T, centers @ axes.T)
        if (closer == clusters).all():
            break
        clusters = closer
    return clusters


def projection_mixture(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Labels:
    """The mixture started by ``projection``."""
    return mixture_from(directions, n_clusters, projection(directions, n_clusters, rng))


def singular(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Labels:
    """K-means on unit rows of the left singular vectors after the first."""
    first = min(1, directions.rows.shape[1] - 1)  # a single direction has to do
    return kmeans(unit_rows(directions.left(first, n_clusters + 1)), n_clusters, rng, _STEPS)


def subspace(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Labels:
    """Spectral clustering by squared products of left singular vectors."""
    vectors = directions.left(0, min(n_clusters + 1, _SQUARED))
    first, second = np.triu_indices(vectors.shape[1])
    factors = np.where(first == second, 1, np.sqrt(2)).astype(np.float32)
    products = vectors[:, first] * vectors[:, second] * factors  # inner products of these are squares
    degrees = np.maximum(products @ products.sum(axis=0), 0)
    scales = np.sqrt(np.where(degrees > 0, degrees, np.inf))
    spectrum = Directions.of(products / scales[:, None], n_clusters)
    return kmeans(unit_rows(spectrum.left(0, n_clusters)), n_clusters, rng, _STEPS)


Head = Callable[[Directions, int, np.random.Generator], Labels]
HEADS: dict[str, Head] = {
    "mixture": mixture,
    "spherical": spherical,
    "projection": projection,
    "projection_mixture": projection_mixture,
    "singular": singular,
    "subspace": subspace,
}
