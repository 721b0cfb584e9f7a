"""Checksums of arrays."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CHUNK = 1 << 24  # bytes


def crc_of(*arrays: NDArray[Any]) -> int:
    """CRC-32 of the concatenated bytes of several arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs._support.checksum import crc_of
    >>> crc_of(np.arange(3), np.arange(2)) == crc_of(np.arange(3))
    False
    """
    crc = 0
    for array in arrays:
        values = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        for begin in range(0, len(values), _CHUNK):
            crc = zlib.crc32(values[begin : begin + _CHUNK].data, crc)
    return crc
