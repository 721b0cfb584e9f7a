"""Missing links by the link head: candidates from vectors and from shared neighbors, each with a reason.

Scoring all pairs would take n² scores. A pair that the head puts first has similar vectors or shares
neighbors, so candidates are the pairs with the most similar vectors and those with the largest resource
allocation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs.graph import Adjacency
from nafs.links import SCORES
from nafs.links.head import NUMBERS, LinkHead, PairNumbers
from nafs.links.pairs import HUB, are_edges, shared_neighbors
from nafs.similarity.nearest import ShareDone
from nafs.similarity.suggestions import suggest_pairs

ALL_PAIRS = 500_000  # pairs; in a graph with no more than this many, all are scored
_SPARE = 20  # candidates by vectors per suggestion
_FEWEST = 10_000  # candidates in a whole graph, by vectors and by shared neighbors
_FEWEST_OF_NODE = 1000  # candidates of one node
_NEAR = 32  # candidates by shared neighbors for each node
_WORK = 1 << 22  # paths of length two that are followed at a time
_NAMED = 3  # shared neighbors that a reason names


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
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float64]]:
    """The k best-scoring pairs without an edge, best first: k in the whole graph, or k for each of ``nodes``.

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
    ndarray of float64, shape (pairs, numbers)
        The contribution of each number to the score.
    """
    if k < 1:
        raise InputError(Parameter("k"), f" must be at least 1; got {k}")
    numbers = PairNumbers(graph, matrix)
    if nodes is None and graph.n_nodes * (graph.n_nodes - 1) // 2 <= ALL_PAIRS:
        every = np.column_stack(np.triu_indices(graph.n_nodes, 1))
        return _best(numbers, head, every[~are_edges(graph, every)], k)
    many = max(_SPARE * k, _FEWEST if nodes is None else _FEWEST_OF_NODE)
    similar_pairs = []
    for score in SCORES:
        report = None if progress is None else (lambda share, call=progress: call(share / len(SCORES)))
        pairs, _ = suggest_pairs(
            graph, matrix, many, nodes=nodes, score=score, exact=exact, n_threads=n_threads, progress=report
        )
        similar_pairs.append(pairs)
    by_vectors = np.concatenate(similar_pairs)
    if nodes is None:
        meeting = _meeting_pairs(graph, np.arange(graph.n_nodes), many, ordered=True)
        return _best(numbers, head, np.concatenate([by_vectors, meeting]), k)
    parts = []
    for node in nodes:
        meeting = _meeting_pairs(graph, np.array([node]), many, ordered=False)
        own = by_vectors[by_vectors[:, 0] == node]
        parts.append(_best(numbers, head, np.concatenate([own, meeting]), k))
    pairs, scores, contributions = (np.concatenate(part) for part in zip(*parts, strict=True))
    return pairs, scores, contributions


def _best(
    numbers: PairNumbers, head: LinkHead, pairs: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float64]]:
    pairs = np.unique(pairs, axis=0)
    contributions = head.contributions(numbers.of(pairs))
    scores = contributions.sum(axis=1)
    best = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))[:k]
    return pairs[best], scores[best].astype(np.float32), contributions[best]


def _meeting_pairs(
    graph: Adjacency, nodes: NDArray[np.int64], many: int, *, ordered: bool
) -> NDArray[np.int64]:
    """Pairs of nodes that share neighbors but no edge, ranked by resource allocation.

    With ``ordered``, each pair has its smaller node first and the best ``many`` pairs overall are returned;
    otherwise the best pairs of each node.
    """
    n, degrees = graph.n_nodes, np.diff(graph.indptr)
    pattern = sp.csr_array((np.ones(graph.n_stored, np.float32), graph.indices, graph.indptr), shape=(n, n))
    shares = np.where(degrees <= HUB, 1 / np.maximum(degrees, 1), 0).astype(np.float32)
    onward = sp.csr_array(
        (np.repeat(shares, degrees), graph.indices, graph.indptr), shape=(n, n)
    )  # rows of hubs are 0 and add nothing
    paths = np.asarray(pattern[nodes] @ np.where(degrees <= HUB, degrees, 0))
    kept_pairs, kept_values = np.empty((0, 2), np.int64), np.empty(0, np.float32)
    for block in _blocks(paths):
        allocated = (pattern[nodes[block]] @ onward).tocoo()
        pairs = np.column_stack([nodes[block][allocated.row], allocated.col]).astype(np.int64)
        wanted = pairs[:, 0] < pairs[:, 1] if ordered else pairs[:, 0] != pairs[:, 1]
        wanted &= allocated.data > 0
        pairs, values = pairs[wanted], allocated.data[wanted]
        limit = many if not ordered else _NEAR
        pairs, values = _first_of_each(pairs, values, limit)
        apart = ~are_edges(graph, pairs)
        kept_pairs = np.concatenate([kept_pairs, pairs[apart]])
        kept_values = np.concatenate([kept_values, values[apart]])
        if ordered and len(kept_pairs) > 4 * many:
            best = np.argsort(-kept_values, kind="stable")[:many]
            kept_pairs, kept_values = kept_pairs[best], kept_values[best]
    best = np.argsort(-kept_values, kind="stable")[: many if ordered else len(kept_values)]
    return kept_pairs[best]


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
    graph: Adjacency, pairs: NDArray[np.int64], contributions: NDArray[np.float64], names: Sequence[object]
) -> list[str]:
    """Why each pair was suggested: its shared neighbors by name, and the numbers in its favor.

    Parameters
    ----------
    graph : Adjacency
    pairs : ndarray of node numbers, shape (count, 2)
    contributions : ndarray of shape (count, numbers)
    names : sequence
        The name of each node.
    """
    at, shared = shared_neighbors(graph, pairs)
    degrees, words = np.diff(graph.indptr), list(NUMBERS.values())
    reasons = []
    for pair in range(len(pairs)):
        neighbors = shared[at == pair]
        neighbors = neighbors[np.argsort(degrees[neighbors], kind="stable")]  # the most informative first
        parts = []
        if len(neighbors):
            named = ", ".join(str(names[node]) for node in neighbors[:_NAMED])
            more = f" and {len(neighbors) - _NAMED} more" if len(neighbors) > _NAMED else ""
            parts.append(f"both are linked to {named}{more}")
        largest = np.argsort(-contributions[pair], kind="stable")[:2]
        parts += [words[number] for number in largest if contributions[pair, number] > 0]
        reasons.append("; ".join(parts))
    return reasons
