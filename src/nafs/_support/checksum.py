"""Checksums of arrays, and of all files of a folder."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.json_text import parse_json

SEAL = "checksums.json"
_CHUNK = 1 << 22  # bytes


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


def seal(folder: Path) -> None:
    """Write the checksums of all files of a folder into one more file."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / SEAL)
    sums = {path.relative_to(folder).as_posix(): _crc_of_file(path) for path in files}
    (folder / SEAL).write_text(json.dumps(sums, indent=1), encoding="utf-8")


def check_seal(folder: Path) -> None:
    """Raise ValueError, naming a file, if files of a folder are missing or not as they were sealed.

    Files that came later are not looked at.
    """
    path = folder / SEAL
    if not path.is_file():
        raise ValueError(f"{SEAL} is missing")
    sums = parse_json(path.read_bytes())
    if not isinstance(sums, dict):
        raise ValueError(f"{SEAL} does not list files")
    for name, crc in sums.items():
        file = folder / name
        try:
            inside = file.resolve().is_relative_to(folder.resolve()) and file.is_file()
        except OSError:  # a name that is too long
            inside = False
        if not inside:
            raise ValueError(f"{name!r:.80} is missing")
        if _crc_of_file(file) != crc:
            raise ValueError(f"{name} does not match its checksum")


def _crc_of_file(path: Path) -> int:
    crc = 0
    with path.open("rb") as file:
        while content := file.read(_CHUNK):
            crc = zlib.crc32(content, crc)
    return crc
