"""Heads: ways to cluster the rows of one embedding. They err in different ways, which makes a vote useful.

Every head takes leading directions, the number of clusters and a random generator, and returns a cluster for
each row. What it finds does not depend on which others are used.

- ``mixture``: Gaussians with one covariance, on unit rows in 2 k directions, started by K-means.
- ``spherical``: K-means on unit rows in k + 1 directions.
- ``projection_mixture``: the mixture started by ``projection``, that is, by K-means and the best subspace for
  its centres in turn: the minimum of ‖Z - G F Wᵀ‖ over memberships G, centres F and an orthonormal W
  (Fettal et al., WSDM 2022).
- ``merged`` and ``absorbed``: the mixture with twice as many clusters, merged along the edges in two ways
  (see :func:`nafs.clustering.edges.merge_clusters`). They need edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.directions import Directions, Rows
from nafs.clustering.edges import Edges, merge_clusters
from nafs.clustering.gaussian_mixture import fit_mixture
from nafs.clustering.kmeans import kmeans, means_of, members_of, nearest_members

Labels = NDArray[np.int64]
MORE = 2  # number of clusters before merging, relative to the number wanted
_STEPS = 15  # iterations at most; heads that have not converged by then vote as well, in half the time


def partitions(
    directions: Directions,
    n_clusters: int,
    seed: Sequence[int],
    edges: Edges | None = None,
    names: Sequence[str] | None = None,
) -> Iterator[tuple[str, Labels]]:
    """Name and clusters of some heads; by default of all that can be used, since merging needs edges."""
    wanted = ALL_HEADS if names is None else names
    for place, name in enumerate(HEADS):
        if name in wanted:
            yield name, HEADS[name](directions, n_clusters, np.random.default_rng([*seed, place]))
    merging = [name for name in wanted if name in MERGED]
    if edges is not None and merging:
        count = min(MORE * n_clusters, len(directions.rows))
        parts = mixture(directions, count, np.random.default_rng([*seed, len(HEADS)]))
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


def heads_nbytes(n_rows: int, n_clusters: int) -> int:
    """Approximate bytes that one head needs: points in two layouts, and scores of twice as many clusters."""
    return 4 * n_rows * (2 * 2 * MORE * n_clusters + 3 * MORE * n_clusters)


Head = Callable[[Directions, int, np.random.Generator], Labels]
HEADS: dict[str, Head] = {
    "mixture": mixture,
    "spherical": spherical,
    "projection_mixture": projection_mixture,
}
MERGED = ("merged", "absorbed")
ALL_HEADS = (*HEADS, *MERGED)
