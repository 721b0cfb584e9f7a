"""A work folder: arrays that tasks write and read, each complete and with its checksum, or absent.

Arrays are .npy files mapped into memory, so that they count as page cache and not as memory of the process.
Disk space is reserved before anything is written: a full disk is an error, not a crash.
"""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nafs._support.checksum import crc_of
from nafs._support.errors import InputError, OutputExistsError, Parameter
from nafs._support.json_text import parse_json
from nafs._support.mapped import cut_file
from nafs._support.npy import load_npy
from nafs._support.scratch import in_large_pages, scratch_array, take_room
from nafs.graph import Adjacency, Features

ABOUT = "about.json"
FORMAT = "nafs-work"
_LOCK, _TOKEN, _PREFIX = "lock", "token", "nafs-"
WRITING = "writing.json"  # names of the files beside an output, written before they appear
_CRC = re.compile(rb"[0-9a-f]{8}\n")
_ARRAY = re.compile(r"embedding|norms|[a-z]+(-[a-z0-9.]+)+")  # names that runs give to arrays
_KEPT = "finished arrays are kept: make room and resume the run"


class WorkFolder:
    """Arrays by name in a folder.

    Parameters
    ----------
    path : path
    token : str, optional
        Of the run: arrays finished after another run has started here are discarded.
    """

    def __init__(self, path: Path, token: str | None = None) -> None:
        self.path, self.token = path, token

    @contextmanager
    def run(self, about: dict[str, Any], *, resume: bool) -> Iterator[None]:
        """Hold the folder for one run, from the start or to resume an interrupted one.

        Parameters
        ----------
        about : dict
            The identity of the run; to resume, it must be the same as before.
        resume : bool
        """
        self._refuse_if_used()
        before = self.about()
        if before and not resume:
            raise OutputExistsError(
                f"{self.path} holds an interrupted run; resume it (",
                Parameter("resume", True),
                ") or delete the folder",
            )
        if not before and self.path.exists() and not self._is_free():
            raise OutputExistsError(
                f"{self.path} is not empty and holds no run; choose another folder with ",
                Parameter("work_dir"),
            )
        self._compare(before or about, about)
        self.path.mkdir(exist_ok=True)
        with self._locked():
            self._remove_fragments()
            for array in self.names() if before else ():
                self.check(array)
            if not before:
                self._write_text(ABOUT, json.dumps(about, indent=2) + "\n")
            if self.token is not None:  # arrays that an earlier run still finishes are not accepted
                self._write_text(_TOKEN, self.token)
            yield

    def _is_free(self) -> bool:
        """Whether the folder is empty except for leftovers of a run killed right after its start."""
        names = {path.name for path in self.path.iterdir()} - {_LOCK}
        return all(name.startswith(_PREFIX) and name.endswith(".part") for name in names)

    def _compare(self, before: dict[str, Any], about: dict[str, Any]) -> None:
        for key in sorted(before.keys() | about.keys()):
            if before.get(key) != about.get(key):
                raise InputError(
                    f"{self.path} holds another run: its {key.replace('_', ' ')} is {before.get(key)}, now "
                    f"it is {about.get(key)}; delete it, or choose another folder with ",
                    Parameter("work_dir"),
                )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import fcntl

        with (self.path / _LOCK).open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise self._in_use() from None
            except OSError:  # a file system that cannot lock
                pass
            file.truncate(0)
            file.write(f"process {os.getpid()} on {platform.node()}\n")
            file.flush()
            yield

    def _refuse_if_used(self) -> None:
        """Raise if another process is using the folder: then it is not an interrupted run."""
        import fcntl

        try:
            with (self.path / _LOCK).open("r") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._in_use() from None
        except OSError:  # no such file, or a file system that cannot lock
            pass

    def _in_use(self) -> OSError:
        try:
            holder = (self.path / _LOCK).read_text(encoding="utf-8").strip()[:200]
        except (OSError, ValueError):
            holder = ""
        return OSError(
            f"{self.path} is in use by {holder or 'another process'}; wait until that run has ended"
        )

    def _remove_fragments(self) -> None:
        """Delete half-written files of a killed process: parts, arrays without checksums, or the reverse."""
        for part in self.path.glob(f"{_PREFIX}*.part"):
            part.unlink(missing_ok=True)
        for crc in self.path.glob("*.crc"):
            if not crc.with_suffix(".npy").exists() and _CRC.fullmatch(crc.read_bytes()[:16]):
                crc.unlink(missing_ok=True)
        for array in self.path.glob("*.npy"):
            if not array.with_suffix(".crc").exists() and _ARRAY.fullmatch(array.stem):
                array.unlink(missing_ok=True)

    def about(self) -> dict[str, Any]:
        """The description of the run in this folder; empty where there is none."""
        try:
            content = parse_json((self.path / ABOUT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return dict(content) if isinstance(content, dict) and content.get("format") == FORMAT else {}

    def names(self) -> list[str]:
        """Names of the complete arrays."""
        return sorted(path.stem for path in self.path.glob("*.npy") if path.with_suffix(".crc").exists())

    def has(self, name: str) -> bool:
        """Whether an array is complete."""
        return self.file(name).exists() and (self.path / f"{name}.crc").exists()

    def open(self, name: str, mode: Literal["r", "c"] = "r") -> NDArray[Any]:
        """An array, mapped for reading; with "c", changes stay in memory."""
        return load_npy(self.file(name), mode=mode)

    @contextmanager
    def making(self, name: str, shape: tuple[int, ...], dtype: Any) -> Iterator[NDArray[Any]]:
        """An array to be filled, mapped for writing; it appears if the block ends without an error."""
        part = self._part()
        try:
            array = np.lib.format.open_memmap(part, "w+", dtype, shape)
            with part.open("r+b") as file:
                take_room(file, part.stat().st_size, self.path, name, _KEPT)
            yield in_large_pages(array)
            crc = f"{_signature(array)}\n"
            if self.token is not None and (self.path / _TOKEN).read_text() != self.token:
                raise OSError(f"another run has started in {self.path}")
            self._write_text(f"{name}.crc", crc)
            os.replace(part, self.file(name))
        finally:
            part.unlink(missing_ok=True)

    def check(self, name: str) -> None:
        """Raise if an array differs from what was written."""
        try:
            expected = (self.path / f"{name}.crc").read_text().strip()
            actual = _signature(self.open(name))
        except (OSError, ValueError, EOFError) as error:
            actual, expected = str(error), "readable"
        if actual != expected:
            raise InputError(
                f"{self.file(name)} is damaged (checksum {actual}, not {expected}); delete it, and resuming "
                "computes it again"
            )

    def drop(self, name: str) -> None:
        """Remove an array."""
        self.file(name).unlink(missing_ok=True)
        (self.path / f"{name}.crc").unlink(missing_ok=True)

    def rename(self, name: str, new: str) -> None:
        """Rename an array."""
        os.replace(self.path / f"{name}.crc", self.path / f"{new}.crc")
        os.replace(self.file(name), self.file(new))

    def scratch(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """A temporary array without a name, gone when it is no longer used."""
        return scratch_array(self.path, shape, dtype)

    def remove(self) -> None:
        """Delete the files of the run, and the folder if nothing else is in it."""
        for name in self.names():
            self.drop(name)
        self._remove_fragments()
        for name in (ABOUT, _LOCK, _TOKEN, WRITING):
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


def _signature(array: NDArray[Any]) -> str:
    """Checksum of an array with its type, shape and order: a damaged header must not pass."""
    order = "C" if array.flags.c_contiguous else "F"
    about = np.frombuffer(f"{array.dtype.str} {array.shape} {order}".encode(), np.uint8)
    return f"{crc_of(about, array):08x}"


def fingerprint(graph: Adjacency, features: Features) -> dict[str, Any]:
    """Checksums that identify a graph and its features."""
    weights = () if graph.weights is None else (graph.weights,)
    edges = crc_of(graph.indptr, graph.indices, *weights)
    values = crc_of(*features.arrays("features").values())
    return {
        "nodes": graph.n_nodes,
        "edges": f"{edges:08x}{'-directed' if graph.directed else ''}",
        "features": f"{features.shape[1]}-{values:08x}",
    }


@contextmanager
def unchanged_inputs(graph: Adjacency, features: Features, work: WorkFolder) -> Iterator[None]:
    """Raise if files of the graph or its features are cut short or change while other processes read them."""
    arrays = [graph.indptr, graph.indices, graph.weights, *features.arrays("features").values()]
    before = fingerprint(graph, features)
    again = f"delete the folder {work.path} and start again"
    try:
        yield
    except (OSError, RuntimeError) as error:
        if path := cut_file(arrays):  # a process that reads beyond its end dies without a word
            raise InputError(
                f"{path} was deleted or shortened during the run ({error}); restore it, {again}"
            ) from None
        raise
    if path := cut_file(arrays):
        raise InputError(f"{path} was deleted or shortened during the run; restore it, {again}")
    if fingerprint(graph, features) != before:
        raise InputError(f"the files of the graph or its features changed during the run; {again}")
