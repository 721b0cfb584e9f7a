"""A model as a folder: arrays that are mapped into memory, and a journal of changes.

``model.json`` describes the arrays of the base, which never change. Each saved update adds a folder
``changes-000001``, ``changes-000002``, ... with the rows that differ. Folders appear when they are complete,
so a killed run leaves the model as before or after the update, never in between. A full run, or a journal
that has grown to half of the base, writes a new base. Every folder has checksums of its files, which are
compared when the model is loaded. Two programs that save at once hold a lock on the folder while they do.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.atomic import recover_folder, whole_folder
from nafs._support.checksum import SEAL, check_seal, seal
from nafs._support.errors import InputError
from nafs._support.folders import locked
from nafs._support.json_text import parse_json
from nafs._support.npy import load_npy, save_npy
from nafs.graph import Graph
from nafs.model.states import Kept
from nafs.smoothing.method import Method

FORMAT, VERSION = "nafs model", 5
MARKER = "model.json"
_JOURNAL = re.compile(r"changes-\d{6}")
_UNFINISHED = re.compile(r"\.changes-.*\.part")  # left by a run that was killed
_SHARE = 0.5  # size of a journal, as a share of the base


@dataclass
class Place:
    """The folder that a model is saved in: the base's name and the number of changes since."""

    folder: Path
    token: str
    n_changes: int


def is_saved_model(path: Any) -> bool:
    """Whether a path is a folder with a model."""
    return (Path(path) / MARKER).is_file()


def save_base(
    folder: Path,
    graph: Graph,
    kept: Kept,
    alive: NDArray[np.bool_],
    about: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    *,
    force: bool,
    replaces: Place | None = None,
) -> Place:
    """Write a model as a whole; the folder appears when it is complete.

    A model that ``replaces`` itself raises if the folder is not as it was left or loaded.
    """
    token = uuid.uuid4().hex
    if replaces is not None:
        check_place(replaces)
    names = [MARKER, SEAL, "graph", "alive.npy", *(f"{name}.npy" for name in (*Kept.names(), *arrays))]
    if folder.is_dir() and is_saved_model(folder):
        names += [entry.name for entry in folder.iterdir() if _belongs(entry.name)]
    with ExitStack() as until_replaced, whole_folder(folder, force=force, contents=names) as part:
        Graph(graph.adjacency, ids=graph.id_array).save(part / "graph")
        for name, array in kept.arrays().items():
            save_npy(part / f"{name}.npy", array, graph.n_nodes)  # without spare rows
        save_npy(part / "alive.npy", alive)
        for name, array in arrays.items():
            save_npy(part / f"{name}.npy", array)
        about = {"format": FORMAT, "version": VERSION, "token": token, "arrays": sorted(arrays), **about}
        (part / MARKER).write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")
        seal(part)
        if replaces is not None:  # writing takes a while
            until_replaced.enter_context(locked(replaces.folder))
            check_place(replaces)
    return Place(folder.resolve(), token, 0)


def _belongs(name: str) -> bool:
    return name.endswith(".npy") or bool(_JOURNAL.fullmatch(name) or _UNFINISHED.fullmatch(name))


def check_place(place: Place) -> None:
    """Raise if another program has changed a model since it was loaded or saved."""
    folder = place.folder
    if read_about(folder).get("token") != place.token or len(_journal(folder)) != place.n_changes:
        raise _overtaken(folder)


def _journal(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if _JOURNAL.fullmatch(entry.name))


