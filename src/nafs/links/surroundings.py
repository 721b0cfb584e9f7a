"""How similar a node is to the nodes most similar to it.

Some nodes have many close neighbours in an embedding, others lie far from everything, such as nodes without
edges among smoothed ones. The same cosine means little for the former and much for the latter. A cosine
therefore also counts relative to the mean cosines of both nodes with the nodes nearest to them, a correction
that is known from matching words between languages (Conneau et al., ICLR 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.blas import one_blas_thread

_NEAREST = 10
_COMPARISONS = 50_000_000  # cosines of all nodes together
_FEWEST = 500  # nodes that each node is compared with
_VALUES = 1 << 20  # cosines at a time


class Surroundings:
    """Compares nodes with all others; in large graphs with a random sample of them.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
    mean : ndarray of shape (d,)
        Subtracted from all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.links.surroundings import Surroundings
    >>> rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> Surroundings(rows, np.zeros(2)).of(np.arange(3)).round(2)
    array([0.5, 0.5, 0. ])
    """

    def __init__(self, matrix: NDArray[Any], mean: NDArray[np.float64]) -> None:
        self.matrix, self.mean = matrix, mean.astype(np.float32)
        n = len(matrix)
        size = max(_FEWEST, _COMPARISONS // max(n, 1))
        self.compared = np.arange(n)
        if size < n:
            self.compared = np.sort(np.random.default_rng(0).choice(n, size, replace=False))
        self._axes = self._units(self.compared).T
        self._means = np.full(n, np.nan)  # of the nodes that were asked for

    def of(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The mean cosine of each node with the ten nodes nearest to it, itself left out."""
        unknown = np.unique(nodes[np.isnan(self._means[nodes])])
        if len(unknown):
            self._means[unknown] = self._compare(unknown)
        return np.asarray(self._means[nodes])

    def _compare(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        count = min(_NEAREST, len(self.compared) - 1)
        means = np.zeros(len(nodes))
        if count < 1:
            return means
        step = max(1, _VALUES // max(self._axes.shape))
        with one_blas_thread():
            for top in range(0, len(nodes), step):
                block = nodes[top : top + step]
                cosines = self._units(block) @ self._axes
                place = np.searchsorted(self.compared, block).clip(0, len(self.compared) - 1)
                own = np.flatnonzero(self.compared[place] == block)
                cosines[own, place[own]] = -np.inf
                cosines.partition(cosines.shape[1] - count, axis=1)
                means[top : top + step] = cosines[:, -count:].mean(axis=1, dtype=np.float64)
        return means

    def _units(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        rows = self.matrix[nodes].astype(np.float32) - self.mean
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def surroundings_nbytes(n_nodes: int, n_columns: int) -> int:
    """Bytes that comparing takes besides the vectors."""
    size = min(n_nodes, max(_FEWEST, _COMPARISONS // max(n_nodes, 1)))
    return 8 * size * n_columns + 16 * _VALUES + 32 * n_nodes
