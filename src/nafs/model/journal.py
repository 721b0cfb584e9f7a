"""Which rows differ from those in the folder of a saved model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.model.neighbors import Pairs
from nafs.model.storage import Place

LIST_ARRAYS = ("rows", "counts", "indices", "weights")


class Journal:
    """Rows that updates changed since a model was loaded or saved."""

    def __init__(self, place: Place, n_ids: int) -> None:
        self.place, self.n_ids = place, n_ids
        self._rows: list[NDArray[Any]] = []
        self._pairs: list[Pairs] = []

    @property
    def empty(self) -> bool:
        """Whether nothing has changed."""
        return not self._rows

    def add(self, rows: NDArray[Any], pairs: Pairs) -> None:
        """Remember an update: rows of nodes, and entries of the adjacency matrix."""
        self._rows.append(rows)
        self._pairs.append(pairs)

    def rows(self) -> NDArray[np.int64]:
        """Nodes whose features, states or embeddings differ."""
        return np.unique(np.concatenate(self._rows)).astype(np.int64)

    def list_rows(self, which: str) -> NDArray[np.int64]:
        """Nodes whose neighbour lists differ: "lists" of whom they read, or "readers"."""
        ends = [pairs.readers if which == "lists" else pairs.sources for pairs in self._pairs]
        return np.unique(np.concatenate(ends)).astype(np.int64)
