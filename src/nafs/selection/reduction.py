"""Reduce wide features to fewer columns before smoothing.

Smoothing treats every column the same, so a linear map of the columns commutes with it. Smoothing therefore
adds nothing to the error of the reduction, except that the weights of the hops are computed from reduced
rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nafs._support.blas import one_blas_thread
from nafs._support.checks import check_choice
from nafs._support.errors import InputError
from nafs.graph import Features, read_features

REDUCTIONS = ("svd", "random")
_ITERATIONS = 5
_SPARE = 10  # extra directions that speed up convergence
_SAMPLE = 1 << 17  # rows that the directions are found from
_VALUES = 1 << 19  # per block of rows


def reduce(features: Features, n_columns: int, how: str = "svd", seed: int = 0) -> tuple[Features, float]:
    """Reduce the number of columns, and measure the error.

    Parameters
    ----------
    features : Features
    n_columns : int
        Features with no more columns are returned unchanged.
    how : {"svd", "random"}
        Leading singular directions, or a Gaussian random projection, which needs no pass over the features
        to find its directions.
    seed : int

    Returns
    -------
    Features
    float
        SVD: the share of the sum of squares that is lost. Random: the relative standard deviation of squared
        lengths.
    """
    directions = find_directions(features, n_columns, how, seed)
    if directions is None:
        return features, 0.0
    reduced = projected(features, directions)
    return reduced, reduction_error(features, reduced, how)


def find_directions(
    features: Features, n_columns: int, how: str = "svd", seed: int = 0
) -> NDArray[np.float32] | None:
    """The directions that a reduction projects on; parameters as in :func:`reduce`."""
    check_choice("reduction", how, REDUCTIONS)
    if n_columns < 1:
        raise InputError(f"features can be reduced to 1 or more columns; got {n_columns}")
    n, f = features.shape
    if f <= n_columns:
        return None
    if how == "random":
        rng = np.random.default_rng(seed)
        return rng.standard_normal((f, n_columns), dtype=np.float32) / np.float32(np.sqrt(n_columns))
    return leading_directions(features, min(n_columns, n), seed)


def leading_directions(features: Features, count: int, seed: int = 0) -> NDArray[np.float32]:
    """The leading right singular directions of the features, one per column.

    Subspace iteration on XᵀX, block by block, so that memory does not depend on the number of rows. Large
    matrices are represented by a random sample of their rows. BLAS runs on one thread: the bits do not depend
    on the number of threads.
    """
    from scipy.linalg import lu

    n, f = features.shape
    rng = np.random.default_rng(seed)
    sample = np.arange(n) if n <= _SAMPLE else np.sort(rng.choice(n, _SAMPLE, replace=False))
    width = min(count + _SPARE, f)
    step = max(1, _VALUES // max(width, features.values.size // n))
    unit = np.float32(1 / (features.largest or 1))  # squares of 1e30 would overflow
    axes = rng.standard_normal((f, width), dtype=np.float32)
    with one_blas_thread():
        for turn in range(_ITERATIONS):
            narrow = axes.astype(np.float32)
            products = np.zeros((f, width))
            for top in range(0, len(sample), step):
                rows = features.matrix[sample[top : top + step]] * unit
                products += rows.T @ (rows @ narrow)
            if turn < _ITERATIONS - 2:  # keeps the columns apart, in a fifth of the time of orthogonal ones
                axes = lu(products, permute_l=True, check_finite=False)[0]
            elif turn < _ITERATIONS - 1:
                axes = np.linalg.qr(products)[0]
        # The best directions inside the subspace are the eigenvectors of XᵀX restricted to it.
        within = axes.T @ products
        _, vectors = np.linalg.eigh((within + within.T) / 2)
        return np.asarray(axes @ vectors[:, ::-1][:, :count], np.float32)


def projected(features: Features, directions: NDArray[np.float32]) -> Features:
    """The features along some directions."""
    with one_blas_thread():
        return read_features(features.project(directions))


def reduction_nbytes(n_nodes: int, n_features: int, n_columns: int) -> int:
    """Bytes that a reduction needs besides the features and the result."""
    width = min(n_columns + _SPARE, n_features)
    return 64 * n_features * width + 24 * min(_VALUES, n_nodes * n_features)


def reduction_error(features: Features, reduced: Features, how: str) -> float:
    """The error of a reduction; see :func:`reduce`."""
    before, after = (matrix.norms.astype(np.float64) ** 2 for matrix in (features, reduced))
    if how == "random":
        nonzero = before > 0
        return float(np.std(after[nonzero] / before[nonzero])) if nonzero.any() else 0.0
    return max(0.0, 1 - float(after.sum() / before.sum())) if before.any() else 0.0
