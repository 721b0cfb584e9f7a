"""Features as hops need them: float32 rows, dense or sparse, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError, InputTypeError
from nafs.graph.indices import check_indices, refuse_masked

LARGEST = 1e30  # leaves room below float32's 3e38 for sums and for d̃^r
_BLOCK = 1 << 17  # values looked at in one go
_SPARSE_BELOW = 0.25  # share of stored values; above it dense rows are smaller and faster


@dataclass(frozen=True, eq=False)
class Features:
    """A feature matrix with one row per node: exactly one of ``dense`` and ``sparse`` is there.

    Built by :func:`read_features`; the values are taken as valid.
    """

    dense: NDArray[np.float32] | None
    sparse: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and features."""
        n, f = (self.sparse if self.dense is None else self.dense).shape
        return n, f

    @cached_property
    def norms(self) -> NDArray[np.float32]:
        """Euclidean norm of each row, summed in float64."""
        n, f = self.shape
        if self.dense is None:
            values = self.sparse.data.astype(np.float64)
            rows = np.repeat(np.arange(n), np.diff(self.sparse.indptr))
            sums = np.bincount(rows, weights=values * values, minlength=n)
            return np.sqrt(sums).astype(np.float32)
        norms, step = np.empty(n, np.float32), max(1, _BLOCK // f)
        for top in range(0, n, step):
            block = self.dense[top : top + step].astype(np.float64)
            norms[top : top + step] = np.sqrt(np.einsum("ij,ij->i", block, block))
        return norms

    @cached_property
    def largest(self) -> float:
        """Largest absolute value."""
        values = self.sparse.data if self.dense is None else self.dense
        return max(abs(float(values.max())), abs(float(values.min()))) if values.size else 0.0

    def rows(self, begin: int, end: int) -> NDArray[np.float64]:
        """Some rows, dense in float64."""
        if self.dense is None:
            # By hand: SciPy would first bring all indices to the type of the offsets.
            offsets = self.sparse.indptr[begin : end + 1]
            span = slice(int(offsets[0]), int(offsets[-1]))
            dense = np.zeros((end - begin, self.shape[1]))
            rows = np.repeat(np.arange(end - begin), np.diff(offsets))
            dense[rows, self.sparse.indices[span]] = self.sparse.data[span]
            return dense
        return self.dense[begin:end].astype(np.float64)

    @property
    def nbytes(self) -> int:
        """Bytes of the values and, where sparse, their indices."""
        if self.dense is not None:
            return self.dense.nbytes
        return int(self.sparse.data.nbytes + self.sparse.indices.nbytes + self.sparse.indptr.nbytes)

    def for_kernel(self, norms: NDArray[np.float32] | None = None) -> dict[str, Any]:
        """The arrays under the names that the kernel gives them; a panel is given the norms of whole rows."""
        norms = self.norms if norms is None else norms
        if self.dense is not None:
            return {"x": self.dense, "x_norms": norms}
        return {
            "x_indptr": self.sparse.indptr.astype(np.int64, copy=False),
            "x_indices": self.sparse.indices.astype(np.int32, copy=False),
            "x_values": self.sparse.data,
            "x_norms": norms,
        }


def read_features(features: Any) -> Features:
    """Validate a feature matrix; float32 in C order is taken without a copy.

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
    if matrix.dtype.kind in "biu":  # or the sums of repeated entries could overflow
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
    raise InputError(f"features contain NaN or inf in {len(rows)} row(s): {shown}; fill or drop them")


def _check_range(values: NDArray[Any]) -> None:
    if values.dtype.kind != "f" or values.dtype.itemsize == 2 or values.size == 0:
        return
    top = max(abs(float(values.max())), abs(float(values.min())))
    if top > LARGEST:
        raise InputError(
            f"features reach {top:.3g}; beyond {LARGEST:.0e} sums in float32 may become inf: rescale them"
        )
