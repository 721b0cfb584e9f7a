"""Validation of the index arrays of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from nafs._support.errors import InputError


def refuse_masked(values: Any, name: str) -> None:
    """Refuse a masked array with masked values: NumPy would use the values under the mask.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.graph.indices import refuse_masked
    >>> refuse_masked(np.ma.masked_array([1, 2]), "weights")
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(
            f"{name}: {int(np.ma.getmaskarray(values).sum())} values are masked; fill them in or drop them"
        )


def check_indices(matrix: Any, name: str) -> None:
    """Raise if an index points outside a sparse matrix: SciPy would read past its buffers.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from nafs.graph.indices import check_indices
    >>> check_indices(sp.csr_array([[0, 1], [1, 0]]), "adjacency")
    """
    rows, columns = matrix.shape
    if matrix.format == "coo":
        parts = [(matrix.row, rows, "row"), (matrix.col, columns, "column")]
    elif matrix.format in ("csr", "csc", "bsr"):
        height, width = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        major, minor = rows // height, columns // width
        if matrix.format == "csc":
            major, minor = minor, major
        indptr = matrix.indptr
        if (
            len(indptr) != major + 1
            or indptr[0] != 0
            or indptr[-1] > min(len(matrix.indices), len(matrix.data))
            or (np.diff(indptr) < 0).any()
        ):
            raise InputError(
                f"{name} has a broken indptr: it must start at 0, never decrease and end at the number of "
                "stored entries"
            )
        kind = "row" if matrix.format == "csc" else "column"
        parts = [(matrix.indices[: indptr[-1]], minor, kind)]
    else:
        return
    for part, size, kind in parts:
        if len(part) and (part.min() < 0 or part.max() >= size):
            outside = int(part.min()) if part.min() < 0 else int(part.max())
            raise InputError(f"{name} has {kind} index {outside}, outside 0..{size - 1}")
