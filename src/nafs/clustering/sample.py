"""The nodes of a large graph whose partitions are compared.

Half of them are neighbors of the other half, so that the sample has enough edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency

SAMPLE = 5000  # nodes


def sample_size(n_clusters: int, at_least: int = SAMPLE) -> int:
    """How many nodes' partitions are compared in a large graph."""
    return max(at_least, 10 * n_clusters)


def draw(n_nodes: int, size: int, graph: Adjacency | None, seed: int) -> NDArray[np.int64] | None:
    """Nodes to compare partitions on; ``None`` for all. With a graph, each is followed by a neighbor."""
    if n_nodes <= size:
        return None
    rng = np.random.default_rng(seed)
    if graph is None:
        return np.sort(rng.choice(n_nodes, size, replace=False))
    nodes = rng.choice(n_nodes, size, replace=False)
    neighbors, degrees = nodes.copy(), np.diff(graph.indptr)[nodes]
    linked = degrees > 0
    steps = (rng.random(size) * degrees).astype(np.int64)
    neighbors[linked] = graph.indices[(graph.indptr[nodes] + steps)[linked]]
    drawn = np.column_stack([nodes, neighbors]).ravel()
    _, first = np.unique(drawn, return_index=True)
    return np.asarray(drawn[np.sort(first)][:size], np.int64)
