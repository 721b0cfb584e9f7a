"""Which rows differ from the saved model, and validation of changes read from its folder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.model.neighbors import Pairs
from nafs.model.states import Kept

LIST_ARRAYS = ("rows", "counts", "indices", "weights")


class Journal:
    """Rows that updates changed since a model was loaded or saved."""

    def __init__(self, n_ids: int) -> None:
        self.n_ids = n_ids
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
        """Nodes with changed neighbour lists: "lists" (nodes that they read) or "readers" (the reverse)."""
        ends = [pairs.readers if which == "lists" else pairs.sources for pairs in self._pairs]
        return np.unique(np.concatenate(ends)).astype(np.int64)


def check_change(arrays: dict[str, NDArray[Any]], kept: Kept, n_nodes: int, *, directed: bool) -> None:
    """Raise ValueError if a change does not fit a model that has this many nodes afterwards."""
    alive, rows = arrays["alive"], arrays["rows"]
    if alive.dtype != bool or alive.shape != (n_nodes,):
        raise ValueError("alive.npy of its journal does not fit the nodes")
    _check_places("rows", rows, n_nodes, np.int64)
    for name, array in kept.arrays().items():
        count = n_nodes if name == "dropped" else len(rows)
        new = arrays[name]
        if new.dtype != array.dtype or new.shape != (count, *array.shape[1:]) or not np.isfinite(new).all():
            raise ValueError(f"{name}.npy of its journal does not fit the model")
        if name in ("effect", "scale", "degrees", "inverse_degree") and not (new > 0).all():
            raise ValueError(f"{name}.npy of its journal has values that are not positive")
    for name in ("lists", "readers") if directed else ("lists",):
        owners, counts, indices, weights = (arrays[f"{name}_{suffix}"] for suffix in LIST_ARRAYS)
        _check_places(f"{name}_rows", owners, n_nodes, np.int64)
        _check_places(f"{name}_indices", indices, n_nodes, np.int32)
        if counts.dtype != np.int64 or counts.shape != owners.shape or (counts < 0).any():
            raise ValueError(f"{name}_counts.npy of its journal does not fit the rows")
        if not int(counts.sum()) == len(indices) == len(weights) or (counts > len(indices)).any():
            raise ValueError(f"{name}_counts.npy of its journal does not add up to the number of entries")
        if not alive[indices].all():
            raise ValueError(f"{name}_indices.npy of its journal names removed nodes")
        if weights.dtype != np.float32 or not ((weights > 0) & np.isfinite(weights)).all():
            raise ValueError(f"{name}_weights.npy of its journal has weights that are not positive numbers")


def _check_places(name: str, places: NDArray[Any], n_nodes: int, dtype: Any) -> None:
    if places.dtype != dtype or places.ndim != 1:
        raise ValueError(f"{name}.npy of its journal has type {places.dtype} and shape {places.shape}")
    if len(places) and not 0 <= places.min() <= places.max() < n_nodes:
        raise ValueError(f"{name}.npy of its journal names unknown nodes")
