"""Arrays in files: page cache instead of memory of the process, with their room on the disk taken first."""

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
    """What makes arrays in nameless files in a folder, by default the usual one for temporary files."""
    return partial(scratch_array, Path(tempfile.gettempdir()) if folder is None else folder)


def scratch_array(folder: Path, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array of zeros without a name, for as long as it is used."""
    size = max(1, int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
    with tempfile.TemporaryFile(dir=folder) as file:
        take_room(file, size, folder, "intermediate values")
        return np.asarray(np.memmap(file, dtype, "r+", shape=shape))


def take_room(file: IO[bytes], size: int, folder: Path, what: str, hint: str = "make room") -> None:
    """Reserve space for a file: writing to a mapped file on a full disk would end the process."""
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise OSError(error.errno, f"no room for {show_bytes(size)} ({what}) in {folder}; {hint}") from None
