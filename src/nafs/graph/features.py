"""Features as hops need them: a dense float32 matrix with contiguous rows, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_BLOCK = 1 << 22  # values looked at in one go


def read_features(features: Any) -> NDArray[np.float32]:
    """Validate a feature matrix and return it as C-ordered float32, without a copy where it is so.

    Parameters
    ----------
    features : array-like, sparse matrix or sparse array of shape (n, f)
        Booleans, integers or floats, all finite.

    Returns
    -------
    ndarray of float32, shape (n, f)

    Examples
    --------
    >>> from nafs.graph import read_features
    >>> read_features([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if sp.issparse(features):
        _check_kind(features.dtype)
        rows = sp.csr_array(features)
        values = rows.data
        if values.dtype.kind == "f":
            bad = ~np.isfinite(values)
            if bad.any():
                _refuse(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[bad])
        _check_range(values)
        _check_shape(rows.shape)
        return np.ascontiguousarray(rows.astype(np.float32).toarray())
    array = np.asarray(features)
    _check_kind(array.dtype)
    _check_shape(array.shape)
    if array.dtype.kind == "f":
        _check_finite(array)
    _check_range(array)
    return np.ascontiguousarray(array, dtype=np.float32)


def largest_magnitude(features: NDArray[np.float32]) -> float:
    """Largest absolute value, without a temporary as large as the matrix."""
    if features.size == 0:
        return 0.0
    return max(abs(float(features.max())), abs(float(features.min())))


def _check_kind(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise ValueError("Complex data not supported: features must be real numbers")
    if dtype.kind not in "biuf":
        raise TypeError(f"features must be booleans, integers or floats; got dtype {dtype}")


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(f"features must be a matrix with one row per node; got shape {shape}")
    if shape[0] == 0 or shape[1] == 0:
        raise ValueError(
            f"features are empty: found {shape[0]} rows and {shape[1]} columns, need at least one of each"
        )


def _check_finite(array: NDArray[Any]) -> None:
    step = max(1, _BLOCK // array.shape[1])
    bad = [
        top + np.flatnonzero(~np.isfinite(array[top : top + step]).all(axis=1))
        for top in range(0, len(array), step)
    ]
    rows = np.concatenate(bad)
    if len(rows):
        _refuse(rows)


def _refuse(rows: NDArray[Any]) -> None:
    rows = np.unique(rows)
    shown = ", ".join(str(row) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
    raise ValueError(
        f"features contain NaN or infinity (inf) in {len(rows)} row(s): {shown}; fill or drop them"
    )


def _check_range(values: NDArray[Any]) -> None:
    if values.dtype.kind != "f" or values.dtype.itemsize <= 4 or values.size == 0:
        return
    top = max(abs(float(values.max())), abs(float(values.min())))
    if top > float(np.finfo(np.float32).max):
        raise ValueError(f"features reach {top:.3g}, which float32 takes for infinity (inf): rescale them")
