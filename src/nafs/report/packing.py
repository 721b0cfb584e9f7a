"""The data of a page as bytes: one gzip stream of a JSON header followed by typed arrays.

The header names each array by its type, offset and length. Browsers unpack the stream themselves
(`DecompressionStream`). The bytes of an array are grouped by their position within a value, lowest first:
similar numbers then compress far better. The reader is ``web/src/data.js``.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ALIGNMENT = 8
_LEVEL = 6
KINDS = ("f4", "f8", "u1", "u2", "i4")


def pack(data: Any) -> bytes:
    """Nested dicts and lists, with arrays anywhere inside, as bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.report.packing import pack, unpack
    >>> unpack(pack({"title": "<b>", "values": np.array([1, 2], np.uint16)}))
    {'title': '<b>', 'values': array([1, 2], dtype=uint16)}
    """
    arrays: list[NDArray[Any]] = []
    offset = 0

    def named(value: Any) -> Any:
        nonlocal offset
        if isinstance(value, np.ndarray):
            array = np.ascontiguousarray(value)
            kind = array.dtype.str[1:]
            if kind not in KINDS:
                raise TypeError(f"pages hold arrays of {', '.join(KINDS)}; got {kind}")
            arrays.append(array)
            start, offset = offset, offset + _aligned(array.nbytes)
            return {"array": [kind, start, array.size]}
        if isinstance(value, dict):
            return {str(name): named(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            if value and isinstance(value[0], str):  # a long list of ids holds no arrays
                return value
            return [named(item) for item in value]
        return value

    header = json.dumps(named(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    start = _aligned(4 + len(header))
    content = bytearray(start + offset)
    content[:4] = len(header).to_bytes(4, "little")
    content[4 : 4 + len(header)] = header
    for array in arrays:
        values = array.astype(array.dtype.newbyteorder("<")).ravel().view(np.uint8)
        content[start : start + array.nbytes] = values.reshape(-1, array.itemsize).T.tobytes()
        start += _aligned(array.nbytes)
    return gzip.compress(bytes(content), _LEVEL, mtime=0)


def packed_size(data: Any) -> int:
    """Bytes that data takes in a page, where it is base64."""
    return len(pack(data)) * 4 // 3


def unpack(packed: bytes) -> Any:
    """What `pack` packed."""
    content = gzip.decompress(packed)
    size = int.from_bytes(content[:4], "little")
    start = _aligned(4 + size)

    def revived(value: Any) -> Any:
        if isinstance(value, dict):
            if "array" in value:
                kind, offset, length = value["array"]
                dtype = np.dtype(f"<{kind}")
                planes = np.frombuffer(content, np.uint8, length * dtype.itemsize, start + offset)
                return np.ascontiguousarray(planes.reshape(dtype.itemsize, -1).T).view(dtype).ravel()
            return {name: revived(item) for name, item in value.items()}
        return [revived(item) for item in value] if isinstance(value, list) else value

    return revived(json.loads(content[4 : 4 + size]))


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
