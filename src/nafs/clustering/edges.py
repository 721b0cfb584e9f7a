"""How the edges run between clusters: the table that modularity and assortativity are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges between some nodes of a graph, renumbered from 0; each edge is listed in both directions.

    Attributes
    ----------
    first, second : ndarray of int
        The ends.
    weights : ndarray of float64
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def among(cls, graph: Adjacency, nodes: NDArray[np.int64] | None = None) -> Edges | None:
        """The edges among some nodes, or among all; ``None`` if there are none. Directions are ignored."""
        matrix = graph.to_scipy()
        if nodes is not None:
            matrix = matrix[nodes][:, nodes]
        entries = matrix.tocoo()
        first, second = (ends.astype(np.int64) for ends in (entries.row, entries.col))
        weights = np.asarray(entries.data, np.float64)
        if graph.directed:
            first, second = np.concatenate([first, second]), np.concatenate([second, first])
            weights = np.concatenate([weights, weights])
        apart = first != second
        return cls(first[apart], second[apart], weights[apart]) if apart.any() else None

    @staticmethod
    def nbytes(graph: Adjacency, nodes: NDArray[np.int64] | None = None) -> int:
        """Approximate bytes while the edges among some nodes are found: all edges of these nodes."""
        count = graph.n_stored if nodes is None else int(np.diff(graph.indptr)[nodes].sum())
        return (96 if graph.directed else 56) * count

    def among_rows(self, rows: NDArray[np.int64], n_rows: int) -> Edges | None:
        """The edges among some of the ``n_rows`` nodes; ``None`` if there are none."""
        places = np.full(n_rows, -1)
        places[rows] = np.arange(len(rows))
        first, second = places[self.first], places[self.second]
        both = (first >= 0) & (second >= 0)
        return Edges(first[both], second[both], self.weights[both]) if both.any() else None

    def table(self, labels: NDArray[np.int64], n_clusters: int) -> Table:
        """The share of the edges between each pair of clusters, shape (n_clusters, n_clusters).

        Examples
        --------
        >>> import numpy as np
        >>> from nafs.graph import read_adjacency
        >>> from nafs.clustering.edges import Edges
        >>> path = read_adjacency(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
        >>> Edges.among(path).table(np.array([0, 0, 1]), 2)
        array([[0.5 , 0.25],
               [0.25, 0.  ]])
        """
        cells = labels[self.first] * n_clusters + labels[self.second]
        table = np.bincount(cells, weights=self.weights, minlength=n_clusters**2)
        return np.asarray(table.reshape(n_clusters, n_clusters) / self.weights.sum())


def modularity_of(table: Table) -> float:
    """Newman's modularity: the share of edges within clusters, less the share expected by chance."""
    return float(np.trace(table) - _by_chance(table))


def assortativity_of(table: Table) -> float:
    """Modularity relative to its maximum for clusters of these sizes, which does not prefer even sizes.

    Where one cluster holds half of the graph, modularity cannot exceed 3/4, however good the clusters are.
    Assortativity is 1 if no edge leaves a cluster, and 0 if edges run at random.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.edges import assortativity_of, modularity_of
    >>> uneven = np.diag([0.9, 0.1])
    >>> round(modularity_of(uneven), 2), round(assortativity_of(uneven), 2)
    (0.18, 1.0)
    """
    chance = _by_chance(table)
    return float((np.trace(table) - chance) / (1 - chance)) if chance < 1 else 0.0


def _by_chance(table: Table) -> float:
    volumes: NDArray[Any] = table.sum(axis=1)
    return float(volumes @ volumes)


def merge_clusters(table: Table, n_clusters: int, *, absorb: bool = False) -> NDArray[np.int64]:
    """Merge clusters along the edges, two at a time.

    The parts of one large group have many edges between them, whatever the size of the group. Methods that
    prefer clusters of even size, such as K-means, split such a group; this one can keep it whole.

    Parameters
    ----------
    table : ndarray of shape (count, count)
        The share of the edges between each pair of clusters.
    n_clusters : int
        The number of clusters to arrive at.
    absorb : bool
        Merge the two clusters with the largest share of the smaller one's edges between them, so that large
        clusters absorb small ones; by default, the two with the most edges relative to the product of their
        degrees.

    Returns
    -------
    ndarray of int, shape (count,)
        The new cluster of each old one.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.edges import merge_clusters
    >>> merge_clusters(np.array([[0.2, 0.2, 0.0], [0.2, 0.2, 0.01], [0.0, 0.01, 0.2]]), 2)
    array([0, 0, 1])
    """
    table = table.copy()
    names = np.arange(len(table))
    while len(table) > n_clusters:
        volumes = np.maximum(table.sum(axis=1), 1e-12)
        scale = np.minimum.outer(volumes, volumes) if absorb else np.outer(volumes, volumes)
        closeness = table / scale
        np.fill_diagonal(closeness, -1)
        kept, gone = sorted(divmod(int(closeness.argmax()), len(table)))
        table[kept] += table[gone]
        table[:, kept] += table[:, gone]
        table = np.delete(np.delete(table, gone, axis=0), gone, axis=1)
        names[names == gone] = kept
        names[names > gone] -= 1
    return names
