"""Whole-number ids that lie close together are numbered by looking them up in a table of all numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nafs._support.scratch import Allocate

_SMALL = 1 << 20  # numbers that a table may always have
_SPARSE = 4  # numbers for each edge that it may have beyond that


def is_dense(low: int, high: int, n_edges: int) -> bool:
    """Whether a table of all numbers from one id to another is small beside the edges."""
    return high - low < max(_SMALL, _SPARSE * n_edges)


class DenseNumbers:
    """Numbers ids in the order in which they appear.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.readers.numbering import DenseNumbers
    >>> numbers = DenseNumbers(low=10, high=19)
    >>> numbers.of_pairs(np.array([15, 11]), np.array([12, 15]))
    (array([0, 2], dtype=int32), array([1, 0], dtype=int32))
    >>> numbers.ids
    array([15, 12, 11])
    """

    def __init__(self, low: int, high: int, allocate: Allocate = np.empty) -> None:
        self._low, self._known = low, 0
        self._numbers = allocate((high - low + 1,), np.int32)  # of each id, from 1; 0 if it has none yet
        self._numbers[:] = 0
        self._ids: list[NDArray[np.int64]] = []

    def of_pairs(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Numbers of the ends of edges; new ids get the next numbers, each source before its target."""
        places = np.stack([sources, targets], axis=1).reshape(-1) - self._low
        new = places[self._numbers[places] == 0]
        if len(new):
            distinct, first = np.unique(new, return_index=True)
            distinct = distinct[np.argsort(first)]
            self._numbers[distinct] = np.arange(self._known + 1, self._known + 1 + len(distinct))
            self._known += len(distinct)
            self._ids.append(distinct + self._low)
        numbers = self._numbers[places] - 1
        return numbers[::2], numbers[1::2]

    @property
    def ids(self) -> NDArray[np.int64]:
        """The ids by number."""
        return np.concatenate([np.zeros(0, np.int64), *self._ids])
