"""Neighbour lists of graphs larger than memory: sorted runs in a file, merged one range of edges at a time.

An entry of the adjacency is a whole number, ``source << 32 | target << 1 | reverse``, so that sorting numbers
sorts edges by source, then target; ``reverse`` tells an edge from the reverse of another one.

1. Blocks of the edge list are turned into entries, sorted, and written as runs, without duplicates.
2. A sample of all runs gives ranges of entries that fit into memory. Each range is read from all runs, sorted
   once more, merged, and written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency
from nafs.graph.adjacency import Merging
from nafs.readers.database import Bounds

_LONGEST = 1 << 23  # edges in a run
_SHORTEST = 1 << 12
_EDGE, _ENTRY = 80, 40  # bytes of memory for each edge of a run, and for each entry of a range
_WEIGHT = 2  # times as much with weights
_TARGET = (1 << 31) - 1


@dataclass(frozen=True)
class EdgeList:
    """Edges by position: from ``sources[e]`` to ``targets[e]``, moved to ``places`` if there are any."""

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None
    places: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.sources)

    def part(self, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Any]:
        """Sources, targets and weights of some edges, without those of weight 0."""
        ends = [array[begin:end].astype(np.int64) for array in (self.sources, self.targets)]
        weights = None if self.weights is None else self.weights[begin:end]
        if weights is not None and not weights.all():
            ends, weights = [array[weights != 0] for array in ends], weights[weights != 0]
        if self.places is not None:
            ends = [self.places[array] for array in ends]
        return ends[0], ends[1], weights


@dataclass(frozen=True)
class Entries:
    """Ascending entries without duplicates, and their weights if there are any."""

    keys: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def sorted(cls, keys: NDArray[np.int64], weights: NDArray[np.float64] | None) -> Entries:
        """Sort entries; the weights of duplicates add up. Changes ``keys``."""
        if weights is None:
            keys.sort(kind="stable")  # merges parts that are sorted already
            return cls(keys[_first(keys)])
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
        begins = np.flatnonzero(_first(keys))
        return cls(keys[begins], np.add.reduceat(weights, begins) if len(begins) else weights)

    def both_ways(self) -> Entries:
        """One entry for an edge and the reverse of another, with the larger weight; keys lose a bit."""
        edges = self.keys >> 1
        begins = np.flatnonzero(_first(edges))
        weights = self.weights
        if weights is not None and len(begins):
            weights = np.maximum.reduceat(weights, begins)
        return Entries(edges[begins], weights)


def sorted_adjacency(
    edges: EdgeList, n: int, bounds: Bounds, *, weighted: bool, directed: bool, self_loops: bool
) -> tuple[Adjacency, Merging]:
    """The same adjacency as :func:`nafs.graph.merge_edges` returns, up to the rounding of summed weights."""
    threads = bounds.threads or 1
    memory = bounds.memory // threads // (_WEIGHT if weighted else 1)
    with ThreadPoolExecutor(threads) as pool:

        def in_order(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            """Results of as many items at a time as there are threads."""
            waiting = list(items)
            for begin in range(0, len(waiting), threads):
                yield from pool.map(work, waiting[begin : begin + threads])

        looped = np.zeros(n, bool)  # nodes with a self-loop

        def run_of(begin: int) -> tuple[int, Entries]:
            sources, targets, weights = edges.part(begin, begin + step)
            n_read = len(sources)
            loops = sources == targets
            if loops.any():
                looped[sources[loops]] = True
                if not self_loops:
                    sources, targets = sources[~loops], targets[~loops]
                    weights = None if weights is None else weights[~loops]
            keys = sources << 32 | targets << 1
            if not directed:
                keys = np.concatenate([keys, targets << 32 | sources << 1 | 1])
                weights = None if weights is None else np.concatenate([weights, weights])
            return n_read, Entries.sorted(keys, weights if weighted else None)

        step = min(_LONGEST, max(_SHORTEST, memory // _EDGE))
        runs = _Runs(len(edges) * (1 if directed else 2), bounds, weighted=weighted)
        n_read = 0
        for count, run in in_order(run_of, range(0, len(edges), step)):
            n_read += count
            runs.append(run)

        indptr = bounds.allocate((n + 1,), np.int64)
        indptr[:] = 0
        indices = bounds.allocate((len(runs),), np.int32)
        values = bounds.allocate((len(runs),), np.float32) if weighted else None
        at = one_way = 0

        def merge(cuts: tuple[int, int]) -> tuple[int, Entries]:
            entries = runs.between(*cuts)
            return len(entries) - int(np.count_nonzero(entries.keys & 1)), entries.both_ways()

        for count, part in in_order(merge, pairwise(runs.cuts(max(_SHORTEST, memory // _ENTRY)))):
            one_way += count
            rows, span = part.keys >> 31, slice(at, at + len(part))
            indices[span] = part.keys & _TARGET
            if values is not None:
                values[span] = part.weights
            if len(rows):
                counts = np.bincount(rows - rows[0])
                indptr[rows[0] + 1 : rows[0] + 1 + len(counts)] += counts
            at += len(part)
    np.cumsum(indptr, out=indptr)
    n_loops = int(np.count_nonzero(looped))
    kept, dropped = (n_loops, 0) if self_loops else (0, n_loops)
    final = one_way if directed else (at + kept) // 2
    different = one_way + dropped
    merging = Merging(len(edges), len(edges) - n_read, n_read - different, dropped, one_way - final, final)
    return Adjacency(indptr, indices[:at], None if values is None else values[:at], directed), merging


class _Runs:
    """Sorted runs of entries, one after another in a file."""

    def __init__(self, most: int, bounds: Bounds, *, weighted: bool) -> None:
        self._keys = bounds.allocate((most,), np.int64)
        self._weights = bounds.allocate((most,), np.float64) if weighted else None
        self._ends = [0]

    def __len__(self) -> int:
        return self._ends[-1]

    def append(self, run: Entries) -> None:
        begin, end = len(self), len(self) + len(run)
        self._keys[begin:end] = run.keys
        if self._weights is not None:
            self._weights[begin:end] = run.weights
        self._ends.append(end)

    def cuts(self, most: int) -> list[int]:
        """Where ranges begin and end that hold at most this many entries each, duplicates included."""
        # Between two samples that are next to each other there are fewer than `step` entries of each run.
        step = max(1, most // 2 // max(1, len(self._ends) - 1))
        samples = [self._keys[begin:end:step] for begin, end in pairwise(self._ends)]
        sample = np.sort(np.concatenate([self._keys[:0], *samples]))
        inner = sample[:: max(1, most // 2 // step)][1:] & ~1  # an edge and its reverse stay together
        return [0, *np.unique(inner[inner > 0]).tolist(), np.iinfo(np.int64).max]

    def between(self, low: int, high: int) -> Entries:
        """The entries of all runs from one cut to the next."""
        parts = []
        for begin, end in pairwise(self._ends):
            parts.append(slice(*(begin + np.searchsorted(self._keys[begin:end], (low, high)))))
        keys = np.concatenate([self._keys[:0], *(self._keys[part] for part in parts)])
        weights = self._weights
        if weights is not None:
            weights = np.concatenate([weights[:0], *(weights[part] for part in parts)])
        return Entries.sorted(keys, weights)


def _first(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which sorted keys differ from the one before."""
    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first
