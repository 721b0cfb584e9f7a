"""Folders that other programs may use at the same time: exchanged in one step, and locked."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


def exchange(first: Path, second: Path) -> bool:
    """Let two entries of a file system change places in one step; False where that is not possible."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux, or an old C library
        return False
    if rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE) == 0:
        return True
    error = ctypes.get_errno()
    if error in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM):  # network file systems
        return False
    raise OSError(error, os.strerror(error), os.fspath(second))


@contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[bool]:
    """Keep a folder from all others that lock it; a killed program holds no lock.

    Yields False where the file system has no locks. Without ``wait``, a folder that another program holds
    raises BlockingIOError.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield lock(handle, wait=wait)
    finally:
        os.close(handle)


def lock(handle: int, *, wait: bool = True) -> bool:
    """Lock an open folder until the handle is closed; see :func:`locked`."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except (ImportError, OSError):
        return False
    return True
