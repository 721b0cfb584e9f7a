"""Leading directions of an embedding, in which every head looks for clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-6  # length of a column relative to the longest, below which it holds nothing else
_NARROW = 1024  # columns; up to this many, directions come from the matrix of column products

Rows = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Directions:
    """Rows of an embedding along its leading singular directions.

    Attributes
    ----------
    rows : ndarray of float32, shape (m, columns)
        Z V: the coordinates of each row along the directions, by falling singular value.
    axes : ndarray of float32, shape (d, columns)
        V, to map other rows of the embedding.
    """

    rows: Rows
    axes: NDArray[np.float32]

    @classmethod
    def of(cls, matrix: NDArray[Any], n_columns: int) -> Directions:
        """The leading directions of a matrix; approximate if it is wide.

        Examples
        --------
        >>> import numpy as np
        >>> from nafs.clustering.directions import Directions
        >>> Directions.of(np.diag([1.0, 3.0, 2.0]), 2).axes
        array([[0., 0.],
               [1., 0.],
               [0., 1.]], dtype=float32)
        """
        rows = np.asarray(matrix, np.float32)
        if rows.shape[1] > _NARROW:
            from sklearn.utils.extmath import randomized_svd

            _, _, right = randomized_svd(rows, min(n_columns, *rows.shape), n_iter=3, random_state=0)
            axes = np.ascontiguousarray(right.T, np.float32)
            return cls(_along(rows, axes), axes)
        values, vectors = np.linalg.eigh((rows.T @ rows).astype(np.float64))
        first = np.argsort(-values, kind="stable")[:n_columns]
        axes = vectors[:, first].astype(np.float32)
        return cls(_along(rows, axes), axes)

    def unit(self, n_columns: int) -> Rows:
        """Rows along the first directions, scaled to length 1."""
        return unit_rows(self.rows[:, :n_columns])


def _along(rows: Rows, axes: NDArray[np.float32]) -> Rows:
    """Rows along some axes; axes along which rows differ by rounding alone are set to 0.

    Where all nodes have the same neighbors, the differences between them would otherwise be clustered.
    """
    along = rows @ axes
    lengths = np.sqrt(np.einsum("ij,ij->j", along, along, dtype=np.float64))
    nothing = lengths <= _ROUNDING * lengths.max(initial=0)
    axes[:, nothing] = along[:, nothing] = 0
    return np.asarray(along)


def unit_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows scaled to length 1; zero rows stay zero."""
    sizes = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.where(sizes > 0, sizes, 1)[:, None])
