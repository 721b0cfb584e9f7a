"""Memory-mapped arrays."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether an array, or the array it is a view of, is mapped from a file."""
    return _mapping(array) is not None


def mapped_file(array: NDArray[Any]) -> Path | None:
    """The .npy file that holds exactly this array, or ``None``."""
    mapping = _mapping(array)
    if (
        mapping is None
        or mapping.filename is None
        or mapping.shape != array.shape
        or mapping.dtype != array.dtype
    ):
        return None
    path = Path(mapping.filename)
    return path if path.suffix == ".npy" and path.exists() else None


def cut_file(arrays: Iterable[Any]) -> Path | None:
    """A file that arrays are mapped from and that has become too short for them, or ``None``."""
    for mapping in map(_mapping, arrays):
        if mapping is None or mapping.filename is None:
            continue
        path = Path(mapping.filename)
        if not path.exists() or path.stat().st_size < mapping.offset + mapping.nbytes:
            return path
    return None


def _mapping(array: Any) -> Any:
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array
