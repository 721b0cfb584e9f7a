"""Scratch arrays in unnamed files: they use the page cache, and their disk space is reserved first."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import show_bytes

Allocate = Callable[[tuple[int, ...], Any], NDArray[Any]]


def scratch_in(folder: Path | None) -> Allocate:
    """A function that allocates scratch arrays in a folder; by default the system's temporary folder."""
    return partial(scratch_array, Path(tempfile.gettempdir()) if folder is None else folder)


def scratch_array(folder: Path, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """A zeroed array in an unnamed file, which is freed with the array."""
    size = max(1, int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
    with tempfile.TemporaryFile(dir=folder) as file:
        take_room(file, size, folder, "intermediate values")
        return np.asarray(np.memmap(file, dtype, "r+", shape=shape))


def take_room(file: IO[bytes], size: int, folder: Path, purpose: str, hint: str = "make room") -> None:
    """Reserve disk space for a file: writing to a mapped file on a full disk would kill the process."""
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise OSError(
            error.errno, f"no room for {show_bytes(size)} ({purpose}) in {folder}; {hint}"
        ) from None
