"""The weight of each column of a table, so that no column dominates the others.

A column is weighted by how well it separates edges from other pairs of nodes: neighbours are more alike in it
than other pairs are. That needs no labels, and a column of noise gets no weight. All blocks are scaled to the
same mean length first. Where no edge joins two nodes with rows, nodes that share a neighbour are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.graph import Adjacency

PAIRS = 20_000
_SURE = 2.0  # standard errors above an AUC of 0.5; less may be chance
_CHANCE = 0.05  # probability, without any relation to the edges, below which columns are taken to fit them


@dataclass(frozen=True, eq=False)
class Balance:
    """Factors of the blocks, and the AUC of each block on edges against random pairs."""

    factors: NDArray[np.float64]
    scores: NDArray[np.float64]
    informative: bool = True  # whether any block fits the edges better than chance

    def apply(self, blocks: Sequence[Any]) -> Any:
        """All blocks side by side, each times its factor."""
        scaled = [block * np.float32(factor) for block, factor in zip(blocks, self.factors, strict=True)]
        return sp.csr_array(sp.hstack(scaled, format="csr"), dtype=np.float32)


def balance(blocks: Sequence[Any], graph: Adjacency, *, equal: bool = False, seed: int = 0) -> Balance:
    """Find the weight of each block.

    Parameters
    ----------
    blocks : sequence of sparse matrices
        With a row for each node.
    graph : Adjacency
    equal : bool
        Give all blocks the same weight.
    seed : int
        Seed of the random pairs.

    Returns
    -------
    Balance

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from nafs.graph import read_adjacency
    >>> from nafs.tables import balance
    >>> halves = np.repeat([0.0, 1.0], 50)
    >>> graph = read_adjacency((halves[:, None] == halves) * 1.0)
    >>> noise = np.random.default_rng(0).normal(size=100)
    >>> blocks = [sp.csr_array(2 * halves[:, None] - 1), sp.csr_array(noise[:, None])]
    >>> balance(blocks, graph).factors
    array([1., 0.])
    """
    informative = True
    lengths = np.array([np.sqrt(block.multiply(block).sum() / max(1, block.shape[0])) for block in blocks])
    weights, scores = np.ones(len(blocks)), np.full(len(blocks), np.nan)
    edges, others = _pairs(graph, seed)
    described = sum((np.diff(sp.csr_array(block).indptr) for block in blocks), np.zeros(graph.n_nodes)) > 0
    if not described[edges].all(axis=1).any():
        shared = _two_steps(graph, described, seed)
        edges, others = shared if len(shared[0]) else (edges, others)
    if len(edges):
        scores = np.array([_separation(block, edges, others) for block in blocks])
        error = _SURE * np.sqrt(1 / (6 * len(edges)))  # of an AUC of 0.5
        gains = np.where(scores - 0.5 > error, 2 * scores - 1, 0.0)
        informative = _beyond_chance((scores - 0.5) / (error / _SURE))
        if informative and not equal:
            weights = gains / gains.max()
    factors = np.divide(weights, lengths, out=np.zeros(len(blocks)), where=lengths > 0)
    return Balance(factors, scores, informative)


def _beyond_chance(deviations: NDArray[np.float64]) -> bool:
    """Whether columns fit the edges: more of them, or one of them better, than among as many of noise.

    Parameters
    ----------
    deviations : ndarray
        How far the AUC of each column is above 0.5, in standard errors.
    """
    from scipy.stats import binom, norm

    count = len(deviations)
    fitting = int((deviations > _SURE).sum())
    many = binom.sf(fitting - 1, count, norm.sf(_SURE)) < _CHANCE
    return bool(fitting and (many or norm.sf(deviations.max()) < _CHANCE / count))


def _pairs(graph: Adjacency, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Some edges, and as many random pairs: the same edges with their ends shuffled.

    Shuffling keeps degrees, so that a column that only distinguishes hubs from other nodes gets no weight.
    """
    rng = np.random.default_rng(seed)
    entries = np.sort(rng.permutation(graph.n_stored)[:PAIRS])
    ends = np.searchsorted(graph.indptr, entries, side="right") - 1
    edges = np.column_stack([ends, graph.indices[entries]]).astype(np.int64)
    edges = edges[edges[:, 0] != edges[:, 1]]
    others = np.column_stack([edges[:, 0], rng.permutation(edges[:, 1])])
    return edges, others[others[:, 0] != others[:, 1]]


def _two_steps(
    graph: Adjacency, described: NDArray[np.bool_], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """As :func:`_pairs`, for nodes that share a neighbour, such as items of one buyer."""
    rng, n = np.random.default_rng(seed), graph.n_nodes
    stored = sp.csr_array((np.ones(graph.n_stored, np.int8), graph.indices, graph.indptr), shape=(n, n))
    both = sp.csr_array(stored + stored.T) if graph.directed else stored
    degrees = np.diff(both.indptr)

    def step(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        offsets = (rng.random(len(nodes)) * degrees[nodes]).astype(np.int64)
        return np.asarray(both.indices[both.indptr[nodes] + offsets], np.int64)

    linked = np.flatnonzero(described & (degrees > 0))
    first = linked[rng.integers(0, max(1, len(linked)), PAIRS if len(linked) else 0)]
    second = step(step(first))
    kept = (first != second) & described[second]
    pairs = np.column_stack([first[kept], second[kept]])
    others = np.column_stack([pairs[:, 0], rng.permutation(pairs[:, 1])])
    return pairs, others[others[:, 0] != others[:, 1]]


def _separation(block: Any, edges: NDArray[np.int64], others: NDArray[np.int64]) -> float:
    """AUC of closeness on edges against other pairs; empty rows are close to no other row."""
    from scipy.stats import rankdata

    rows = sp.csr_array(block)
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    pairs = np.concatenate([edges, others])
    dots = np.asarray(rows[pairs[:, 0]].multiply(rows[pairs[:, 1]]).sum(axis=1)).ravel()
    ranks = rankdata(2 * dots - squares[pairs[:, 0]] - squares[pairs[:, 1]])
    count = len(edges)
    return float((ranks[:count].sum() - count * (count + 1) / 2) / max(1, count * len(others)))
