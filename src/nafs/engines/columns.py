"""A feature matrix as panels of columns: views of a matrix in memory, or files in the work folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.engines.threads import on_threads
from nafs.engines.work import WorkFolder
from nafs.graph import Features

NORMS = "norms"
_VALUES = 1 << 18  # per block; every thread has one
_FILES = 64  # panels written in one pass over the features
_SPARSE_PARTS = ("indptr", "indices", "values")


@dataclass
class ColumnPanels:
    """Panels of the columns of a matrix.

    Parameters
    ----------
    folder : WorkFolder
        Folder of the panels that are files.
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
        """First column of each panel, and the one after its last."""
        return list(pairwise([0, *accumulate(self.widths)]))

    def names(self, panel: int) -> list[str]:
        """Names of the arrays of a panel, none if it is a view."""
        return [] if self.matrix is not None else array_names(panel, sparse=self.sparse)

    def open(self, panel: int) -> Features:
        """One panel."""
        left, right = self.bounds[panel]
        if self.matrix is not None:
            return Features(self.matrix[:, left:right])
        arrays = {name: self.folder.open(name) for name in self.names(panel)}
        return Features.from_arrays(arrays, (self.n_nodes, right - left))


def array_names(panel: int, *, sparse: bool) -> list[str]:
    """Names of the arrays of a panel in files."""
    return [f"x-{panel}-{part}" for part in _SPARSE_PARTS] if sparse else [f"x-{panel}"]


def write_norms(features: Features, folder: WorkFolder) -> None:
    """Write the norms of all rows into the folder."""
    if folder.has(NORMS):
        return
    with folder.making(NORMS, (features.shape[0],), np.float32) as norms:
        for begin, end in features.blocks(_VALUES):
            norms[begin:end] = features.norms_of(begin, end)


def write_panels(
    features: Features,
    widths: Sequence[int],
    wanted: Sequence[int],
    folder: WorkFolder,
    nodes: NDArray[np.int32] | None = None,
    n_threads: int = 1,
) -> None:
    """Write panels of the features to the folder, except those that are there.

    Parameters
    ----------
    features : Features
    widths : sequence of ints
    wanted : sequence of ints
        Numbers of the panels.
    folder : WorkFolder
    nodes : ndarray of int32, optional
        Row i of a panel is that of ``nodes[i]``. Rows are then written all over a file, so that panels are
        written one at a time: one of them stays in the page cache where all would not.
    n_threads : int
    """
    sparse = features.is_sparse
    due = [p for p in wanted if not all(folder.has(name) for name in array_names(p, sparse=sparse))]
    bounds = list(pairwise([0, *accumulate(widths)]))
    place = None
    if nodes is not None and due:
        place = folder.scratch((len(nodes),), np.int32)
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
    step = _FILES if place is None else 1
    for first in range(0, len(due), step):
        some = {p: bounds[p] for p in due[first : first + step]}
        if sparse:
            _write_sparse(features, some, folder, place)
        else:
            _write_dense(features, some, folder, place, n_threads)


Place = NDArray[np.int32] | None  # the row of each node in a file


def _write_dense(
    features: Features,
    panels: dict[int, tuple[int, int]],
    folder: WorkFolder,
    place: Place,
    n_threads: int,
) -> None:
    n, matrix = features.shape[0], features.matrix
    with ExitStack() as stack:
        files = [
            (stack.enter_context(folder.making(f"x-{panel}", (n, right - left), np.float32)), left, right)
            for panel, (left, right) in panels.items()
        ]

        def write(block: tuple[int, int]) -> None:
            begin, end = block
            rows = slice(begin, end) if place is None else place[begin:end]
            for file, left, right in files:
                file[rows] = matrix[begin:end, left:right]

        on_threads(write, features.blocks(_VALUES), n_threads)


def _write_sparse(
    features: Features, panels: dict[int, tuple[int, int]], folder: WorkFolder, place: Place
) -> None:
    """Two passes: how many values each row has in each panel, then the values."""
    n = features.shape[0]
    edges = np.asarray(sorted({edge for pair in panels.values() for edge in pair}))
    between = {int(np.searchsorted(edges, left, "right")): panel for panel, (left, _) in panels.items()}
    with ExitStack() as stack:

        def make(panel: int, part: str, size: int, dtype: Any) -> NDArray[Any]:
            return stack.enter_context(folder.making(f"x-{panel}-{part}", (size,), dtype))

        offsets = {panel: make(panel, "indptr", n + 1, np.int64) for panel in panels}
        for begin, end, rows, which, _, _ in _entries(features, edges):
            targets = np.arange(begin, end) if place is None else place[begin:end]
            for at, panel in between.items():
                offsets[panel][targets + 1] = np.bincount(rows[which == at], minlength=end - begin)
        for panel in panels:
            offsets[panel][0] = 0
            np.cumsum(offsets[panel], out=offsets[panel])
        sizes = {panel: int(offsets[panel][n]) for panel in panels}
        indices = {panel: make(panel, "indices", sizes[panel], np.int32) for panel in panels}
        values = {panel: make(panel, "values", sizes[panel], np.float32) for panel in panels}
        for begin, end, rows, which, columns, entries in _entries(features, edges):
            targets = np.arange(begin, end) if place is None else place[begin:end]
            for at, panel in between.items():
                inside = which == at
                counts = np.bincount(rows[inside], minlength=end - begin)
                # Each row's values stay together, from the row's own offset on.
                first = offsets[panel][targets] - (np.cumsum(counts) - counts)
                to = np.repeat(first, counts) + np.arange(int(counts.sum()))
                indices[panel][to] = columns[inside] - panels[panel][0]
                values[panel][to] = entries[inside]


def _entries(features: Features, edges: NDArray[np.int64]) -> Iterator[tuple[Any, ...]]:
    """Stored values, a block of rows at a time: bounds, rows, interval of each column, columns, values."""
    for begin, end in features.blocks(_VALUES):
        rows, columns, values = features.entries(begin, end)
        yield begin, end, rows, np.searchsorted(edges, columns, "right"), columns, values
