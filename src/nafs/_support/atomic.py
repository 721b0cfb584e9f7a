"""Atomic output: files and folders are written under a temporary name in the same folder, then renamed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from nafs._support.errors import InputError, OutputExistsError, Parameter

_LONGEST = 225  # bytes of a name; temporary names and those of files beside it are longer


def check_target(path: Path, *, force: bool) -> None:
    """Raise before any work is done if an output cannot be written at ``path``."""
    if path.exists() and not force:
        raise OutputExistsError(
            f"{path} exists already; choose another name, or overwrite it with ", Parameter("force", True)
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} for {path.name} does not exist; create it first")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"no permission to write into {path.parent}")
    if len(os.fsencode(path.name)) > _LONGEST:
        raise InputError(f"the name {path.name[:40]}... is too long for a file; choose a shorter one")


def check_file_target(path: Path, *, force: bool) -> None:
    """As :func:`check_target`, for an output that is a file."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file")
    check_target(path, force=force)


@contextmanager
def whole_file(path: Path, *, force: bool) -> Iterator[Path]:
    """Yield a temporary file that is renamed to ``path`` on success and deleted on error."""
    check_file_target(path, force=force)
    path = Path(os.path.realpath(path))  # a symbolic link is followed, not replaced
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    part = Path(name)
    try:
        part.chmod(0o666 & ~_umask())  # mkstemp creates files with mode 0600
        yield part
        _put(part, path, force=force)
    finally:
        part.unlink(missing_ok=True)


def _put(part: Path, path: Path, *, force: bool) -> None:
    """Rename a finished file. Without force, never replace a file that was created in the meantime."""
    if force:
        os.replace(part, path)
        return
    try:
        os.link(part, path)
    except FileExistsError:
        raise OutputExistsError(
            f"{path} was created by another program in the meantime and is left alone; overwrite it with ",
            Parameter("force", True),
        ) from None
    except OSError:  # a file system without hard links
        os.replace(part, path)


@contextmanager
def whole_folder(path: Path, *, force: bool, contents: Collection[str]) -> Iterator[Path]:
    """Yield a temporary folder that replaces ``path`` on success and is deleted on error.

    An existing folder is replaced only if it holds nothing but ``contents``.
    """
    check_target(path, force=force)
    if path.exists():
        if not path.is_dir():
            raise OutputExistsError(f"{path} is a file, not a folder; it is left alone")
        foreign = sorted({entry.name for entry in path.iterdir()} - set(contents))
        if foreign:
            raise OutputExistsError(f"{path} holds other files ({foreign[0]}); it is left alone")
    part = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    try:
        part.chmod(0o777 & ~_umask())
        yield part
        old = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".old", dir=path.parent))
        try:
            if path.exists():
                os.replace(path, old / path.name)
            os.replace(part, path)
        finally:
            if not path.exists() and (old / path.name).exists():
                os.replace(old / path.name, path)
            shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
