"""Reading a feature matrix: values are checked once, here, and trusted afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.counted import counted
from nafs._support.errors import InputError, InputTypeError
from nafs.graph.features import LARGEST, Features
from nafs.graph.indices import check_indices, refuse_masked

_BLOCK = 1 << 17  # values checked at a time
_SPARSE_BELOW = 0.25  # share of stored values; above it dense rows are smaller and faster


def read_features(features: Any) -> Features:
    """Validate a feature matrix; float32 in C order is not copied.

    Parameters
    ----------
    features : array-like, sparse matrix or sparse array of shape (n, f)
        Booleans, integers or floats, all finite. A sparse matrix stays sparse while less than a
        quarter of it is stored.

    Returns
    -------
    Features

    Examples
    --------
    >>> from nafs.graph import read_features
    >>> read_features([[1, 2], [3, 4]]).dense
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if isinstance(features, Features):
        return features
    refuse_masked(features, "features")
    matrix = features if sp.issparse(features) else np.asarray(features)
    _check_kind(matrix.dtype)
    _check_shape(matrix.shape)
    if sp.issparse(matrix):
        return _read_sparse(matrix)
    if matrix.dtype.kind == "f":
        _check_finite(matrix)
    _check_range(matrix)
    return Features(np.ascontiguousarray(matrix, dtype=np.float32))


def _read_sparse(matrix: Any) -> Features:
    check_indices(matrix, "features")
    if matrix.format != "csr" and matrix.dtype.kind in "biu":  # sums of repeated entries could overflow
        matrix = matrix.astype(np.float64)
    rows = sp.csr_array(matrix)
    values = rows.data
    if values.dtype.kind == "f":
        bad = ~np.isfinite(values)
        if bad.any():
            _refuse(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[bad])
    _check_range(values)
    if not rows.has_canonical_format:
        rows = rows.astype(np.float64) if values.dtype.kind in "biu" else rows.copy()
        rows.sum_duplicates()
        _check_range(rows.data)
    rows = rows.astype(np.float32)
    if rows.nnz < _SPARSE_BELOW * rows.shape[0] * rows.shape[1]:
        return Features(None, rows)
    return Features(np.ascontiguousarray(rows.toarray()))


def _check_kind(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise InputError("Complex data not supported: features must be real numbers")
    if dtype.kind not in "biuf":
        raise InputTypeError(f"features must be booleans, integers or floats; got dtype {dtype}")


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise InputError(f"features must be a matrix with one row per node; got shape {shape}")
    if shape[0] == 0 or shape[1] == 0:
        raise InputError(
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
    raise InputError(
        f"features contain NaN or inf in {counted(len(rows), 'row')}: {shown}; fill or drop them"
    )


def _check_range(values: NDArray[Any]) -> None:
    if values.dtype.kind != "f" or values.dtype.itemsize == 2 or values.size == 0:
        return
    top = max(abs(float(values.max())), abs(float(values.min())))
    if top > LARGEST:
        raise InputError(
            f"features reach {top:.3g}; beyond {LARGEST:.0e} sums in float32 may become inf: rescale them"
        )
