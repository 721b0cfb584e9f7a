"""The nodes of a large graph whose partitions are compared.

Half of them are neighbors of the other half, so that the sample has enough edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.number import NUMBERS
from nafs.graph import Adjacency

SAMPLE = 20_000  # nodes
SMALLEST = 5000  # nodes of a sample, however many clusters there are


def sample_size(n_clusters: int, most: int = SAMPLE) -> int:
    """How many nodes' partitions are compared in a large graph: fewer for many clusters, which take longer.

    Examples
    --------
    >>> from nafs.clustering.sample import sample_size
    >>> sample_size(10), sample_size(48), sample_size(1000)
    (20000, 10000, 10000)
    """
    usual = NUMBERS[-1]
    return max(min(most, max(SMALLEST, most * usual // max(n_clusters, usual))), 10 * n_clusters)


def draw(n_nodes: int, size: int, graph: Adjacency | None, seed: int) -> NDArray[np.int64] | None:
    """Nodes to compare partitions on, in random order; ``None`` for all.

    With a graph, each is followed by a neighbor, so that the nodes in any part of the order have edges.
    """
    if n_nodes <= size:
        return None
    rng = np.random.default_rng(seed)
    if graph is None:
        return np.asarray(rng.choice(n_nodes, size, replace=False), np.int64)
    nodes = rng.choice(n_nodes, size, replace=False)
    neighbors, degrees = nodes.copy(), np.diff(graph.indptr)[nodes]
    linked = degrees > 0
    steps = (rng.random(size) * degrees).astype(np.int64)
    neighbors[linked] = graph.indices[(graph.indptr[nodes] + steps)[linked]]
    drawn = np.column_stack([nodes, neighbors]).ravel()
    _, first = np.unique(drawn, return_index=True)
    return np.asarray(drawn[np.sort(first)][:size], np.int64)
