"""Pairs of similar vectors in a large graph, without comparing all pairs.

Random hyperplanes cut the vectors into halves, the halves again, and so on, until few are left in each part;
only vectors in the same part are compared. Two similar vectors are rarely separated, and several rounds of
cuts make it unlikely that they always are. The work grows like n log n.

Inner products also favour long vectors, whatever their part, so the longest ones are all compared.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency
from nafs.links.pairs import are_edges
from nafs.similarity.nearest import ShareDone, scored_rows, unit_rows

PART = 1024  # vectors that are compared with each other
ROUNDS = 12
LONGEST = 4096  # vectors that are all compared by inner product
_BLOCK = 1 << 22  # scores at a time

Pairs = NDArray[np.int64]


def close_pairs(
    graph: Adjacency,
    matrix: NDArray[np.float32],
    many: int,
    *,
    nodes: NDArray[np.int64] | None = None,
    progress: ShareDone | None = None,
) -> Pairs:
    """Pairs without an edge and with a high score, about the best ``many`` by cosine and by inner product.

    Parameters
    ----------
    graph : Adjacency
    matrix : ndarray of shape (n, d)
    many : int
    nodes : ndarray of node numbers, optional
        Only pairs of these; by default of all nodes.
    progress : callable, optional
        Called with the share of the work done since the last call.

    Returns
    -------
    ndarray of node numbers, shape (pairs, 2)
        The smaller number first; a pair may be listed twice.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.graph import read_adjacency
    >>> from nafs.similarity.close_pairs import close_pairs
    >>> vectors = np.array([[1, 0], [1, 0.1], [0, 1], [-1, 0]], np.float32)
    >>> close_pairs(read_adjacency(np.zeros((4, 4))), vectors, 1)
    array([[0, 1],
           [0, 1]])
    """
    rows = scored_rows(matrix, "inner")
    units = unit_rows(rows)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)).astype(np.float32)
    by_cosine, by_inner = _Best(graph, many), _Best(graph, many)
    nodes = np.arange(len(rows)) if nodes is None else nodes
    longest = nodes[np.argsort(-lengths[nodes], kind="stable")[:LONGEST]]
    step = max(1, _BLOCK // len(longest))
    for begin in range(0, len(longest), step):
        by_inner.add(longest, rows[longest[begin : begin + step]] @ rows[longest].T, begin)
    rng = np.random.default_rng(0)
    for _ in range(ROUNDS):
        for part in _parts(units, nodes, rng):
            vectors, sizes = units[part], lengths[part]
            scores = vectors @ vectors.T
            by_cosine.add(part, scores)
            if float(sizes.max()) ** 2 > by_inner.least:
                by_inner.add(part, scores * np.outer(sizes, sizes))
            if progress is not None:
                progress(len(part) / len(nodes) / ROUNDS)
    return np.concatenate([by_cosine.pairs(), by_inner.pairs()])


def _parts(
    units: NDArray[np.float32], nodes: NDArray[np.int64], rng: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """The nodes in parts of at most ``PART``, cut at the median along the difference of two random rows."""
    stack = [nodes]
    while stack:
        nodes = stack.pop()
        if len(nodes) <= PART:
            yield nodes
            continue
        first, second = units[rng.choice(nodes, 2, replace=False)]
        across = units[nodes] @ (first - second)
        middle = len(nodes) // 2
        order = np.argpartition(across, middle)
        stack += [nodes[order[:middle]], nodes[order[middle:]]]


class _Best:
    """The best pairs so far."""

    def __init__(self, graph: Adjacency, many: int) -> None:
        self.graph, self.many, self.least = graph, many, -np.inf
        self.keys, self.scores = np.empty(0, np.int64), np.empty(0, np.float32)

    def add(self, nodes: NDArray[np.int64], scores: NDArray[np.float32], begin: int = 0) -> None:
        """Consider pairs of some nodes; row i of the scores belongs to node ``begin`` + i."""
        row, column = np.divmod(np.flatnonzero(scores > self.least), len(nodes))
        once = row + begin < column
        row, column = row[once], column[once]
        values = scores[row, column]
        if len(row) > 4 * self.many:  # edges may be among them
            best = np.argpartition(-values, 4 * self.many)[: 4 * self.many]
            row, column, values = row[best], column[best], values[best]
        pairs = np.column_stack([nodes[row + begin], nodes[column]])
        pairs.sort(axis=1)
        apart = ~are_edges(self.graph, pairs)
        keys = pairs[apart, 0] * self.graph.n_nodes + pairs[apart, 1]
        self.keys = np.concatenate([self.keys, keys])
        self.scores = np.concatenate([self.scores, values[apart]])
        if len(self.keys) > 4 * self.many:
            self._shrink()

    def _shrink(self) -> None:
        """Keep the best pairs, each once; ties go to the pair that comes first."""
        keys, first = np.unique(self.keys, return_index=True)
        scores = self.scores[first]
        order = np.argsort(-scores, kind="stable")[: self.many]
        self.keys, self.scores = keys[order], scores[order]
        if len(order) == self.many:
            self.least = float(self.scores[-1])

    def pairs(self) -> Pairs:
        """The best pairs, the best first."""
        self._shrink()
        return np.column_stack(np.divmod(self.keys, self.graph.n_nodes))
