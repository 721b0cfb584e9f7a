"""Atomic output: files and folders are written under a temporary name in the same folder, then renamed."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nafs._support.errors import InputError, OutputExistsError, Parameter
from nafs._support.folders import exchange, lock, locked

_TEMPORARY = re.compile(r"\.(.+)\.[a-z0-9_]{8}\.(?:part|old)")
_LONGEST = 225  # bytes of a name; temporary names and those of files beside it are longer
_LONGEST_PATH = 4000  # bytes, folders included


def check_target(path: Path, *, force: bool) -> None:
    """Raise before any work is done if an output cannot be written at ``path``."""
    check_length(path)
    if path.exists() and not force:
        raise OutputExistsError(
            f"{path} exists already; choose another name, or overwrite it with ", Parameter("force", True)
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} for {path.name} does not exist; create it first")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"no permission to write into {path.parent}")


def check_length(path: Path) -> None:
    """Raise if the name of an output, or of a folder on the way to it, is too long for a file system."""
    name = next((part for part in path.parts if len(os.fsencode(part)) > _LONGEST), None)
    if name is not None:
        raise InputError(f"the name {name[:40]}... is too long for a file or a folder; choose a shorter one")
    if len(os.fsencode(path.absolute())) > _LONGEST_PATH:
        raise InputError(f"the path {str(path)[:40]}... is too long; choose a shorter one")


def check_file_target(path: Path, *, force: bool) -> None:
    """As :func:`check_target`, for an output that is a file."""
    check_length(path)
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

    An existing folder is replaced only if it holds nothing but ``contents``. What killed programs left under
    temporary names is removed.
    """
    check_target(path, force=force)
    path = Path(os.path.realpath(path))  # a symbolic link is followed, not replaced
    recover_folder(path)
    _check_contents(path, contents)
    _remove_orphans(path, contents)
    part, handle = _locked_part(path)
    try:
        part.chmod(0o777 & ~_umask())
        yield part
        if force and path.exists():
            _replace_folder(part, path)
        else:
            _put_folder(part, path)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        os.close(handle)


def recover_folder(path: Path) -> None:
    """Bring back a folder that a program was replacing when it was killed; see :func:`_replace_folder`."""
    if path.exists() or not path.parent.is_dir():
        return
    for old in _temporary(path, "old"):
        if (old / path.name).is_dir():
            with suppress(BlockingIOError), locked(old, wait=False):  # or somebody is about to finish
                os.rename(old / path.name, path)
                shutil.rmtree(old, ignore_errors=True)
            return


def _check_contents(path: Path, contents: Collection[str]) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        raise OutputExistsError(f"{path} is a file, not a folder; it is left alone")
    foreign = sorted({entry.name for entry in path.iterdir()} - set(contents))
    if foreign:
        raise OutputExistsError(f"{path} holds other files ({foreign[0]}); it is left alone")


def _locked_part(path: Path) -> tuple[Path, int]:
    """A new folder beside ``path``, locked by a handle so that nobody takes it for an orphan."""
    while True:
        part = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
        handle = os.open(part, os.O_RDONLY)
        lock(handle)
        if part.exists():  # or another program took it for an orphan before it was locked
            return part, handle
        os.close(handle)


def _put_folder(part: Path, path: Path) -> None:
    """Rename a finished folder to a name that is free."""
    try:
        os.rename(part, path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        raise OutputExistsError(
            f"{path} was created by another program in the meantime and is left alone; overwrite it with ",
            Parameter("force", True),
        ) from None


def _replace_folder(part: Path, path: Path) -> None:
    """Put a finished folder in the place of another one, which is deleted.

    Where the file system cannot exchange the two in one step, the old one is moved aside first. If the
    program is killed right then, the next one that reads or writes the folder brings it back.
    """
    if exchange(part, path):
        return
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".old", dir=path.parent))
    with locked(old):
        try:
            os.rename(path, old / path.name)
            os.rename(part, path)
        finally:
            if not path.exists() and (old / path.name).exists():
                os.rename(old / path.name, path)
            shutil.rmtree(old, ignore_errors=True)


def _remove_orphans(path: Path, contents: Collection[str]) -> None:
    """Delete temporary folders for ``path`` that no living program holds."""
    for kind, known in (("part", set(contents)), ("old", {path.name})):
        for orphan in _temporary(path, kind):
            with suppress(OSError), locked(orphan, wait=False) as is_orphan:
                inside = {_lasting(entry.name) for entry in orphan.iterdir()}
                if is_orphan and inside <= known:
                    shutil.rmtree(orphan, ignore_errors=True)


def _temporary(path: Path, kind: str) -> list[Path]:
    """Folders with temporary names for ``path``."""
    entries = (entry for entry in path.parent.iterdir() if entry.name.endswith(f".{kind}"))
    return sorted(
        entry
        for entry in entries
        if _lasting(entry.name) == path.name and entry.name != path.name and entry.is_dir()
    )


def _lasting(name: str) -> str:
    """The name that something with a temporary name would get."""
    match = _TEMPORARY.fullmatch(name)
    return match[1] if match else name


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
