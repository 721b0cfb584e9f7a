"""Pseudo-random numbers that depend on a node's id alone, not on its position in the graph."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_PLAIN_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def hash_ids(ids: Any, seed: int = 0) -> NDArray[np.uint64]:
    """A 64-bit hash of each id, the same on every machine.

    The number 7 and the text "7" have the same hash, because one new id can turn a column of numbers into
    text.

    Parameters
    ----------
    ids : Arrow array of int64 or large_string, or ndarray of int64
    seed : int

    Returns
    -------
    ndarray of uint64

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.structure.hashing import hash_ids
    >>> bool((hash_ids(pa.array([7, 8])) == hash_ids(pa.array(["7", "8"]))).all())
    True
    """
    if isinstance(ids, np.ndarray) or str(ids.type) == "int64":
        numbers = np.asarray(ids, dtype=np.int64).view(np.uint64)
    else:
        numbers = np.fromiter((_as_number(value) for value in ids.to_pylist()), np.uint64, len(ids))
    return _mix(_mix(numbers) + np.uint64(seed * int(_GOLDEN) % 2**64))


def uniform(hashes: NDArray[np.uint64], n_columns: int) -> NDArray[np.float32]:
    """Numbers in (-1, 1), a row for each hash."""
    steps = np.arange(1, n_columns + 1, dtype=np.uint64) * _GOLDEN
    bits = _mix(hashes[:, None] + steps[None, :]) >> np.uint64(40)
    return ((bits.astype(np.float32) + np.float32(0.5)) / np.float32(2**23) - np.float32(1)).astype(
        np.float32
    )


def _as_number(value: str) -> int:
    if _PLAIN_NUMBER.fullmatch(value):
        return int(value) % 2**64
    return int.from_bytes(blake2b(value.encode(), digest_size=8).digest(), "little")


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele et al., 2014)."""
    values = values + _GOLDEN
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))
