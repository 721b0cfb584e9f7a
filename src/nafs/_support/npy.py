"""NumPy's .npy format, read strictly: plain numbers and text, never objects, never more than the file holds.

The header of a .npy file is Python source. It is not evaluated but matched against the form that NumPy
writes, and the size that it claims is compared with the size of the file before anything is allocated.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError

_MAGIC = b"\x93NUMPY"
_LONGEST = 10_000  # bytes of a header
_HEADER = re.compile(
    rb"\{'descr': '([<>|=])([biufSU])(\d{1,9})', 'fortran_order': (True|False), "
    rb"'shape': \(([0-9, L]*)\),? *\} *\n"
)
_BLOCK = 1 << 22  # bytes that are written at once
_LONGEST_TEXT = 1 << 20  # characters of one value
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8, 16)}


class Header:
    """Type, order and shape of the array in a .npy file."""

    def __init__(self, dtype: np.dtype[Any], fortran: bool, shape: tuple[int, ...], offset: int) -> None:
        self.dtype, self.fortran, self.shape, self.offset = dtype, fortran, shape, offset

    @property
    def nbytes(self) -> int:
        """Bytes that the array claims to have."""
        return math.prod(self.shape) * self.dtype.itemsize

    def array(self, content: Any) -> NDArray[Any]:
        """The array over a buffer with its bytes."""
        flat = np.frombuffer(content, self.dtype, math.prod(self.shape))
        return flat.reshape(self.shape, order="F" if self.fortran else "C")


def read_header(file: IO[bytes], where: str) -> Header:
    """Read the header at the start of a .npy file.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from nafs._support.npy import read_header
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((2, 3)))
    >>> _ = file.seek(0)
    >>> header = read_header(file, "x.npy")
    >>> header.shape, header.nbytes
    ((2, 3), 48)
    """
    start = file.read(8)
    if len(start) < 8 or not start.startswith(_MAGIC) or start[6] not in (1, 2, 3):
        raise InputError(f"{where} is not a .npy file")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(file.read(width), "little")
    if length > _LONGEST:
        raise InputError(f"{where}: its header claims {length} bytes, more than is plausible")
    text = file.read(length)
    if b"'|O'" in text:
        raise InputError(f"{where}: it holds pickled objects, which are not opened: save numbers only")
    match = _HEADER.fullmatch(text)
    if match is None:
        raise InputError(f"{where}: its header is damaged or not supported: save plain numbers")
    order, kind, size = match[1].decode(), match[2].decode(), int(match[3])
    if size not in _SIZES.get(kind, range(1, _LONGEST_TEXT + 1)):
        raise InputError(f"{where}: its header claims values of an impossible size ({kind}{size})")
    parts = [part.strip().rstrip(b"L") for part in match[5].split(b",") if part.strip()]
    if len(parts) > 32 or not all(part.isdigit() and len(part) < 20 for part in parts):
        raise InputError(f"{where}: its header claims an impossible shape")
    shape = tuple(int(part) for part in parts)
    return Header(np.dtype(f"{order}{kind}{size}"), match[4] == b"True", shape, 8 + width + length)


def save_npy(path: str | os.PathLike[str], array: NDArray[Any], n_rows: int | None = None) -> None:
    """Write an array to a .npy file; rows from ``n_rows`` on are left out and read as zeros.

    The file is written in blocks: ``np.save`` does not say why writing failed, and a full disk would kill a
    program that maps the file.
    """
    header = {
        "descr": np.lib.format.dtype_to_descr(array.dtype),
        "fortran_order": False,
        "shape": array.shape,
    }
    with Path(path).open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        size = file.tell() + array.nbytes
        if array.size:
            rows, step = array[:n_rows], max(1, _BLOCK // array[:1].nbytes)
            for top in range(0, len(rows), step):
                file.write(np.ascontiguousarray(rows[top : top + step]).view(np.uint8).data)
        file.truncate(size)


def load_npy(
    path: str | os.PathLike[str], *, mmap: bool = True, mode: Literal["r", "c"] = "r"
) -> NDArray[Any]:
    """The array in a .npy file, mapped into memory or read.

    Parameters
    ----------
    path : path
    mmap : bool
    mode : {"r", "c"}
        Of the mapping: "c" keeps changes in memory.
    """
    where = os.fspath(path)
    size = Path(where).stat().st_size
    with Path(where).open("rb") as file:
        header = read_header(file, where)
        if header.nbytes > size - header.offset:
            raise InputError(
                f"{where} is cut short: it has {size} bytes, {header.offset + header.nbytes} are claimed"
            )
        if not header.nbytes:
            return np.empty(header.shape, header.dtype)
        if not mmap:
            return header.array(file.read(header.nbytes)).copy(order="K")
    order: Any = "F" if header.fortran else "C"
    return np.asarray(np.memmap(where, header.dtype, mode, header.offset, header.shape, order))


def read_npy(file: IO[bytes], size: int, where: str) -> NDArray[Any]:
    """The array in a stream of ``size`` bytes, such as a member of an archive."""
    header = read_header(file, where)
    if header.nbytes > size - header.offset:
        raise InputError(f"{where} is cut short")
    content = bytearray(header.nbytes)
    view, at = memoryview(content), 0
    while at < len(view) and (count := file.readinto(view[at:])):  # type: ignore[attr-defined]
        at += count
    if at < len(view):
        raise InputError(f"{where} is cut short")
    return header.array(content)
