"""Missing links by the link head: candidates from vectors and from shared neighbors, each with a reason.

Scoring all pairs would take n² scores. A pair that the head puts first has similar vectors or shares
neighbors, so candidates are the pairs with the most similar vectors and those with the largest resource
allocation. In large graphs both are found without looking at every node's pairs: see
:mod:`nafs.similarity.close_pairs` for the vectors; and no pair of a node allocates more than the sum of 1 /
degree over its neighbors, so nodes are visited by that bound until it falls below the best pairs.

The head was fitted on an even mix of edges and other pairs. At the top of a ranking of all pairs, the few
nodes with extreme degrees would crowd out the rest: hardly any hidden edge tells the head what to make of
them. So degrees do not count in suggestions: each pair is scored as if its nodes had average degrees.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs.graph import Adjacency
from nafs.links import SCORES
from nafs.links.head import LinkHead, PairNumbers
from nafs.links.pairs import HUB, are_edges, shared_neighbors
from nafs.links.top import level_degrees
from nafs.similarity.close_pairs import close_pairs
from nafs.similarity.nearest import ShareDone
from nafs.similarity.suggestions import has_edges, suggest_pairs

ALL_PAIRS = 500_000  # pairs; in a graph with no more than this many, all are scored
_SPARE = 20  # candidates by vectors per suggestion
_ALL_VECTORS = 1.0e11  # multiplications; where comparing all vectors takes more, only close ones are compared
_FEWEST = 10_000  # candidates in a whole graph, by vectors and by shared neighbors
_FEWEST_OF_NODE = 1000  # candidates of one node
_NEAR = 32  # candidates by shared neighbors for each node
_CROWD = 64  # pairs ranked at a time, for each that is wanted
_WORK = 1 << 22  # paths of length two that are followed at a time
_MEETING = 0.3  # approximate share of the time that looking for shared neighbors takes
_NAMED = 3  # shared neighbors that a reason names

Ranked = tuple[NDArray[np.int64], NDArray[np.float32], list[list[str]]]


def likely_links(
    graph: Adjacency,
    matrix: NDArray[np.float32],
    head: LinkHead,
    k: int,
    *,
    nodes: NDArray[np.int64] | None = None,
    exact: bool | None = None,
    n_threads: int = 1,
    progress: ShareDone | None = None,
) -> Ranked:
    """The k best-scoring pairs without an edge, best first: k in the whole graph, or k for each of ``nodes``.

    A node without any edge is only suggested if it is one of ``nodes``.

    Parameters
    ----------
    graph : Adjacency
        Undirected.
    matrix : ndarray of shape (n, d)
    head : LinkHead
    k : int
    nodes : ndarray of node numbers, optional
        Only suggest links of these nodes; by default of all nodes.
    exact, n_threads, progress
        Of the search for similar vectors, as in :func:`suggest_pairs`.

    Returns
    -------
    ndarray of node numbers, shape (pairs, 2)
    ndarray of float32
        Their scores.
    list of lists of str
        What speaks for each pair, in words.
    """
    if k < 1:
        raise InputError(Parameter("k"), f" must be at least 1; got {k}")
    numbers = PairNumbers(graph, matrix)
    linked = np.flatnonzero(has_edges(graph))
    if nodes is None and graph.n_nodes * (graph.n_nodes - 1) // 2 <= ALL_PAIRS:
        every = linked[np.column_stack(np.triu_indices(len(linked), 1))]
        return _best(numbers, head, every[~are_edges(graph, every)], k)
    many = max(_SPARE * k, _FEWEST if nodes is None else _FEWEST_OF_NODE)
    if nodes is None and exact is None and len(matrix) * matrix.size / 2 > _ALL_VECTORS:
        report = _part_of(progress, 1 - _MEETING)
        by_vectors = close_pairs(graph, matrix, many, nodes=linked, progress=report)
    else:
        report = _part_of(progress, (1 - (_MEETING if nodes is None else 0)) / len(SCORES))
        by_vectors = np.concatenate(
            [
                suggest_pairs(
                    graph,
                    matrix,
                    many,
                    nodes=nodes,
                    score=score,
                    only_linked=True,
                    exact=exact,
                    n_threads=n_threads,
                    progress=report,
                )[0]
                for score in SCORES
            ]
        )
    if nodes is None:
        meeting = _meeting_pairs(graph, many, _part_of(progress, _MEETING))
        return _best(numbers, head, np.concatenate([by_vectors, meeting]), k)
    steps, parts = _two_steps(graph), []
    for node in nodes:
        meeting = _meeting_pairs_of(graph, node, many, steps)
        own = by_vectors[by_vectors[:, 0] == node]
        parts.append(_best(numbers, head, np.concatenate([own, meeting]), k))
    pairs, scores = (np.concatenate([part[column] for part in parts]) for column in (0, 1))
    return pairs, scores, [words for part in parts for words in part[2]]


def _best(numbers: PairNumbers, head: LinkHead, pairs: NDArray[np.int64], k: int) -> Ranked:
    pairs = np.unique(pairs, axis=0)
    values = level_degrees(head, numbers.of(pairs))
    scores = head.contributions(values).sum(axis=1)
    best = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))[:k]
    return pairs[best], scores[best].astype(np.float32), head.reasons(values[best])


def _part_of(progress: ShareDone | None, part: float) -> ShareDone | None:
    """Progress of a step that is this part of the work."""
    return None if progress is None else (lambda share: progress(part * share))


def _two_steps(graph: Adjacency) -> tuple[sp.csr_array, sp.csr_array]:
    """The two steps of a walk whose products are resource allocations; hubs lead nowhere."""
    n, degrees = graph.n_nodes, np.diff(graph.indptr).astype(np.int64)
    shares = np.where(degrees <= HUB, 1 / np.maximum(degrees, 1), 0).astype(np.float32)
    pattern = graph.indices, graph.indptr
    there = sp.csr_array((np.ones(graph.n_stored, np.float32), *pattern), shape=(n, n))
    return there, sp.csr_array((np.repeat(shares, degrees), *pattern), shape=(n, n))


def _meeting_pairs(graph: Adjacency, many: int, progress: ShareDone | None) -> NDArray[np.int64]:
    """The ``many`` pairs with the largest resource allocation and no edge, at most 32 for each node."""
    (there, onward), degrees = _two_steps(graph), np.diff(graph.indptr)
    passing = (degrees >= 2) & (degrees <= HUB)
    bounds = there @ np.where(passing, 1 / np.maximum(degrees, 1), 0)
    order = np.argsort(-bounds, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    paths = np.asarray(there @ np.where(passing, degrees, 0))[order].astype(np.int64)
    kept_pairs, kept_values, least, reported = np.empty((0, 2), np.int64), np.empty(0, np.float32), 0.0, 0.0
    for block in _blocks(paths):
        if bounds[order[block.start]] * (1 + 1e-5) <= least:
            break
        allocated = (there[order[block]] @ onward).tocoo()
        wanted = np.flatnonzero(
            (allocated.data > least) & (place[allocated.col] > block.start + allocated.row)
        )
        if len(wanted) > _CROWD * many:
            largest = np.argpartition(-allocated.data[wanted], _CROWD * many)[: _CROWD * many]
            wanted = np.sort(wanted[largest])
        pairs = np.column_stack([order[block.start + allocated.row[wanted]], allocated.col[wanted]])
        pairs, values = _first_of_each(pairs.astype(np.int64), allocated.data[wanted], _NEAR)
        apart = ~are_edges(graph, pairs)
        kept_pairs = np.concatenate([kept_pairs, np.sort(pairs[apart], axis=1)])
        kept_values = np.concatenate([kept_values, values[apart]])
        if len(kept_pairs) > 4 * many:
            best = np.argsort(-kept_values, kind="stable")[:many]
            kept_pairs, kept_values = kept_pairs[best], kept_values[best]
            least = float(kept_values[-1])
        if progress is not None:
            progress(block.stop / len(order) - reported)
            reported = block.stop / len(order)
    if progress is not None:
        progress(1 - reported)
    return kept_pairs[np.argsort(-kept_values, kind="stable")[:many]]


def _meeting_pairs_of(
    graph: Adjacency, node: int, many: int, steps: tuple[sp.csr_array, sp.csr_array]
) -> NDArray[np.int64]:
    """The pairs of one node that share neighbors but no edge, by falling resource allocation."""
    there, onward = steps
    allocated = (there[[node]] @ onward).tocoo()
    wanted = (allocated.data > 0) & (allocated.col != node)
    others, values = allocated.col[wanted].astype(np.int64), allocated.data[wanted]
    others = others[np.lexsort((others, -values))[:many]]
    pairs = np.column_stack([np.full(len(others), node), others])
    return np.asarray(pairs[~are_edges(graph, pairs)])


def _blocks(work: NDArray[np.int64]) -> list[slice]:
    """Slices of consecutive nodes, each with a limited total number of paths and at least one node."""
    ends, begin = [], 0
    total = np.cumsum(work)
    while begin < len(work):
        before = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, before + _WORK, side="right")))
        ends.append(slice(begin, end))
        begin = end
    return ends


def _first_of_each(
    pairs: NDArray[np.int64], values: NDArray[np.float32], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The pairs with the largest values, ``count`` for each first node."""
    order = np.lexsort((pairs[:, 1], -values, pairs[:, 0]))
    pairs, values = pairs[order], values[order]
    starts = np.flatnonzero(np.concatenate([[True], pairs[1:, 0] != pairs[:-1, 0]])[: len(pairs)])
    rank = np.arange(len(pairs)) - np.repeat(starts, np.diff(np.append(starts, len(pairs))))
    return pairs[rank < count], values[rank < count]


def reasons_of(
    graph: Adjacency, pairs: NDArray[np.int64], words: Sequence[Sequence[str]], names: Sequence[object]
) -> list[str]:
    """Why each pair was suggested: its shared neighbors by name, and the numbers in its favor.

    Parameters
    ----------
    graph : Adjacency
    pairs : ndarray of node numbers, shape (count, 2)
    words : sequence of sequences of str
        What speaks for each pair; see :meth:`nafs.links.LinkHead.reasons`.
    names : sequence
        The name of each node.
    """
    at, shared = shared_neighbors(graph, pairs)
    degrees = np.diff(graph.indptr)
    reasons = []
    for pair in range(len(pairs)):
        neighbors = shared[at == pair]
        neighbors = neighbors[np.argsort(degrees[neighbors], kind="stable")]  # the most informative first
        parts = []
        if len(neighbors):
            named = ", ".join(str(names[node]) for node in neighbors[:_NAMED])
            more = f" and {len(neighbors) - _NAMED} more" if len(neighbors) > _NAMED else ""
            parts.append(f"both are linked to {named}{more}")
        reasons.append("; ".join([*parts, *words[pair]]))
    return reasons
