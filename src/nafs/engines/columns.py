"""A feature matrix in panels of columns: views of one in memory, or files made from one on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.engines.work import WorkFolder
from nafs.graph import Features

NORMS = "norms"
_VALUES = 1 << 20  # handled in one go
_FILES = 64  # panels written in one pass over the features
_SPARSE_PARTS = ("indptr", "indices", "values")


@dataclass
class ColumnPanels:
    """Panels of the columns of a matrix.

    Parameters
    ----------
    folder : WorkFolder
        Where panels in files are.
    widths : sequence of ints
        Columns of each panel.
    largest : float
        Largest absolute value of the whole matrix.
    sparse : bool
    n_nodes : int
    matrix : ndarray, optional
        The whole matrix, if panels are views of it.
    """

    folder: WorkFolder
    widths: tuple[int, ...]
    largest: float
    sparse: bool
    n_nodes: int
    matrix: NDArray[np.float32] | None = None

    @property
    def norms(self) -> NDArray[np.float32]:
        """Euclidean norm of each row of the whole matrix."""
        return self.folder.open(NORMS)

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """First column and the one after the last, of each panel."""
        return list(pairwise([0, *accumulate(self.widths)]))

    def open(self, panel: int) -> Features:
        """One panel."""
        left, right = self.bounds[panel]
        if self.matrix is not None:
            return Features(self.matrix[:, left:right])
        names = array_names(panel, sparse=self.sparse)
        if not self.sparse:
            return Features(self.folder.open(names[0]))
        matrix = sp.csr_array((self.n_nodes, right - left), dtype=np.float32)
        matrix.indptr, matrix.indices, matrix.data = (self.folder.open(name) for name in names)
        matrix.has_canonical_format = True
        return Features(None, matrix)


def array_names(panel: int, *, sparse: bool) -> list[str]:
    """The arrays that a panel in files is made of."""
    return [f"x-{panel}-{part}" for part in _SPARSE_PARTS] if sparse else [f"x-{panel}"]


def write_norms(features: Features, folder: WorkFolder) -> None:
    """The norms of all rows, into the folder."""
    if folder.has(NORMS):
        return
    with folder.making(NORMS, (features.shape[0],), np.float32) as norms:
        for begin, end in row_blocks(features):
            if features.dense is not None:
                block = features.dense[begin:end].astype(np.float64)
                norms[begin:end] = np.sqrt(np.einsum("ij,ij->i", block, block))
            else:
                offsets = features.sparse.indptr[begin : end + 1]
                values = features.sparse.data[offsets[0] : offsets[-1]].astype(np.float64)
                rows = np.repeat(np.arange(end - begin), np.diff(offsets))
                norms[begin:end] = np.sqrt(np.bincount(rows, values * values, end - begin))


def write_panels(
    features: Features, widths: Sequence[int], wanted: Sequence[int], folder: WorkFolder
) -> None:
    """Some panels of the features, into the folder; those that are there stay."""
    sparse = features.dense is None
    due = [p for p in wanted if not all(folder.has(name) for name in array_names(p, sparse=sparse))]
    bounds = list(pairwise([0, *accumulate(widths)]))
    for first in range(0, len(due), _FILES):
        some = {p: bounds[p] for p in due[first : first + _FILES]}
        (_write_sparse if sparse else _write_dense)(features, some, folder)


def row_blocks(features: Features) -> Iterator[tuple[int, int]]:
    """Rows that have a bounded number of values."""
    n, f = features.shape
    if features.dense is not None:
        step = max(1, _VALUES // f)
        yield from ((begin, min(n, begin + step)) for begin in range(0, n, step))
        return
    begin, indptr = 0, features.sparse.indptr
    while begin < n:
        reach = int(np.searchsorted(indptr, indptr[begin] + _VALUES, "right")) - 1
        end = min(n, begin + _VALUES, max(begin + 1, reach))
        yield begin, end
        begin = end


def _write_dense(features: Features, panels: dict[int, tuple[int, int]], folder: WorkFolder) -> None:
    n = features.shape[0]
    assert features.dense is not None
    with ExitStack() as stack:
        files = [
            (stack.enter_context(folder.making(f"x-{panel}", (n, right - left), np.float32)), left, right)
            for panel, (left, right) in panels.items()
        ]
        for begin, end in row_blocks(features):
            for file, left, right in files:
                file[begin:end] = features.dense[begin:end, left:right]


def _write_sparse(features: Features, panels: dict[int, tuple[int, int]], folder: WorkFolder) -> None:
    """Two passes: how many values each row has in each panel, then the values."""
    n = features.shape[0]
    edges = np.asarray(sorted({edge for pair in panels.values() for edge in pair}))
    place = {int(np.searchsorted(edges, left, "right")): panel for panel, (left, _) in panels.items()}
    with ExitStack() as stack:

        def make(panel: int, part: str, size: int, dtype: Any) -> NDArray[Any]:
            return stack.enter_context(folder.making(f"x-{panel}-{part}", (size,), dtype))

        offsets = {panel: make(panel, "indptr", n + 1, np.int64) for panel in panels}
        for panel in panels:
            offsets[panel][0] = 0
        for begin, end, rows, which, _, _ in _entries(features, edges):
            for at, panel in place.items():
                counts = np.bincount(rows[which == at], minlength=end - begin)
                offsets[panel][begin + 1 : end + 1] = offsets[panel][begin] + np.cumsum(counts)
        sizes = {panel: int(offsets[panel][n]) for panel in panels}
        indices = {panel: make(panel, "indices", sizes[panel], np.int32) for panel in panels}
        values = {panel: make(panel, "values", sizes[panel], np.float32) for panel in panels}
        for begin, end, _, which, columns, found in _entries(features, edges):
            for at, panel in place.items():
                here = which == at
                span = slice(int(offsets[panel][begin]), int(offsets[panel][end]))
                indices[panel][span] = columns[here] - panels[panel][0]
                values[panel][span] = found[here]


def _entries(features: Features, edges: NDArray[np.int64]) -> Iterator[tuple[Any, ...]]:
    """Stored values of a block of rows: row, place of the column between the edges, column, value."""
    matrix = features.sparse
    for begin, end in row_blocks(features):
        offsets = matrix.indptr[begin : end + 1]
        span = slice(int(offsets[0]), int(offsets[-1]))
        columns = matrix.indices[span]
        rows = np.repeat(np.arange(end - begin, dtype=np.int32), np.diff(offsets))
        yield begin, end, rows, np.searchsorted(edges, columns, "right"), columns, matrix.data[span]
