"""Project an embedding onto its leading directions, for clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_NARROW = 1024  # columns; up to this many, directions come from the matrix of column products


def project(matrix: NDArray[Any], n_columns: int, seed: int = 0) -> NDArray[np.float64]:
    """Rows along the leading singular directions of an embedding, scaled to length 1.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
    n_columns : int
    seed : int
        Seed of the approximation for wide matrices.

    Returns
    -------
    ndarray of float64, shape (n, min(n_columns, n, d))
        Zero rows stay zero.
    """
    from sklearn.utils.extmath import randomized_svd

    n_columns = min(n_columns, *matrix.shape)
    largest = max(abs(float(matrix.max())), abs(float(matrix.min()))) or 1.0
    kind = np.float32 if matrix.dtype == np.float32 else np.float64  # integers become floats
    matrix = np.asarray(matrix / largest, kind)
    if matrix.shape[1] <= _NARROW:
        _, vectors = np.linalg.eigh(_products(matrix))
        axes = vectors[:, ::-1][:, :n_columns]
    else:
        _, _, right = randomized_svd(matrix, n_columns, n_iter=3, random_state=seed)
        axes = right.T
    rows = (matrix @ axes.astype(kind)).astype(np.float64)
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(sizes > 0, sizes, 1))


def _products(matrix: NDArray[Any]) -> NDArray[np.float64]:
    """Xᵀ X, summed in float64."""
    products = np.zeros((matrix.shape[1],) * 2)
    step = max(1, (1 << 22) // matrix.shape[1])
    for top in range(0, len(matrix), step):
        block = matrix[top : top + step].astype(np.float64)
        products += block.T @ block
    return products
