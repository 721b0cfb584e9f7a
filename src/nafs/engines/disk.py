"""The disk engine: one panel of columns at a time in memory, everything else in files.

Two states of a panel are all that has to be in memory; a limit decides how wide panels are. What is finished
stays in the work folder, so that a run that was broken off goes on where it was.
"""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import show_bytes, total_memory
from nafs.engines.columns import ColumnPanels, write_norms, write_panels
from nafs.engines.panels import Panels, list_tasks, missing, results_of
from nafs.engines.progress import ProgressCallback, Report, count_passes
from nafs.engines.work import FORMAT, WorkFolder, fingerprint
from nafs.graph import Adjacency, Features
from nafs.smoothing import _kernel
from nafs.smoothing.hops import Layout
from nafs.smoothing.method import Method
from nafs.smoothing.stationary import require_undirected

EMBEDDING = "embedding"
PROCESS = 64 << 20  # bytes that Python and the libraries take
_FIXED = 24 << 20  # bytes for what is handled a few rows at a time
_NARROWEST = 8  # columns of a panel
_ROWS = 1 << 14  # of the embedding, put together in one go
_FILES = 64  # panels put side by side in one go


@dataclass(frozen=True)
class DiskPlan:
    """Columns of each panel, and what the run takes in memory and on disk."""

    widths: tuple[int, ...]
    nbytes: int
    disk_bytes: int


