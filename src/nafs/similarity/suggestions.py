"""Missing links: the pairs without an edge that score highest, found without an n × n matrix."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs.graph import Adjacency
from nafs.links import SCORES
from nafs.links.pairs import are_edges
from nafs.similarity.nearest import (
    BUILDING,
    EXACT_WORK,
    ShareDone,
    bounded,
    build_index,
    recall_note,
    scored_rows,
    search_index,
    widen,
)

_BLOCK = 1 << 24  # scores held at a time
_TRIED = 16  # blocks after which the remaining work is estimated
_SEARCHED = 4096  # nodes looked up in an index at a time
_CANDIDATES = 64  # candidates per node from an index
_MOST_CANDIDATES = 4096  # ... if all of the nearest are neighbours already
_SPARE = 64  # extra pairs, so that rounding in a product cannot lose one


def suggest_pairs(
    graph: Adjacency,
    matrix: NDArray[np.float32],
    k: int,
    *,
    nodes: NDArray[np.int64] | None = None,
    score: str = "inner",
    only_linked: bool = False,
    exact: bool | None = None,
    n_threads: int = 1,
    progress: ShareDone | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k best-scoring pairs without an edge, best first: k in the whole graph, or k for each of ``nodes``.

    Parameters
    ----------
    graph : Adjacency
        Undirected.
    matrix : ndarray of shape (n, d)
    k : int
    nodes : ndarray of node numbers, optional
        Only suggest links of these nodes; by default of all nodes.
    score : {"inner", "cosine"}
    only_linked : bool
        Whether to leave out nodes without any edge, unless they are among ``nodes``.
    exact : bool, optional
        Compare all pairs, or only the 64 nearest of each node by an index. Exact by default unless an
        index is faster.
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
        raise InputError(Parameter("k"), f" must be at least 1; got {k}")
    if graph.directed:
        raise InputError(
            "links are suggested for undirected graphs: read the graph with ", Parameter("directed", False)
        )
    rows = scored_rows(matrix, score)
    allowed = has_edges(graph) if only_linked else np.ones(len(rows), bool)
    if nodes is not None:
        allowed[nodes] = True
        pairs, scores = _for_nodes(graph, rows, k, nodes, allowed, progress)
        return pairs, bounded(scores, score)
    if exact is not False:
        exact_best = _exact_pairs(graph, rows, k, allowed, None if exact else EXACT_WORK, progress)
        if exact_best is not None:
            return exact_best.pairs, bounded(exact_best.scores, score)
    best = _Best(k)
    index = build_index(rows, "inner", progress)
    recall = widen(index, rows, _CANDIDATES, n_threads)
    if exact is None:
        warnings.warn(recall_note(recall), stacklevel=2)
    for begin in range(0, len(rows), _SEARCHED):
        end = min(len(rows), begin + _SEARCHED)
        best.add(rows, _near_pairs(index, graph, rows, allowed, (begin, end), n_threads))
        if progress is not None:
            progress((1.0 - BUILDING) * (end - begin) / len(rows))
    return best.pairs, bounded(best.scores, score)


def _exact_pairs(
    graph: Adjacency,
    rows: NDArray[np.float32],
    k: int,
    allowed: NDArray[np.bool_],
    limit: float | None,
    progress: ShareDone | None,
) -> _Best | None:
    """The best of all pairs; ``None`` if finding them takes more multiplications than the limit.

    No score exceeds the product of the lengths of two rows. Rows are therefore visited by decreasing length,
    and each is compared only with rows long enough for the pair to rank among the best so far.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    order = np.argsort(-lengths, kind="stable")
    order = order[allowed[order]]
    place = np.empty(len(rows), np.int64)  # nodes that are not allowed have no edges, so it is not read there
    place[order] = np.arange(len(order))
    lengths, rows, n = lengths[order], rows[order], len(order)
    best, begin, reported = _Best(k), 0, 0.0
    for block in itertools.count():
        if block == _TRIED and limit is not None:
            pairs_left = np.maximum(_reach(lengths, begin, n, best.least) - np.arange(begin, n), 0).sum()
            if float(pairs_left) * rows.shape[1] > limit:
                return None
        stop = int(_reach(lengths, begin, begin + 1, best.least).max(initial=0))
        if stop <= begin + 1:
            break
        end = min(stop, begin + max(1, _BLOCK // (stop - begin)))
        scores = rows[begin:end] @ rows[begin:stop].T
        _mask(scores, graph, order[begin:end], place, begin)
        scores[:, : end - begin][np.tri(end - begin, dtype=bool)] = -np.inf  # each pair once
        at = _above(scores.ravel(), k + _SPARE, best.least)
        pairs = np.column_stack([begin + at // scores.shape[1], begin + at % scores.shape[1]])
        best.add(rows, pairs, order)
        begin = end
        if progress is not None and block > _TRIED:
            progress(begin / n - reported)
            reported = begin / n
    if progress is not None:
        progress(1.0 - reported)
    return best


def _reach(lengths: NDArray[np.float64], begin: int, end: int, least: float) -> NDArray[np.int64]:
    """For rows begin..end, how many of the longest rows can form a pair that scores at least ``least``."""
    some = lengths[begin:end]
    if least <= 0:
        return np.full(len(some), len(lengths))
    needed = least * (1 - 1e-5) / np.maximum(some, 1e-300)
    return np.asarray(len(lengths) - np.searchsorted(lengths[::-1], needed, side="left"))


def _near_pairs(
    index: Any,
    graph: Adjacency,
    rows: NDArray[np.float32],
    allowed: NDArray[np.bool_],
    block: tuple[int, int],
    n_threads: int,
) -> NDArray[np.int64]:
    """Pairs of nodes with their nearest nodes, without edges; if all of those are edges, search wider."""
    nodes, count = block[0] + np.flatnonzero(allowed[slice(*block)]), _CANDIDATES
    candidates = [np.empty((0, 2), np.int64)]
    while len(nodes):
        near = search_index(index, rows[nodes], min(count, len(rows)), n_threads)
        pairs = np.column_stack([np.repeat(nodes, near.shape[1]), near.ravel()])
        pairs = pairs[pairs[:, 1] >= 0]
        pairs = pairs[allowed[pairs[:, 1]]]
        pairs = pairs[~are_edges(graph, pairs) & (pairs[:, 0] != pairs[:, 1])]
        candidates.append(np.sort(pairs, axis=1))
        if count >= min(len(rows), _MOST_CANDIDATES):
            break
        nodes, count = np.setdiff1d(nodes, pairs[:, 0]), 4 * count
    return np.concatenate(candidates)


def _for_nodes(
    graph: Adjacency,
    rows: NDArray[np.float32],
    k: int,
    nodes: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    progress: ShareDone | None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    best_pairs, best_scores = [], []
    for node in nodes:
        scores = rows @ rows[node]
        scores[~allowed] = -np.inf
        scores[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]] = -np.inf
        scores[node] = -np.inf
        best = _Best(k)
        at = _top(scores, k + _SPARE)
        best.add(rows, np.column_stack([np.full(len(at), node), at]))
        best_pairs.append(best.pairs)
        best_scores.append(best.scores)
        if progress is not None:
            progress(1 / len(nodes))
    return np.concatenate(best_pairs), np.concatenate(best_scores)


def has_edges(graph: Adjacency) -> NDArray[np.bool_]:
    """Which nodes have an edge."""
    return np.asarray(np.diff(graph.indptr) > 0)


class _Best:
    """The k best pairs so far; ties go to the pair that comes first."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.pairs, self.scores = np.empty((0, 2), np.int64), np.empty(0, np.float32)

    @property
    def least(self) -> float:
        """The score that a pair must exceed to be among them."""
        return float(self.scores[-1]) if len(self.scores) == self.k else -np.inf

    def add(
        self, rows: NDArray[np.float32], pairs: NDArray[np.int64], names: NDArray[np.int64] | None = None
    ) -> None:
        """Consider more pairs of rows; ``names`` maps rows to node numbers if rows were reordered."""
        scores = np.einsum("ij,ij->i", rows[pairs[:, 0]], rows[pairs[:, 1]])
        pairs = pairs if names is None else np.sort(names[pairs], axis=1)
        pairs, scores = np.concatenate([self.pairs, pairs]), np.concatenate([self.scores, scores])
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))
        pairs, scores = pairs[order], scores[order]
        fresh = np.ones(len(pairs), bool)
        fresh[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)  # the same pair scores the same
        self.pairs, self.scores = pairs[fresh][: self.k], scores[fresh][: self.k]


def _top(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Positions of the k largest finite scores; ties go to the first position."""
    if k < len(scores):
        least = -np.partition(-scores, k - 1)[k - 1]
        above = np.flatnonzero(scores > least)
        at = np.concatenate([above, np.flatnonzero(scores == least)[: k - len(above)]])
    else:
        at = np.arange(len(scores))
    return np.asarray(at[scores[at] > -np.inf])


def _above(scores: NDArray[np.float32], k: int, least: float) -> NDArray[np.int64]:
    """Positions of the k largest scores, or fewer if fewer exceed the least that matters."""
    at = np.flatnonzero(scores >= least - 1e-5 * abs(least)) if least > -np.inf else None
    if at is None or len(at) > k:
        return _top(scores, k)
    return np.asarray(at)


def _mask(
    scores: NDArray[np.float32],
    graph: Adjacency,
    nodes: NDArray[np.int64],
    place: NDArray[np.int64],
    first: int,
) -> None:
    """Exclude edges: rows are ``nodes``, and column 0 is the node at position ``first``."""
    counts = graph.indptr[nodes + 1] - graph.indptr[nodes]
    rows = np.repeat(np.arange(len(nodes)), counts)
    firsts = np.repeat(graph.indptr[nodes] - (np.cumsum(counts) - counts), counts)
    columns = place[graph.indices[firsts + np.arange(len(rows))]] - first
    inside = (columns >= 0) & (columns < scores.shape[1])
    scores[rows[inside], columns[inside]] = -np.inf