def append(place: Place, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> bool:
    """Add a change to the journal; False where a new base should be written instead."""
    folder = place.folder
    check_place(place)
    size = sum(array.nbytes for array in arrays.values())
    base = sum(path.stat().st_blocks * 512 for path in folder.glob("*.npy"))
    journal = sum(path.stat().st_size for path in folder.glob("changes-*/*.npy"))
    if size + journal > _SHARE * base and place.n_changes:
        return False
    part = Path(tempfile.mkdtemp(prefix=".changes-", suffix=".part", dir=folder))
    try:
        for name, array in arrays.items():
            save_npy(part / f"{name}.npy", array)
        text = json.dumps({"arrays": sorted(arrays), **about}, ensure_ascii=False)
        (part / "change.json").write_text(text, encoding="utf-8")
        seal(part)
        part.chmod(folder.stat().st_mode & 0o777)
        with locked(folder):
            check_place(place)
            try:
                os.rename(part, _change(folder, place.n_changes + 1))
            except OSError:
                raise _overtaken(folder) from None
    except FileNotFoundError:  # the folder was replaced while this was written
        raise _overtaken(folder) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    place.n_changes += 1
    for entry in folder.iterdir():
        if _UNFINISHED.fullmatch(entry.name):
            shutil.rmtree(entry, ignore_errors=True)
    return True


def _change(folder: Path, number: int) -> Path:
    return folder / f"changes-{number:06d}"


def _overtaken(folder: Path) -> InputError:
    return InputError(f"{folder} was changed by another program in the meantime; load it again")


def damaged(folder: Path, why: str) -> InputError:
    """The error for a folder that cannot be read."""
    return InputError(f"{folder} is damaged: {why}; build the model again")


def read_about(folder: Path) -> dict[str, Any]:
    """What model.json says."""
    recover_folder(folder)
    if not folder.exists():
        raise FileNotFoundError(f"{folder} does not exist")
    if not is_saved_model(folder):
        raise InputError(f"{folder} is not a saved model: it has no {MARKER}")
    try:
        about = parse_json((folder / MARKER).read_bytes())
        kind, version = about["format"], about["version"]
    except (ValueError, KeyError, TypeError):
        raise damaged(folder, f"{MARKER} does not describe a model") from None
    if kind != FORMAT:
        raise damaged(folder, f"{MARKER} does not describe a model")
    if version != VERSION:
        raise InputError(
            f"{folder} was saved by another version of nafs (format {version!s:.40}, this one reads "
            f"{VERSION}); build the model again"
        )
    return dict(about)


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Turn any error that a damaged folder causes into one that says so."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError as error:
        raise damaged(folder, f"{Path(str(error.filename)).name} is missing") from None
    except ValueError as error:
        raise damaged(folder, f"{error}") from None
    except (KeyError, TypeError, AttributeError, EOFError, IndexError) as error:
        raise damaged(folder, f"{type(error).__name__}: {error}") from None


def load_base(
    folder: Path, about: dict[str, Any], method: Method
) -> tuple[Graph, Kept, NDArray[np.bool_], dict[str, NDArray[Any]]]:
    """The base; its arrays stay on disk until they are needed, and the files are never written to."""
    check_seal(folder)
    graph = Graph.load(folder / "graph")
    kept = Kept(**{name: load_npy(folder / f"{name}.npy", mode="c") for name in Kept.names()})
    expected = Kept.shapes(kept.capacity, int(about["columns"]), method)
    for name, array in kept.arrays().items():
        shape, dtype = expected[name]
        fits = array.shape == shape and array.dtype == dtype and array.flags.c_contiguous
        if not fits or len(array) < graph.n_nodes:
            raise damaged(folder, f"{name}.npy has shape {array.shape} and type {array.dtype}")
    kept.clear_spare(graph.n_nodes)
    alive = load_npy(folder / "alive.npy", mmap=False)
    if alive.shape != (graph.n_nodes,) or alive.dtype != bool:
        raise damaged(folder, "alive.npy does not fit the graph")
    arrays = {name: load_npy(folder / f"{name}.npy", mmap=False) for name in about["arrays"]}
    return graph, kept, alive, arrays


def load_changes(folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, NDArray[Any]]]]:
    """The journal, one change after another."""
    names = _journal(folder)
    if names != [_change(folder, number + 1).name for number in range(len(names))]:
        raise damaged(folder, "changes are missing from its journal")
    for name in names:
        path = folder / name
        check_seal(path)
        about = parse_json((path / "change.json").read_bytes())
        yield about, {key: load_npy(path / f"{key}.npy", mmap=False) for key in about["arrays"]}


def method_of(about: dict[str, Any]) -> Method:
    """The method of a saved model."""
    stored = about["method"]
    return Method(**{**stored, "r": tuple(stored["r"])})


def plain_method(method: Method) -> dict[str, Any]:
    """A method as values for JSON."""
    return asdict(method)