def plan(
    graph: Adjacency,
    features: tuple[int, int],
    method: Method,
    *,
    state_dtype: str = "float32",
    memory_limit: int | None = None,
    held: int = 0,
    workers: int = 1,
    shared: bool = False,
) -> DiskPlan:
    """How wide panels can be, before anything is allocated.

    Parameters
    ----------
    graph : Adjacency
    features : (int, int)
        Columns, and bytes of the features in files.
    method : Method
    state_dtype : {"float32", "float16"}
    memory_limit : int, optional
        Bytes of anonymous memory; a quarter of the machine's if there is none. Where the limit allows, Python
        itself is within it.
    held : int
        Bytes of the limit that are in use already.
    workers : int
        Panels are at least as many.
    shared : bool
        Whether the workers share the limit.

    Returns
    -------
    DiskPlan

    Raises
    ------
    MemoryError
        If the narrowest panels exceed the limit; it names the smallest limit that works.
    """
    f, stored = features
    column, narrowest = _column_bytes(graph, method, state_dtype), min(f, _NARROWEST)
    limit = total_memory() // 4 if memory_limit is None else memory_limit
    parts = workers if shared else 1
    smallest = _FIXED + narrowest * column
    if held + parts * smallest > limit:
        raise MemoryError(
            f"the disk engine needs {show_bytes(smallest)} for panels of {narrowest} columns"
            f"{f' on each of {parts} workers' if parts > 1 else ''}, more than the memory_limit of "
            f"{show_bytes(limit)}{f' leaves besides {show_bytes(held)} in use' if held else ''}; the "
            f"smallest limit that works is {held + parts * smallest} bytes"
        )
    share = (limit - held) // parts
    room = share - PROCESS if smallest + PROCESS <= share else share
    fits = max(narrowest, (room - _FIXED) // column)
    widest = min(fits, -(-f // workers))
    if _padded(min(f, widest)) > fits:
        widest = fits // 8 * 8
    widths = even_widths(f, widest)
    nbytes = _FIXED + _padded(max(widths)) * column
    return DiskPlan(widths, nbytes, _disk_bytes(graph, stored, method, widths, workers))


def _padded(width: int) -> int:
    """Columns that a state of a panel takes."""
    return Layout(1, width, 1).stride


def smallest_limit(graph: Adjacency, n_features: int, method: Method, *, state_dtype: str = "float32") -> int:
    """The least memory, in bytes, that :func:`plan` accepts."""
    return _FIXED + min(n_features, _NARROWEST) * _column_bytes(graph, method, state_dtype)


def _column_bytes(graph: Adjacency, method: Method, state_dtype: str) -> int:
    """Memory for one column of a panel: two states and, where distances need them, centres."""
    n = graph.n_nodes
    centres = 0
    if method.needs_stationary_state:
        require_undirected(graph)
        centres = _kernel.components(graph.indptr, graph.indices, np.empty(n, np.int32))
    return 2 * n * np.dtype(state_dtype).itemsize + 12 * centres


def even_widths(n_columns: int, widest: int) -> tuple[int, ...]:
    """As few panels as possible, about equally wide, in whole vectors of eight columns.

    Examples
    --------
    >>> from nafs.engines.disk import even_widths
    >>> even_widths(100, 60), even_widths(10, 9), even_widths(5, 100)
    ((56, 44), (8, 2), (5,))
    """
    if n_columns <= widest:
        return (n_columns,)
    widest = max(_NARROWEST, widest // 8 * 8)
    count = -(-n_columns // widest)
    width = -(-n_columns // count // 8) * 8
    whole, rest = divmod(n_columns, width)
    return (width,) * whole + ((rest,) if rest else ())


def _disk_bytes(graph: Adjacency, stored: int, method: Method, widths: tuple[int, ...], workers: int) -> int:
    n, f, widest = graph.n_nodes, sum(widths), max(widths)
    parts = 0
    if method.uses_distance and len(widths) > 1:
        waiting = max(len(widths).bit_length(), workers) + 1
        parts = waiting * n * (method.n_hops + 1) * 16
    scratch = n * (4 * widest + 40)
    results = n * method.n_columns(f) * 4
    output = results if len(results_of(method, len(widths))) > 1 else 0
    offsets = 8 * n * len(widths)  # of sparse panels
    return stored + offsets + 4 * n + parts + scratch + results + 4 * n * widest + output


def embed(
    graph: Adjacency,
    features: Features,
    method: Method,
    *,
    folder: Path,
    resume: bool = False,
    dtype: str = "float32",
    state_dtype: str = "float32",
    n_threads: int = 1,
    memory_limit: int | None = None,
    held: int = 0,
    progress: ProgressCallback | None = None,
) -> NDArray[Any]:
    """The embedding of ``features`` over ``graph``, mapped from ``embedding.npy`` in the folder.

    Parameters
    ----------
    graph : Adjacency
    features : Features
    method : Method
    folder : Path
        Where the work is done; its parent exists. The caller removes it.
    resume : bool
        Go on with the run in ``folder`` that was broken off.
    dtype : {"float32", "float16"}
        Of the embedding.
    state_dtype, n_threads
        As in :func:`nafs.engines.memory.embed`.
    memory_limit, held
        As in :func:`plan`.
    progress : callable, optional
        Called with a :class:`nafs.Progress`; what it raises stops the run, and what is finished stays.

    Returns
    -------
    ndarray, shape (n, columns)
    """
    mapped = features.dense is None or is_mapped(features.dense)
    size = features.shape[1], features.nbytes if mapped else 0
    chosen = plan(graph, size, method, state_dtype=state_dtype, memory_limit=memory_limit, held=held)
    work = WorkFolder(folder)
    widths = widths_of(work, chosen, resume=resume)
    check_room(folder, chosen.disk_bytes, resume=resume)
    about = describe(graph, features, method, state_dtype=state_dtype, dtype=dtype, widths=widths)
    with work.run(about, resume=resume):
        tasks, results = list_tasks(method, len(widths)), results_of(method, len(widths))
        due = [] if work.has(EMBEDDING) else missing(tasks, results, work)
        if due:
            write_norms(features, work)
        if due and mapped:
            write_panels(features, widths, sorted({task.panel for task in due}), work)
        whole = None if mapped else features.dense
        columns = ColumnPanels(work, widths, features.largest, features.dense is None, graph.n_nodes, whole)
        panels = Panels(graph, columns, method, work, state_dtype, n_threads)
        report = Report(progress, graph.n_nodes, method.n_hops, count_passes(tasks))
        report.skip(set(tasks) - set(due))
        uses = Counter(name for task in due for name in task.needs)
        for task in due:
            panels.run(task, report.task_ticker(task, method.r[task.r], len(widths)))
            uses.subtract(task.needs)
            for name in task.needs:
                if not uses[name]:
                    work.drop(name)
        del panels  # its states, before the embedding is put together
        return assemble(work, results, graph.n_nodes, dtype)


def widths_of(work: WorkFolder, chosen: DiskPlan, *, resume: bool) -> tuple[int, ...]:
    """The panels of a run: those that it began with, or as planned."""
    before = work.about().get("widths") if resume else None
    if before is None:
        return chosen.widths
    if max(before) > max(chosen.widths):
        raise MemoryError(
            f"the run in {work.path} has panels of {max(before)} columns, and with this memory_limit "
            f"{max(chosen.widths)} fit; raise it to what it was, or delete the folder"
        )
    return tuple(before)


def describe(
    graph: Adjacency, features: Features, method: Method, *, widths: tuple[int, ...], **others: str
) -> dict[str, Any]:
    """What a run is about: its settings, and checksums of what it is given."""
    return {
        "format": FORMAT,
        **fingerprint(graph, features),
        "widths": list(widths),
        **{name: list(value) if name == "r" else value for name, value in asdict(method).items()},
        **others,
    }


def assemble(work: WorkFolder, results: list[str], n_nodes: int, dtype: str) -> NDArray[Any]:
    """Put panels side by side."""
    if not work.has(EMBEDDING) and len(results) == 1 and dtype == "float32":
        work.rename(results[0], EMBEDDING)
    elif not work.has(EMBEDDING):
        widths = [work.open(name).shape[1] for name in results]
        with work.making(EMBEDDING, (n_nodes, sum(widths)), dtype) as out:
            left = 0
            for first in range(0, len(results), _FILES):
                found = [work.open(name) for name in results[first : first + _FILES]]
                width = sum(part.shape[1] for part in found)
                for begin in range(0, n_nodes, _ROWS):
                    rows = [part[begin : begin + _ROWS] for part in found]
                    np.concatenate(
                        rows, axis=1, out=out[begin : begin + _ROWS, left : left + width], casting="same_kind"
                    )
                left += width
    return work.open(EMBEDDING, "c")


def check_room(folder: Path, needed: int, *, resume: bool) -> None:
    """Raise before any work is done if the disk has too little room; what a run left counts as room."""
    at = folder if folder.exists() else folder.parent
    free = shutil.disk_usage(at).free
    if resume and folder.exists():
        free += sum(path.stat().st_blocks * 512 for path in folder.iterdir())
    if needed > free:
        raise OSError(
            f"this needs {show_bytes(needed)} of disk in {folder.parent}, and {show_bytes(free)} are free; "
            "make room, or name a folder on another disk (--work-dir, work_dir=)"
        )


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether an array lies in a file."""
    return _mapping(array) is not None


def mapped_file(array: NDArray[Any]) -> Path | None:
    """The .npy file that an array is the whole of, if there is one."""
    found = _mapping(array)
    if found is None or found.filename is None or found.shape != array.shape or found.dtype != array.dtype:
        return None
    path = Path(found.filename)
    return path if path.suffix == ".npy" and path.exists() else None


def _mapping(array: Any) -> Any:
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array
