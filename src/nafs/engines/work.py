"""A folder of arrays that tasks make and tasks read: each whole and with its checksum, or not there.

Arrays are .npy files mapped into memory, so that they count as page cache and not as memory of the process.
Room on the disk is taken before anything is written: a full disk is an error, not a crash.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nafs._support.checksum import crc_of
from nafs._support.scratch import scratch_array, take_room
from nafs.graph import Adjacency, Features

ABOUT = "about.json"
FORMAT = "nafs-work"
_LOCK, _TOKEN, _PREFIX = "lock", "token", "nafs-"
_KEPT = "what is finished is kept: make room and go on (--resume, resume=True)"


class WorkFolder:
    """Arrays by name in a folder.

    Parameters
    ----------
    path : path
    token : str, optional
        Of the run: what is made after another run has begun here is thrown away.
    """

    def __init__(self, path: Path, token: str | None = None) -> None:
        self.path, self.token = path, token

    @contextmanager
    def run(self, about: dict[str, Any], *, resume: bool) -> Iterator[None]:
        """Be at work here, alone: from the start, or where a run was broken off.

        Parameters
        ----------
        about : dict
            What the run is about; to go on, it must be what it was.
        resume : bool
        """
        before = self.about()
        if before and not resume:
            raise FileExistsError(
                f"{self.path} holds a run that was broken off; go on with it (--resume, resume=True) or "
                "delete the folder"
            )
        if not before and self.path.exists() and not self._is_free():
            raise FileExistsError(f"{self.path} is not empty and holds no run; name another folder")
        self._compare(before or about, about)
        self.path.mkdir(exist_ok=True)
        with self._locked():
            for name in self.path.glob(f"{_PREFIX}*.part"):
                name.unlink(missing_ok=True)
            for array in self.names() if before else ():
                self.check(array)
            if not before:
                self._write_text(ABOUT, json.dumps(about, indent=2) + "\n")
            if self.token is not None:  # what a run before this one still makes is not taken
                self._write_text(_TOKEN, self.token)
            yield

    def _is_free(self) -> bool:
        """Whether nothing but what a run leaves that was killed at once is in the folder."""
        names = {path.name for path in self.path.iterdir()} - {_LOCK}
        return all(name.startswith(_PREFIX) and name.endswith(".part") for name in names)

    def _compare(self, before: dict[str, Any], about: dict[str, Any]) -> None:
        for key in sorted(before.keys() | about.keys()):
            if before.get(key) != about.get(key):
                raise ValueError(
                    f"{self.path} holds another run: its {key.replace('_', ' ')} is {before.get(key)}, now "
                    f"it is {about.get(key)}; name another folder, or delete it"
                )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import fcntl

        with (self.path / _LOCK).open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OSError(f"another process is at work in {self.path}") from None
            except OSError:  # a file system that cannot lock
                pass
            yield

    def about(self) -> dict[str, Any]:
        """What the run here is about; empty where there is none of ours."""
        try:
            found = json.loads((self.path / ABOUT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return dict(found) if isinstance(found, dict) and found.get("format") == FORMAT else {}

    def names(self) -> list[str]:
        """Arrays that are there."""
        return sorted(path.stem for path in self.path.glob("*.npy") if path.with_suffix(".crc").exists())

    def has(self, name: str) -> bool:
        """Whether an array is there, whole."""
        return self.file(name).exists() and (self.path / f"{name}.crc").exists()

    def open(self, name: str, mode: Literal["r", "c"] = "r") -> NDArray[Any]:
        """An array, mapped for reading; "c": what is written into it stays in memory."""
        return np.asarray(np.load(self.file(name), mmap_mode=mode, allow_pickle=False))

    @contextmanager
    def making(self, name: str, shape: tuple[int, ...], dtype: Any) -> Iterator[NDArray[Any]]:
        """An array to be filled, mapped for writing; it is there when the block ends well."""
        part = self._part()
        try:
            array = np.lib.format.open_memmap(part, "w+", dtype, shape)
            with part.open("r+b") as file:
                take_room(file, part.stat().st_size, self.path, name, _KEPT)
            yield np.asarray(array)
            crc = f"{crc_of(array):08x}\n"
            if self.token is not None and (self.path / _TOKEN).read_text() != self.token:
                raise OSError(f"another run has begun in {self.path}")
            self._write_text(f"{name}.crc", crc)
            os.replace(part, self.file(name))
        finally:
            part.unlink(missing_ok=True)

    def check(self, name: str) -> None:
        """Raise where an array is not what was written."""
        try:
            expected = (self.path / f"{name}.crc").read_text().strip()
            found = f"{crc_of(self.open(name)):08x}"
        except (OSError, ValueError, EOFError) as error:
            found, expected = str(error), "readable"
        if found != expected:
            raise ValueError(
                f"{self.file(name)} is damaged (checksum {found}, not {expected}); delete it and what was "
                "made from it is made again"
            )

    def drop(self, name: str) -> None:
        """Remove an array."""
        self.file(name).unlink(missing_ok=True)
        (self.path / f"{name}.crc").unlink(missing_ok=True)

    def rename(self, name: str, new: str) -> None:
        """Give an array another name."""
        os.replace(self.path / f"{name}.crc", self.path / f"{new}.crc")
        os.replace(self.file(name), self.file(new))

    def scratch(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """An array without a name, for as long as it is used."""
        return scratch_array(self.path, shape, dtype)

    def remove(self) -> None:
        """Delete the folder and what the run left in it."""
        for name in self.names():
            self.drop(name)
        for left in self.path.glob(f"{_PREFIX}*.part"):
            left.unlink(missing_ok=True)
        for name in (ABOUT, _LOCK, _TOKEN):
            (self.path / name).unlink(missing_ok=True)
        if self.path.exists() and not any(self.path.iterdir()):
            self.path.rmdir()

    def file(self, name: str) -> Path:
        """The file of an array."""
        return self.path / f"{name}.npy"

    def _part(self) -> Path:
        return self.path / f"{_PREFIX}{secrets.token_hex(8)}.part"

    def _write_text(self, name: str, text: str) -> None:
        part = self._part()
        try:
            part.write_text(text, encoding="utf-8")
            os.replace(part, self.path / name)
        finally:
            part.unlink(missing_ok=True)


def fingerprint(graph: Adjacency, features: Features) -> dict[str, Any]:
    """Checksums that tell one graph with features from another."""
    weights = () if graph.weights is None else (graph.weights,)
    edges = crc_of(graph.indptr, graph.indices, *weights)
    if features.dense is not None:
        values = crc_of(features.dense)
    else:
        rows = np.asarray(features.sparse.indptr, np.int64)
        values = crc_of(rows, features.sparse.indices, features.sparse.data)
    return {
        "nodes": graph.n_nodes,
        "edges": f"{edges:08x}{'-directed' if graph.directed else ''}",
        "features": f"{features.shape[1]}-{values:08x}",
    }
