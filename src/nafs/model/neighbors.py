"""Neighbour lists that can change: rewritten rows are appended, all others stay in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency
from nafs.model import _updates


@dataclass(frozen=True, eq=False)
class Pairs:
    """Entries of the adjacency matrix: row ``readers[e]`` reads node ``sources[e]`` with a weight."""

    readers: NDArray[np.int32]
    sources: NDArray[np.int32]
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.readers)

    def transposed(self) -> Pairs:
        """The same entries of the transposed matrix."""
        return Pairs(self.sources, self.readers, self.weights)


@dataclass(frozen=True, eq=False)
class Rewritten:
    """Rewritten rows: the ``counts`` of their entries, and all entries concatenated."""

    rows: NDArray[np.int64]
    counts: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]

    @property
    def degrees(self) -> NDArray[np.float64]:
        """d̃ of the rows."""
        degrees = np.ones(len(self.rows))
        full = self.counts > 0
        if full.any():
            starts = np.cumsum(self.counts) - self.counts
            degrees[full] += np.add.reduceat(self.weights, starts[full], dtype=np.float64)
        return degrees


LISTED = 48  # bytes of memory for each entry while entries are listed


class NeighborLists:
    """The rows of an adjacency matrix, ascending.

    Row i is at ``starts[i]``, ``counts[i]`` long: in the arrays of the original graph or, if it was
    rewritten, in those of rewritten rows.
    """

    def __init__(self, graph: Adjacency, capacity: int) -> None:
        n = graph.n_nodes
        self.starts = np.zeros(capacity, np.int64)
        self.counts = np.zeros(capacity, np.int64)
        self.starts[:n], self.counts[:n] = graph.indptr[:-1], np.diff(graph.indptr)
        self._base, self._base_weights = graph.indices, graph.weights
        self._tail = np.zeros(0, np.int32)
        self._tail_weights = np.zeros(0, np.float32)
        self._used = 0  # entries of the tail

    @property
    def weighted(self) -> bool:
        """Whether edges may have weights other than 1."""
        return self._base_weights is not None

    @property
    def n_stored(self) -> int:
        """Number of entries."""
        return int(self.counts.sum())

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays besides the graph's own."""
        return int(self.starts.nbytes + self.counts.nbytes + self._tail.nbytes + self._tail_weights.nbytes)

    def for_kernel(self) -> _updates.Lists:
        """The lists as the kernel reads them."""
        base, tail = self._base_weights, self._tail_weights if self.weighted else None
        return _updates.Lists(self.starts, self.counts, self._base, self._tail, base, tail)

    def entries(self, rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """Position in ``rows``, neighbour and weight of all entries of some rows."""
        counts = self.counts[rows]
        owners = np.repeat(np.arange(len(rows)), counts)
        offsets = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = self.starts[rows][owners] + offsets
        in_base = places < len(self._base)
        neighbors = np.empty(len(places), np.int32)
        neighbors[in_base] = self._base[places[in_base]]
        neighbors[~in_base] = self._tail[places[~in_base] - len(self._base)]
        weights = np.ones(len(places), np.float32)
        if self._base_weights is not None:
            weights[in_base] = self._base_weights[places[in_base]]
            weights[~in_base] = self._tail_weights[places[~in_base] - len(self._base)]
        return owners, neighbors, weights

    def rewritten(self, pairs: Pairs) -> Rewritten:
        """The rows that differ once each pair has its new weight; 0 removes an entry.

        Each pair may occur only once.
        """
        rows = np.unique(pairs.readers).astype(np.int64)
        owners, neighbors, weights = self.entries(rows)
        n_old = len(owners)
        owners = np.concatenate([owners, np.searchsorted(rows, pairs.readers)])
        neighbors = np.concatenate([neighbors, pairs.sources])
        weights = np.concatenate([weights, pairs.weights])
        order = np.lexsort((np.arange(len(owners)) >= n_old, neighbors, owners))
        owners, neighbors, weights = owners[order], neighbors[order], weights[order]
        is_new = order >= n_old
        same = (owners[1:] == owners[:-1]) & (neighbors[1:] == neighbors[:-1])
        replaced = np.append(same, False)  # an old entry followed by a new one for the same pair
        before = np.zeros(len(owners), np.float32)
        before[1:][same] = weights[:-1][same]
        differs = is_new & (weights != before)
        changed = np.zeros(len(rows), bool)
        changed[owners[differs]] = True
        stays = (weights > 0) & ~replaced & changed[owners]
        return Rewritten(
            rows[changed],
            np.bincount(owners[stays], minlength=len(rows))[changed],
            neighbors[stays],
            weights[stays],
        )

    def write(self, new: Rewritten) -> None:
        """Point rows to their new entries, which are appended."""
        if not self.weighted and (new.weights != 1).any():
            tail_weights = np.ones(len(self._tail), np.float32)
            self._base_weights, self._tail_weights = np.ones(len(self._base), np.float32), tail_weights
        end = self._used + len(new.indices)
        if end > len(self._tail):
            more = max(1024, end + end // 2) - len(self._tail)
            tail = np.concatenate([self._tail, np.zeros(more, np.int32)])
            self._tail_weights = np.concatenate([self._tail_weights, np.ones(more, np.float32)])
            self._tail = tail
        self._tail[self._used : end], self._tail_weights[self._used : end] = new.indices, new.weights
        starts = np.cumsum(new.counts) - new.counts
        self.starts[new.rows] = len(self._base) + self._used + starts
        self.counts[new.rows] = new.counts
        self._used = end

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        more = np.zeros(max(0, capacity - len(self.starts)), np.int64)
        self.starts, self.counts = np.concatenate([self.starts, more]), np.concatenate([self.counts, more])

    def to_adjacency(self, alive: NDArray[np.bool_], *, directed: bool = False) -> Adjacency:
        """The graph of the nodes that are alive, numbered in order."""
        rows = np.flatnonzero(alive)
        _, neighbors, weights = self.entries(rows)
        place = np.cumsum(alive) - 1
        indptr = np.concatenate([[0], np.cumsum(self.counts[rows])])
        return Adjacency(
            indptr.astype(np.int64),
            place[neighbors].astype(np.int32),
            weights if self.weighted else None,
            directed,
        )
