"""Missing links: pairs without an edge that the link score puts first. Nothing of size n × n is held."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.checks import check_choice
from nafs.graph import Adjacency
from nafs.selection.hidden_edges import SCORES
from nafs.similarity.nearest import (
    BUILDING,
    EXACT_WORK,
    ShareDone,
    build_index,
    search_index,
    tell,
    unit_rows,
    widen,
)

_BLOCK = 1 << 24  # scores held at a time
_JUDGED = 10  # nearest of a sample that an index has to find
_CANDIDATES = 64  # of each node, where pairs are looked for through an index
_MOST_CANDIDATES = 4096  # ... where its nearest are all its neighbours already
_SPARE = 64  # pairs beyond those asked for, so that rounding in a product cannot lose one


def suggest_pairs(
    graph: Adjacency,
    matrix: NDArray[np.float32],
    k: int,
    *,
    nodes: NDArray[np.int64] | None = None,
    score: str = "inner",
    exact: bool | None = None,
    n_threads: int = 1,
    progress: ShareDone | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k best pairs that are no edges, best first; k for each of some nodes, or k in the whole graph.

    Parameters
    ----------
    graph : Adjacency
        Undirected.
    matrix : ndarray of shape (n, d)
    k : int
    nodes : ndarray of node numbers, optional
        Pairs with one of these; by default any pair.
    score : {"inner", "cosine"}
    exact : bool, optional
        By default as long as that takes a minute or so; above that, pairs among the 64 nearest of each.
    n_threads : int
    progress : callable, optional
        Called with the share of the work done since the last call.

    Returns
    -------
    ndarray of node numbers, shape (pairs, 2)
    ndarray of float32
        Their scores.
    """
    check_choice("score", score, SCORES)
    if k < 1:
        raise ValueError(f"at least 1 link must be asked for; got {k}")
    if graph.directed:
        raise ValueError("links are suggested for undirected graphs: read the graph with directed=False")
    rows = unit_rows(matrix) if score == "cosine" else np.asarray(matrix, np.float32)
    if nodes is not None:
        return _for_nodes(graph, rows, k, nodes, progress)
    chosen = exact is None
    if exact is None:
        exact = float(len(rows)) * rows.size <= EXACT_WORK
    best = _Best(k)
    index = None
    if not exact:
        index = build_index(rows, "inner", progress)
        recall = widen(index, rows, min(_JUDGED, len(rows) - 1), n_threads)
        if chosen:
            warnings.warn(tell(recall), stacklevel=2)
    left = 1.0 if index is None else 1.0 - BUILDING
    step = max(1, _BLOCK // len(rows)) if exact else 4096
    for begin in range(0, len(rows), step):
        end = min(len(rows), begin + step)
        if index is None:
            scores = rows[begin:end] @ rows[begin:].T
            _mask(scores, graph, begin, end, begin)
            scores[np.tri(end - begin, scores.shape[1], dtype=bool)] = -np.inf  # each pair once
            at = _top(scores.ravel(), k + _SPARE)
            pairs = np.column_stack([begin + at // scores.shape[1], begin + at % scores.shape[1]])
        else:
            pairs = _near_pairs(index, graph, rows, begin, end, n_threads)
        best.add(pairs, np.einsum("ij,ij->i", rows[pairs[:, 0]], rows[pairs[:, 1]]))
        if progress is not None:
            progress(left * (end - begin) / len(rows))
    return best.pairs, best.scores


def _near_pairs(
    index: Any, graph: Adjacency, rows: NDArray[np.float32], begin: int, end: int, n_threads: int
) -> NDArray[np.int64]:
    """Pairs of nodes with their nearest that are no edges; more are looked at where all are."""
    nodes, count = np.arange(begin, end), _CANDIDATES
    found = []
    while len(nodes):
        near = search_index(index, rows[nodes], min(count, len(rows)), n_threads)
        pairs = np.column_stack([np.repeat(nodes, near.shape[1]), near.ravel()])
        pairs = pairs[pairs[:, 1] >= 0]
        pairs = pairs[~_are_edges(graph, pairs)]
        found.append(np.sort(pairs, axis=1))
        if count >= min(len(rows), _MOST_CANDIDATES):
            break
        nodes, count = np.setdiff1d(nodes, pairs[:, 0]), 4 * count
    return np.concatenate(found)


def _for_nodes(
    graph: Adjacency,
    rows: NDArray[np.float32],
    k: int,
    nodes: NDArray[np.int64],
    progress: ShareDone | None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    pairs, found = [], []
    for node in nodes:
        scores = rows @ rows[node]
        scores[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]] = -np.inf
        scores[node] = -np.inf
        best = _Best(k)
        at = _top(scores, k + _SPARE)
        best.add(np.column_stack([np.full(len(at), node), at]), np.einsum("j,ij->i", rows[node], rows[at]))
        pairs.append(best.pairs)
        found.append(best.scores)
        if progress is not None:
            progress(1 / len(nodes))
    return np.concatenate(pairs), np.concatenate(found)


class _Best:
    """The k best pairs so far; of those that score alike, the first."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.pairs, self.scores = np.empty((0, 2), np.int64), np.empty(0, np.float32)

    def add(self, pairs: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
        pairs, scores = np.concatenate([self.pairs, pairs]), np.concatenate([self.scores, scores])
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))
        pairs, scores = pairs[order], scores[order]
        fresh = np.ones(len(pairs), bool)
        fresh[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)  # the same pair scores the same
        self.pairs, self.scores = pairs[fresh][: self.k], scores[fresh][: self.k]


def _top(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Places of the k largest that are scores at all; of those that are alike, the first."""
    if k < len(scores):
        least = -np.partition(-scores, k - 1)[k - 1]
        above = np.flatnonzero(scores > least)
        at = np.concatenate([above, np.flatnonzero(scores == least)[: k - len(above)]])
    else:
        at = np.arange(len(scores))
    return np.asarray(at[scores[at] > -np.inf])


def _mask(scores: NDArray[np.float32], graph: Adjacency, begin: int, end: int, left: int) -> None:
    """Put edges out of the running; column 0 is node ``left``."""
    offsets = graph.indptr[begin : end + 1]
    rows = np.repeat(np.arange(end - begin), np.diff(offsets))
    columns = graph.indices[offsets[0] : offsets[-1]]
    here = columns >= left
    scores[rows[here], columns[here] - left] = -np.inf


def _are_edges(graph: Adjacency, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pairs are edges, looked up in sorted neighbour lists by halving."""
    low, high = graph.indptr[pairs[:, 0]].copy(), graph.indptr[pairs[:, 0] + 1].copy()
    ends = high.copy()
    while (low < high).any():
        middle = (low + high) // 2
        open_ends = low < high
        smaller = np.zeros(len(pairs), bool)
        smaller[open_ends] = graph.indices[middle[open_ends]] < pairs[open_ends, 1]
        low = np.where(open_ends & smaller, middle + 1, low)
        high = np.where(open_ends & ~smaller, middle, high)
    found = low < ends
    found[found] = graph.indices[low[found]] == pairs[found, 1]
    return np.asarray(found | (pairs[:, 0] == pairs[:, 1]))
