"""Input that can be read only once, such as a pipe, is copied to a temporary file first."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from nafs._support.errors import InputError

_ENDINGS = (
    (b"PAR1", ".parquet"),
    (b"\x1f\x8b", ".csv.gz"),
    (b"\x28\xb5\x2f\xfd", ".csv.zst"),
    (b"\x93NUMPY", ".npy"),
    (b"PK\x03\x04", ".npz"),
    (b"%%MatrixMarket", ".mtx"),
    (b"<?xml", ".graphml"),
)


@contextmanager
def readable(*paths: Any, folder: Any = None) -> Iterator[tuple[list[str | None], Callable[[str], str]]]:
    """The paths, with copies in place of pipes, and a function that restores the pipes' names in a text.

    Errors already name the pipes.

    Parameters
    ----------
    *paths : path or None
    folder : path, optional
        Where copies go; by default the usual folder for temporary files.
    """
    names = [None if path is None else os.fspath(path) for path in paths]
    pipes = {name for name in names if name is not None and is_pipe(name)}
    if not pipes:
        yield names, str
        return
    with tempfile.TemporaryDirectory(prefix="nafs-pipe-", dir=folder) as copies:
        spooled = {}
        for i, name in enumerate(sorted(pipes)):
            with open(name, "rb", buffering=0) as stream:
                spooled[name] = spool(stream, Path(copies) / f"pipe{i}")
        originals = {copy: name for name, copy in spooled.items()}
        try:
            yield (
                [spooled.get(name, name) if name is not None else None for name in names],
                lambda text: with_names(text, originals),
            )
        except InputError as error:
            raise renamed(error, originals) from None


def spool(stream: IO[bytes] | Any, target: Path) -> str:
    """Copy a stream to a file; its first bytes decide the extension."""
    head = b""
    while len(head) < 16 and (more := stream.read(16 - len(head))):
        head += more
    ending = next((ending for sign, ending in _ENDINGS if head.startswith(sign)), ".csv")
    path = target.with_name(target.name + ending)
    with path.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file, 1 << 20)
    return str(path)


def renamed(error: InputError, names: dict[str, str]) -> InputError:
    """The error with files renamed in its message."""
    return type(error)(*(with_names(part, names) if isinstance(part, str) else part for part in error.parts))


def with_names(text: str, names: dict[str, str]) -> str:
    """A text with files renamed."""
    for copy, name in names.items():
        text = text.replace(copy, name)
    return text


def is_pipe(name: str) -> bool:
    """Whether a path names a pipe, which can be opened once only; devices are refused."""
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return False
    if stat.S_ISFIFO(mode):
        return True
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise InputError(f"{name} is a device or a socket, not a file; name a file or a pipe")
    return False
