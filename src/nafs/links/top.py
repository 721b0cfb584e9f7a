"""Which score puts more hidden edges first, where all pairs compete and not only a sample of them.

An AUC on sampled pairs says little about the first few hundred of all pairs. So all nodes, in large graphs a
random sample, are paired with the nodes most similar to them and with those that share most neighbors with
them. These pairs are ranked together, and the hidden edges among the first are counted.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.blas import one_blas_thread
from nafs.links.head import NUMBERS, LinkHead, PairNumbers
from nafs.links.pairs import HUB, Pairs, are_edges

FIRST = 200  # pairs
_NODES = 4000
_NEAREST = 20  # pairs of each node by vectors, and by shared neighbors
_CANDIDATES = 10_000  # the best of these pairs, by vectors and by shared neighbors
_WORK = 2.0e10  # multiplications
_VALUES = 1 << 20  # at a time
_REACHED = 1 << 19  # nodes two steps away at a time
_LEVELLED = [list(NUMBERS).index(name) for name in ("degrees", "degree difference")]


def level_degrees(head: LinkHead, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers of pairs, as if the nodes of each had average degrees."""
    values = values.copy()
    values[:, _LEVELLED] = np.array(head.means)[_LEVELLED]
    return values


def hidden_among_first(numbers: PairNumbers, head: LinkHead, hidden: Pairs) -> dict[str, int]:
    """How many of the first 200 pairs are hidden edges, by the head and by cosine.

    Parameters
    ----------
    numbers : PairNumbers
        Of the graph without the hidden edges.
    head : LinkHead
        Fitted on other edges than these.
    hidden : ndarray of int, shape (count, 2)
    """
    graph, (n, width) = numbers.graph, numbers.matrix.shape
    linked = np.diff(graph.indptr) > 0
    most = int(min(_NODES, max(20, _WORK // (n * width))))
    ends = np.sort(np.random.default_rng(0).permutation(np.flatnonzero(linked))[:most])
    if not len(ends):
        return {"head": 0, "cosine": 0}
    pairs = np.concatenate([_similar(numbers, ends, linked), _meeting(numbers, ends)])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    values = numbers.of(pairs)
    low, high = np.sort(hidden, axis=1).T
    is_hidden = np.isin(pairs[:, 0] * n + pairs[:, 1], low * n + high)
    by_head = head.contributions(level_degrees(head, values)).sum(axis=1)
    scores = {"head": by_head, "cosine": values[:, list(NUMBERS).index("cosine")]}
    return {
        name: int(is_hidden[np.argsort(-score, kind="stable")[:FIRST]].sum())
        for name, score in scores.items()
    }


def _similar(numbers: PairNumbers, ends: NDArray[np.int64], linked: NDArray[np.bool_]) -> Pairs:
    """Each end and the nodes with the most similar vectors, without edges."""
    n, width = numbers.matrix.shape
    step = max(1, _VALUES // max(width, len(ends)))
    own = _units(numbers.matrix[ends])
    rows, columns = _stored(numbers, ends)
    best = _Best(len(ends))
    with one_blas_thread():
        for top in range(0, n, step):
            cosines = own @ _units(numbers.matrix[top : top + step]).T
            cosines[:, ~linked[top : top + step]] = -np.inf
            inside = (columns >= top) & (columns < top + step)
            cosines[rows[inside], columns[inside] - top] = -np.inf
            if not top and cosines.shape[1] > _NEAREST:
                far = np.argpartition(cosines, cosines.shape[1] - _NEAREST, axis=1)[:, :-_NEAREST]
                np.put_along_axis(cosines, far, -np.inf, axis=1)
            at, place = np.nonzero(cosines > best.least[:, None])
            best.add(at, top + place, cosines[at, place])
    near, others = best.pairs()
    return np.column_stack([ends[near], others])


def _meeting(numbers: PairNumbers, ends: NDArray[np.int64]) -> Pairs:
    """Each end and the nodes with the largest resource allocation, without edges; hubs lead nowhere."""
    graph, n = numbers.graph, len(numbers.matrix)
    degrees = np.diff(graph.indptr)
    shares = np.where(degrees <= HUB, 1 / np.maximum(degrees, 1), 0).astype(np.float32)
    stored = sp.csr_array((np.ones(graph.n_stored, np.float32), graph.indices, graph.indptr), shape=(n, n))
    onward = sp.csr_array((np.repeat(shares, degrees), graph.indices, graph.indptr), shape=(n, n))
    from_ends = stored[ends]
    reached = from_ends @ degrees.astype(np.float64)  # at most, by each end
    block = (np.cumsum(reached) // _REACHED).astype(np.int64)
    best = _Best(len(ends))
    for first, last in pairwise([*np.flatnonzero(np.diff(block, prepend=-1)), len(ends)]):
        allocated = (from_ends[first:last] @ onward).tocoo()
        rows, columns, values = first + allocated.row, allocated.col, allocated.data
        large = values > np.maximum(best.least[rows], 0)
        rows, columns, values = rows[large], columns[large], values[large]
        pairs = np.column_stack([ends[rows], columns])
        wanted = (pairs[:, 0] != pairs[:, 1]) & ~are_edges(graph, pairs)
        best.add(rows[wanted], columns[wanted], values[wanted])
    near, others = best.pairs()
    return np.column_stack([ends[near], others])


class _Best:
    """The best pairs, of each row no more than ``_NEAREST``."""

    def __init__(self, n_rows: int) -> None:
        self.least = np.full(n_rows, -np.inf, np.float32)  # what a pair has to exceed, by row
        self._kept = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
        self._waiting: list[tuple[NDArray[Any], ...]] = []

    def add(self, rows: NDArray[Any], columns: NDArray[Any], values: NDArray[np.float32]) -> None:
        """Let more pairs compete."""
        self._waiting.append((rows, columns, values))
        if not len(self._kept[0]) or sum(len(part[0]) for part in self._waiting) > _CANDIDATES:
            self._settle()

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns, the best first."""
        self._settle()
        return self._kept[0], self._kept[1]

    def _settle(self) -> None:
        parts = zip(self._kept, *self._waiting, strict=True)
        rows, columns, values = (np.concatenate(part) for part in parts)
        order = np.lexsort((columns, -values, rows))
        rank = np.arange(len(order)) - np.searchsorted(rows[order], rows[order])
        last = order[rank == _NEAREST - 1]
        self.least[rows[last]] = values[last]
        order = order[rank < _NEAREST]
        order = order[np.argsort(-values[order], kind="stable")[:_CANDIDATES]]
        if len(order) == _CANDIDATES:
            np.maximum(self.least, values[order[-1]], out=self.least)
        self._kept, self._waiting = (rows[order], columns[order], values[order]), []


def _stored(numbers: PairNumbers, ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The neighbors of each end, and the end itself."""
    graph = numbers.graph
    lists = [np.append(graph.indices[graph.indptr[end] : graph.indptr[end + 1]], end) for end in ends]
    return np.repeat(np.arange(len(ends)), [len(row) for row in lists]), np.concatenate(lists)


def _units(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    rows = np.asarray(rows, np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)
