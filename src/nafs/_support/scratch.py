"""Scratch arrays in unnamed files: they use the page cache, and their disk space is reserved first."""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
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
        return in_large_pages(np.memmap(file, dtype, "r+", shape=shape))


def in_large_pages(array: np.memmap[Any, Any]) -> NDArray[Any]:
    """A mapped array that is about to be filled, in large pages where the system has them.

    With small ones, the faults of the first writing take several times as long as the writing itself.
    """
    pages = array._mmap  # type: ignore[attr-defined]
    with suppress(AttributeError, OSError):  # unknown to this system or file system
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.asarray(array)


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
