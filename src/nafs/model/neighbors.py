"""Neighbour lists that can change: a changed row is rewritten at the end, the others stay where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency

Edges = dict[tuple[int, int], float]


@dataclass(frozen=True, eq=False)
class NeighborLists:
    """Row i holds ``indices[starts[i] : starts[i] + counts[i]]``, ascending; undirected.

    ``degrees`` are d̃: the row sums of A + I.
    """

    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    degrees: NDArray[np.float64]

    @classmethod
    def of(cls, graph: Adjacency) -> NeighborLists:
        """The lists of a graph, without a copy."""
        return cls(
            graph.indptr[:-1], np.diff(graph.indptr), graph.indices, graph.weights, graph.degrees.copy()
        )

    @property
    def n_nodes(self) -> int:
        """Number of rows."""
        return len(self.starts)

    @property
    def n_stored(self) -> int:
        """Number of stored entries."""
        return int(self.counts.sum())

    def row(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Neighbours of a node, and the weights of its edges."""
        span = slice(int(self.starts[node]), int(self.starts[node] + self.counts[node]))
        weights = np.ones(self.counts[node], np.float32) if self.weights is None else self.weights[span]
        return self.indices[span], weights

    def entries(self, rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32], Any]:
        """Position in ``rows``, neighbour and weight (None if unweighted) of all entries of some rows."""
        counts = self.counts[rows]
        owners = np.repeat(np.arange(len(rows)), counts)
        offsets = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = self.starts[rows][owners] + offsets
        return owners, self.indices[places], None if self.weights is None else self.weights[places]

    def changed(self, n_nodes: int, edges: Edges) -> tuple[NeighborLists, NDArray[np.int64]]:
        """The lists with other edges, and the rows that differ.

        Parameters
        ----------
        n_nodes : int
            Rows afterwards; new ones are at the end.
        edges : dict
            New weight of each changed pair (lower, higher); 0 removes the edge.
        """
        touched: dict[int, dict[int, float]] = {}
        for (low, high), weight in edges.items():
            touched.setdefault(low, {})[high] = weight
            touched.setdefault(high, {})[low] = weight
        fresh = n_nodes - self.n_nodes
        starts = np.concatenate([self.starts, np.full(fresh, len(self.indices))])
        counts = np.concatenate([self.counts, np.zeros(fresh, np.int64)])
        degrees = np.concatenate([self.degrees, np.ones(fresh)])
        end = len(self.indices)
        lists, values, rows = [], [], []
        for node in sorted(touched):
            old = {}
            if node < self.n_nodes:
                old = dict(zip(*(part.tolist() for part in self.row(node)), strict=True))
            new = {other: weight for other, weight in (old | touched[node]).items() if weight > 0}
            if new == old:
                continue
            order = sorted(new)
            lists.append(np.array(order, np.int32))
            values.append(np.array([new[other] for other in order], np.float32))
            starts[node], counts[node] = end, len(order)
            degrees[node] = 1.0 + values[-1].sum(dtype=np.float64)
            end += len(order)
            rows.append(node)
        weights = self.weights
        if weights is None and any((part != 1).any() for part in values):
            weights = np.ones(len(self.indices), np.float32)
        indices = np.concatenate([self.indices, *lists]) if lists else self.indices
        if weights is not None:
            weights = np.concatenate([weights, *values])
        return NeighborLists(starts, counts, indices, weights, degrees), np.array(rows, np.int64)

    def to_adjacency(self, alive: NDArray[np.bool_]) -> Adjacency:
        """The graph of the nodes that are alive, numbered in order."""
        rows = np.flatnonzero(alive)
        _, neighbors, weights = self.entries(rows)
        place = np.cumsum(alive) - 1
        indptr = np.concatenate([[0], np.cumsum(self.counts[rows])])
        return Adjacency(indptr.astype(np.int64), place[neighbors].astype(np.int32), weights)
