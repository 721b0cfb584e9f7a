"""Heads: ways to cluster the rows of one embedding. They err in different ways, which makes a vote useful.

Every head takes leading directions, the number of clusters and a random generator, and returns a cluster for
each row.

- ``mixture``: Gaussians with one covariance, on unit rows in 2 k directions, started by K-means.
- ``spherical``: K-means on unit rows in k + 1 directions.
- ``projection_mixture``: the mixture started by ``projection``, that is, by K-means and the best subspace for
  its centres in turn: the minimum of ‖Z - G F Wᵀ‖ over memberships G, centres F and an orthonormal W
  (Fettal et al., WSDM 2022).
- ``subspace``: spectral clustering by the squared products of left singular vectors (Fettal et al., AAAI
  2023).
- ``merged`` and ``absorbed``: the mixture with twice as many clusters, merged along the edges in two ways
  (see :func:`nafs.clustering.edges.merge_clusters`). They need edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.directions import Directions, Rows, unit_rows
from nafs.clustering.edges import Edges, merge_clusters
from nafs.clustering.gaussian_mixture import fit_mixture
from nafs.clustering.kmeans import kmeans, means_of, members_of, nearest_members

Labels = NDArray[np.int64]
MORE = 2  # number of clusters before merging, relative to the number wanted
_STEPS = 30  # iterations at most; heads that have not converged by then still vote
_SQUARED = 40  # most left singular vectors in ``subspace``; the number of products grows quadratically


def partitions(
    directions: Directions,
    n_clusters: int,
    rng: np.random.Generator,
    edges: Edges | None = None,
    names: Sequence[str] | None = None,
) -> Iterator[tuple[str, Labels]]:
    """Name and clusters of some heads; by default of all that can be used, since merging needs edges."""
    wanted = ALL_HEADS if names is None else names
    for name in wanted:
        if name in HEADS:
            yield name, HEADS[name](directions, n_clusters, rng)
    merging = [name for name in wanted if name in MERGED]
    if edges is not None and merging:
        count = min(MORE * n_clusters, len(directions.rows))
        parts = mixture(directions, count, rng)
        table = edges.table(parts, count)
        for name in merging:
            yield name, merge_clusters(table, n_clusters, absorb=name == "absorbed")[parts]


def mixture_from(points: Rows, n_clusters: int, start: Labels) -> Labels:
    """A mixture of Gaussians, started from given clusters."""
    return fit_mixture(points, start, n_clusters, _STEPS).predict(points)


def mixture(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Labels:
    """A mixture of Gaussians on unit rows, started by K-means."""
    points = directions.unit(2 * n_clusters)
    return mixture_from(points, n_clusters, kmeans(points, n_clusters, rng, _STEPS))


def spherical(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Labels:
    """K-means on unit rows."""
    return kmeans(directions.unit(n_clusters + 1), n_clusters, rng, _STEPS)


def projection(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Labels:
    """K-means in a subspace that is fitted to its centres."""
    rows = directions.rows[:, : 4 * n_clusters]
    columns = np.ascontiguousarray(rows.T)
    members = members_of(kmeans(rows[:, :n_clusters], n_clusters, rng, _STEPS), n_clusters)
    for _ in range(_STEPS):
        centers, sizes = means_of(rows, members)
        # For given memberships the best subspace is spanned by the centres, weighted by their sizes.
        _, _, axes = np.linalg.svd(np.sqrt(sizes)[:, None] * centers, full_matrices=False)
        closer = nearest_members(axes @ columns, centers @ axes.T)
        if (closer == members).all():
            break
        members = closer
    return np.asarray(members.argmax(axis=0), np.int64)


def projection_mixture(directions: Directions, n_clusters: int, rng: np.random.Generator) -> Labels:
    """The mixture started by ``projection``."""
    start = projection(directions, n_clusters, rng)
    return mixture_from(directions.unit(2 * n_clusters), n_clusters, start)


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


def squares_nbytes(n_rows: int, n_clusters: int) -> int:
    """Approximate bytes of the products in ``subspace``, and of the copy that they are scaled to."""
    count = min(n_clusters + 1, _SQUARED)
    return 8 * n_rows * count * (count + 1) // 2


Head = Callable[[Directions, int, np.random.Generator], Labels]
HEADS: dict[str, Head] = {
    "mixture": mixture,
    "spherical": spherical,
    "projection_mixture": projection_mixture,
    "subspace": subspace,
}
MERGED = ("merged", "absorbed")
ALL_HEADS = (*HEADS, *MERGED)
