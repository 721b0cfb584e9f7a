"""A feature matrix as hops need it: float32 rows, stored dense or sparse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

LARGEST = 1e30  # leaves room below float32's 3e38 for sums and for d̃^r
_BLOCK = 1 << 14  # values handled at a time, so that their float64 copies stay small


@dataclass(frozen=True, eq=False)
class Features:
    """A feature matrix with one row per node.

    Exactly one of ``dense`` and ``sparse`` is set. Only this class needs to know which: its methods answer
    every question about the values for both. Built by :func:`read_features`; the values are trusted.
    """

    dense: NDArray[np.float32] | None
    sparse: Any = None
    encoding: Any = None  # how a table of mixed columns was encoded; see nafs.readers.mixed

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], shape: tuple[int, int]) -> Features:
        """Features that share the arrays returned by :meth:`arrays`, under the same or other names."""
        if len(arrays) == 1:
            return cls(next(iter(arrays.values())))
        # SciPy's constructor may copy the arrays, or shrink the offsets to 32 bits.
        matrix = sp.csr_array(shape, dtype=np.float32)
        matrix.indptr, matrix.indices, matrix.data = arrays.values()
        matrix.has_canonical_format = True
        return cls(None, matrix)

    @property
    def is_sparse(self) -> bool:
        """Whether only values other than zero are stored."""
        return self.dense is None

    @property
    def matrix(self) -> Any:
        """The NumPy array, or the SciPy CSR array."""
        return self.sparse if self.dense is None else self.dense

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and features."""
        n, f = self.matrix.shape
        return n, f

    @property
    def nbytes(self) -> int:
        """Bytes of the values and, if sparse, their indices."""
        if self.dense is not None:
            return self.dense.nbytes
        return int(self.sparse.data.nbytes + self.sparse.indices.nbytes + self.sparse.indptr.nbytes)

    @property
    def values(self) -> NDArray[np.float32]:
        """All stored values as a flat array."""
        return self.sparse.data if self.dense is None else self.dense.ravel()

    @cached_property
    def largest(self) -> float:
        """Largest absolute value."""
        values = self.sparse.data if self.dense is None else self.dense
        return max(abs(float(values.max())), abs(float(values.min()))) if values.size else 0.0

    @cached_property
    def norms(self) -> NDArray[np.float32]:
        """Euclidean norm of each row, summed in float64."""
        norms = np.empty(self.shape[0], np.float32)
        for begin, end in self.blocks(_BLOCK):
            norms[begin:end] = self.norms_of(begin, end)
        return norms

    def norms_of(self, begin: int, end: int) -> NDArray[np.float64]:
        """Euclidean norms of some rows."""
        if self.dense is not None:
            block = self.dense[begin:end].astype(np.float64)
            return np.asarray(np.sqrt(np.einsum("ij,ij->i", block, block)))
        rows, _, values = self.entries(begin, end)
        squares = values.astype(np.float64) ** 2
        return np.asarray(np.sqrt(np.bincount(rows, squares, end - begin)))

    def blocks(self, n_values: int) -> Iterator[tuple[int, int]]:
        """Ranges of rows (begin, end) that store at most ``n_values`` values, or hold a single row."""
        n, f = self.shape
        begin = 0
        while begin < n:
            if self.dense is not None:
                reach = begin + n_values // f
            else:
                offsets = self.sparse.indptr
                reach = int(np.searchsorted(offsets, offsets[begin] + n_values, "right")) - 1
            end = min(n, begin + n_values, max(begin + 1, reach))
            yield begin, end
            begin = end

    def rows(self, begin: int, end: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Some rows as a new dense array."""
        if self.dense is not None:
            return self.dense[begin:end].astype(dtype)
        dense = np.zeros((end - begin, self.shape[1]), dtype)
        rows, columns, values = self.entries(begin, end)
        dense[rows, columns] = values
        return dense

    def entries(
        self, begin: int, end: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        """Row (counted from ``begin``), column and value of each entry in some rows of sparse features."""
        # Not by SciPy, which would first convert all indices to the type of the offsets.
        offsets = self.sparse.indptr[begin : end + 1]
        span = slice(int(offsets[0]), int(offsets[-1]))
        rows = np.repeat(np.arange(end - begin, dtype=np.int32), np.diff(offsets))
        return rows, self.sparse.indices[span], self.sparse.data[span]

    def between(self, begin: int, end: int) -> Features:
        """Consecutive rows; values and column numbers are not copied."""
        if self.dense is not None:
            return Features(self.dense[begin:end])
        offsets = self.sparse.indptr[begin : end + 1].astype(np.int64)
        span = slice(int(offsets[0]), int(offsets[-1]))
        arrays = {
            "indptr": offsets - offsets[0],
            "indices": self.sparse.indices[span],
            "values": self.sparse.data[span],
        }
        return Features.from_arrays(arrays, (end - begin, self.shape[1]))

    def take(self, nodes: NDArray[np.integer[Any]]) -> Features:
        """The rows of some nodes, copied."""
        if self.dense is not None:
            return Features(np.take(self.dense, nodes, axis=0))
        offsets = self.sparse.indptr.astype(np.int64, copy=False)
        counts = np.diff(offsets)[nodes]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        entries = np.repeat(offsets[nodes] - indptr[:-1], counts) + np.arange(indptr[-1])
        arrays = {
            "indptr": indptr,
            "indices": self.sparse.indices[entries],
            "values": self.sparse.data[entries],
        }
        return Features.from_arrays(arrays, (len(nodes), self.shape[1]))

    def toarray(self) -> NDArray[np.float32]:
        """The matrix as a dense array; not a copy if it is dense already."""
        return np.asarray(self.sparse.toarray()) if self.dense is None else self.dense

    def count_nonzero(self) -> NDArray[np.int64]:
        """The number of nonzero rows in each column."""
        if self.dense is not None:
            return np.asarray(np.count_nonzero(self.dense, axis=0), np.int64)
        counts = np.zeros(self.shape[1], np.int64)
        for begin, end in self.blocks(_BLOCK):
            _, columns, values = self.entries(begin, end)
            counts += np.bincount(columns[values != 0], minlength=len(counts))
        return counts

    def weighted_sum(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """The weighted sum of all rows; several if the weights have several rows."""
        return np.asarray(weights @ self.matrix, np.float64)

    def project(self, directions: NDArray[np.float32]) -> NDArray[np.float32]:
        """The rows' coordinates along the columns of ``directions``."""
        return np.ascontiguousarray(self.matrix @ directions)

    def unit_rows(self, factors: NDArray[np.float64] | None = None) -> Features:
        """Rows scaled to length 1 after multiplying columns by ``factors``; zero rows stay zero."""
        if self.dense is not None:
            own = self.dense.copy() if factors is None else self.dense * factors.astype(np.float32)
            sizes = Features(own).norms
            own /= np.where(sizes > 0, sizes, 1).astype(np.float32)[:, None]
            return Features(own)
        scaled = np.empty(len(self.sparse.data), np.float32)
        for begin, end in self.blocks(_BLOCK):
            rows, columns, stored = self.entries(begin, end)
            values = stored.astype(np.float64)
            if factors is not None:
                values *= factors[columns]
            sizes = np.sqrt(np.bincount(rows, values**2, end - begin))
            span = slice(self.sparse.indptr[begin], self.sparse.indptr[end])
            scaled[span] = values / np.where(sizes > 0, sizes, 1)[rows]
        arrays = {"indptr": self.sparse.indptr, "indices": self.sparse.indices, "values": scaled}
        return Features.from_arrays(arrays, self.shape)

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays that hold the matrix: one under ``name``, or three under names that start with it."""
        if self.dense is not None:
            return {name: self.dense}
        return {
            f"{name}_indptr": self.sparse.indptr.astype(np.int64, copy=False),
            f"{name}_indices": self.sparse.indices.astype(np.int32, copy=False),
            f"{name}_values": self.sparse.data,
        }

    def by_column(self, name: str, number: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
        """Like :meth:`arrays`, but sparse features as compressed columns, their rows renumbered."""
        if self.dense is not None:
            return {name: self.dense}
        columns = sp.csc_array(self.sparse)
        return {
            f"{name}_indptr": columns.indptr.astype(np.int64),
            f"{name}_indices": number[columns.indices],
            f"{name}_values": columns.data,
        }
