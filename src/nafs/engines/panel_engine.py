"""The common part of the disk and the Dask engine: panels of columns in files of a work folder.

Only two states of a panel have to be in memory; the memory limit determines the width of the panels.
Finished arrays stay in the work folder, so that an interrupted run can be resumed. An executor runs the
tasks: in order in this process, or as futures on many machines.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import program_bytes, show_bytes, total_memory
from nafs._support.errors import MemoryLimitError, Parameter
from nafs.engines.base import EMBEDDING, Plan, Problem, Result
from nafs.engines.columns import ColumnPanels, write_norms, write_panels
from nafs.engines.ordered import NODES, drop_order, write_order
from nafs.engines.panels import Task, drop_parts, list_tasks, missing, results_of, takes_rounds
from nafs.engines.progress import ProgressCallback, Report, count_hops
from nafs.engines.threads import on_threads
from nafs.engines.work import FORMAT, WorkFolder, fingerprint, unchanged_inputs
from nafs.graph import Features
from nafs.smoothing.hops import Layout
from nafs.smoothing.method import Method
from nafs.smoothing.order import CACHED_STATE, order_nbytes, order_pays

PROCESS = 64 << 20  # bytes used by Python and the libraries
_FIXED = 24 << 20  # bytes for buffers of a few rows
_RECORDS = 1 << 16
_NARROWEST = 8  # columns of the narrowest panel
_ROWS = 1 << 14  # of the embedding, per block that is assembled
_FILES = 64  # panels that are open at a time while assembling


class Executor(Protocol):
    """Runs tasks whose inputs and outputs are arrays in a work folder."""

    token: str | None  # distinguishes arrays of this run from those of an earlier run in the same folder
    places: int  # processes that can keep the state of a panel each; known once prepared

    def prepare(self, problem: Problem, work: WorkFolder, columns: ColumnPanels) -> None:
        """Prepare for tasks on these columns; raise if they cannot run."""

    def run(self, due: list[Task], report: Report) -> None:
        """Run each task after those that it depends on; drop arrays that no further one needs."""


class PanelEngine:
    """Plans and runs panels; a subclass provides the executor."""

    name: ClassVar[str]
    all_in_files: ClassVar[bool]  # whether tasks run in other processes, which see only files

    def workers(self, problem: Problem) -> tuple[int, bool]:
        """Panels that run at the same time, and whether they share the memory limit with this process."""
        raise NotImplementedError

    def executor(self, problem: Problem) -> AbstractContextManager[Executor]:
        """The executor of the tasks."""
        raise NotImplementedError

    def plan(self, problem: Problem) -> Plan:
        """Choose the width of the panels; nothing is allocated yet.

        Without a limit, a quarter of the machine's memory is used. The limit of a command includes the memory
        of the program; one of the library does so if it is large enough.
        """
        f = problem.size.n_columns
        workers, shared = self.workers(problem)
        held = problem.held if shared else 0
        column, narrowest = _column_bytes(problem), min(f, _NARROWEST)
        limit = problem.resources.limit or total_memory() // 4
        parts = workers if shared else 1
        smallest = _FIXED + narrowest * column
        if held + parts * smallest > limit:
            raise MemoryLimitError(
                f"the disk engine needs {show_bytes(smallest)} for panels of {narrowest} columns"
                f"{f' on each of {parts} workers' if parts > 1 else ''}, more than the ",
                Parameter("memory_limit"),
                f" of {show_bytes(limit)}{f' leaves besides {show_bytes(held)} in use' if held else ''}; the "
                f"smallest limit that works is {held + parts * smallest} bytes",
            )
        share = (limit - held) // parts
        counted = PROCESS if program_bytes(limit) == 0 else 0
        room = share - counted if smallest + counted <= share else share
        fits = max(narrowest, (room - _FIXED) // column)
        widest = min(fits, -(-f // workers // 8) * 8)  # a panel for each worker, if they fit
        if _padded(min(f, widest)) > fits:
            widest = fits // 8 * 8
        widths = even_widths(f, widest)
        ordered = _orders(problem, widths, workers)
        strategy = f"{len(widths)} panel{'s' if len(widths) > 1 else ''} of up to {max(widths)} columns"
        if workers > 1:
            strategy += f" on {workers} workers"
        if ordered:
            strategy += ", nodes in community order"
        in_files = ordered or self._in_files(problem)
        return Plan(
            self.name,
            held + _FIXED + _padded(max(widths)) * column,
            _disk_bytes(
                problem,
                widths,
                workers,
                in_files=in_files,
                ordered=ordered,
                one_worker=not self.all_in_files,
            ),
            strategy,
            ordered=ordered,
            arranged=problem.graph.n_nodes if ordered else 0,
            widths=widths,
            workers=workers,
        )

    def run(
        self, problem: Problem, plan: Plan, features: Features, progress: ProgressCallback | None = None
    ) -> Result:
        """Compute the embedding, mapped from a file in the work folder. Finished arrays survive an error."""
        folder = problem.work_dir
        if folder is not None:
            if not folder.parent.is_dir():
                raise FileNotFoundError(
                    f"the folder {folder.parent} for {folder.name} does not exist; create it first"
                )
            return Result(self._run(problem, plan, features, folder, progress), folder)
        folder = Path(tempfile.mkdtemp(prefix="nafs-work-"))
        try:
            return Result(self._run(problem, plan, features, folder, progress), folder, temporary=True)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _run(
        self,
        problem: Problem,
        plan: Plan,
        features: Features,
        folder: Path,
        progress: ProgressCallback | None,
    ) -> NDArray[Any]:
        method, n = problem.method, problem.graph.n_nodes
        with self.executor(problem) as executor:
            work = WorkFolder(folder.resolve(), executor.token)
            widths = _widths_to_use(work, plan, resume=problem.resume)
            ordered = _ordered_to_use(work, plan, resume=problem.resume)
            _check_room(folder, plan.disk_bytes, resume=problem.resume)
            with work.run(_describe(problem, features, widths, ordered=ordered), resume=problem.resume):
                in_files = ordered or self._in_files(problem)
                columns = ColumnPanels(
                    work,
                    widths,
                    features.largest,
                    problem.size.sparse,
                    n,
                    None if in_files else features.matrix,
                )
                executor.prepare(problem, work, columns)
                in_rounds = takes_rounds(
                    problem.graph, method, widths, executor.places, problem.resources.state_dtype
                )
                tasks = list_tasks(method, len(widths), in_rounds=in_rounds, one_worker=not self.all_in_files)
                results = results_of(method, len(widths))
                due = [] if work.has(EMBEDDING) else missing(tasks, results, work)
                if due:
                    write_norms(features, work)
                if due and ordered:
                    write_order(problem.graph, work, problem.resources.threads)
                if due and in_files:
                    nodes = work.open(NODES) if ordered else None
                    panels = sorted({task.panel for task in due})
                    write_panels(features, widths, panels, work, nodes, problem.resources.threads)
                report = Report(progress, n, method.n_hops, 0)
                report.total = n * count_hops(tasks)
                report.skip(set(tasks) - set(due))
                watched = (
                    unchanged_inputs(problem.graph, features, work) if self.all_in_files else nullcontext()
                )
                with watched:
                    executor.run(due, report)
                drop_order(work)
                drop_parts(work)
                return assemble(work, results, n, problem.dtype, problem.resources.threads)

    def _in_files(self, problem: Problem) -> bool:
        """Whether panels are written to files instead of being views of a matrix in memory."""
        return self.all_in_files or problem.size.sparse or problem.size.mapped


def count_passes(problem: Problem, widths: tuple[int, ...], workers: int) -> int:
    """How often each panel is smoothed."""
    method, panels = problem.method, len(widths)
    in_rounds = takes_rounds(problem.graph, method, widths, workers, problem.resources.state_dtype)
    return 2 if method.uses_distance and panels > 1 and not in_rounds else 1


def _padded(width: int) -> int:
    """Columns of a panel's state, padding included."""
    return Layout(1, width, 1).stride


def _column_bytes(problem: Problem) -> int:
    """Memory per column of a panel: two states and, if the distance needs them, centres."""
    size = np.dtype(problem.resources.state_dtype).itemsize
    return 2 * problem.graph.n_nodes * size + 12 * problem.n_centres


def even_widths(n_columns: int, widest: int) -> tuple[int, ...]:
    """Split columns into as few, about equally wide panels as possible; widths are multiples of eight.

    Examples
    --------
    >>> from nafs.engines.panel_engine import even_widths
    >>> even_widths(100, 60), even_widths(10, 9), even_widths(5, 100)
    ((56, 44), (8, 2), (5,))
    """
    if n_columns <= widest:
        return (n_columns,)
    widest = max(_NARROWEST, widest // 8 * 8)
    count = -(-n_columns // widest)
    width = -(-n_columns // count // 8) * 8
    whole, remainder = divmod(n_columns, width)
    return (width,) * whole + ((remainder,) if remainder else ())


def _orders(problem: Problem, widths: tuple[int, ...], workers: int) -> bool:
    """Whether nodes are renumbered.

    The centres of components are summed over rows in the given order, so distances to them keep it.
    """
    method, resources = problem.method, problem.resources
    if method.needs_stationary_state:
        return False
    state = problem.graph.n_nodes * max(widths) * np.dtype(resources.state_dtype).itemsize
    columns = problem.size.n_columns * len(method.r) * count_passes(problem, widths, workers)
    return state > CACHED_STATE and order_pays(columns, method.n_hops, resources.threads * workers)


def _disk_bytes(
    problem: Problem,
    widths: tuple[int, ...],
    workers: int,
    *,
    in_files: bool,
    ordered: bool,
    one_worker: bool,
) -> int:
    """The most that is in the work folder at a time: while panels are smoothed, or while they are joined."""
    method, n, f, widest = problem.method, problem.graph.n_nodes, sum(widths), max(widths)
    several = len(method.r) > 1
    part = waiting = 0  # parts of the distances
    if method.uses_distance and len(widths) > 1:
        part = n * (method.n_hops + 1) * 16
        waiting = len(widths).bit_length() if one_worker else max(len(widths).bit_length(), workers) + 1
        if workers > 1 and several:  # the next r begins before the last panels of this one end
            waiting *= 2
    panels = problem.size.nbytes + 8 * n * len(widths) if in_files else 0  # with offsets, if sparse
    results, result = n * method.n_columns(f) * 4, workers * n * widest * 4
    if several:  # results of the r before stay
        running = panels + waiting * part + results + result
    elif one_worker:  # the features of a panel are dropped once its result is finished
        running = max(panels + waiting * part, part + max(panels + result, results))
    else:
        running = panels + max(waiting * part, part + results)
    running += workers * n * (4 * widest + 40)  # sums and distances of the panels that are smoothed
    if ordered:  # what finding it takes, the result twice while it is copied, and the rows of nodes
        running += sum(order_nbytes(problem.graph)) + 16 * n
    joined = results if len(results_of(method, len(widths))) > 1 else 0
    return max(running, results + joined) + 4 * n + _RECORDS  # norms of rows, headers and checksums


def _widths_to_use(work: WorkFolder, plan: Plan, *, resume: bool) -> tuple[int, ...]:
    """Widths of the panels: those of the interrupted run, or as planned."""
    previous = work.about().get("widths") if resume else None
    if previous is None:
        return plan.widths
    if max(previous) > max(plan.widths):
        raise MemoryLimitError(
            f"the run in {work.path} has panels of {max(previous)} columns, but this ",
            Parameter("memory_limit"),
            f" allows only {max(plan.widths)}; raise the limit to its old value, or delete the folder",
        )
    return tuple(previous)


def _ordered_to_use(work: WorkFolder, plan: Plan, *, resume: bool) -> bool:
    """Whether nodes are renumbered: as the run began, since its arrays have that order, or as planned."""
    return bool((work.about() if resume else {}).get("ordered", plan.ordered))


def _describe(
    problem: Problem, features: Features, widths: tuple[int, ...], *, ordered: bool
) -> dict[str, Any]:
    """The identity of a run: its settings, and checksums of its inputs."""
    inputs = fingerprint(problem.graph, features) if problem.identity is None else problem.identity()
    return {
        "format": FORMAT,
        **inputs,
        "widths": list(widths),
        "ordered": ordered,
        **_plain(problem.method),
        "state_dtype": problem.resources.state_dtype,
        "dtype": problem.dtype,
    }


def _plain(method: Method) -> dict[str, Any]:
    return {name: list(value) if name == "r" else value for name, value in asdict(method).items()}


def assemble(work: WorkFolder, results: list[str], n_nodes: int, dtype: str, n_threads: int) -> NDArray[Any]:
    """Assemble the embedding from its panels."""
    if not work.has(EMBEDDING) and len(results) == 1 and dtype == "float32":
        work.rename(results[0], EMBEDDING)
    elif not work.has(EMBEDDING):
        widths = [work.open(name).shape[1] for name in results]
        with work.making(EMBEDDING, (n_nodes, sum(widths)), dtype) as out:
            start = 0
            for first in range(0, len(results), _FILES):
                panels = [work.open(name) for name in results[first : first + _FILES]]
                width = sum(panel.shape[1] for panel in panels)
                on_threads(
                    partial(_join_rows, panels, out[:, start : start + width]),
                    range(0, n_nodes, _ROWS),
                    n_threads,
                )
                start += width
    return work.open(EMBEDDING, "c")


def _join_rows(panels: list[NDArray[Any]], out: NDArray[Any], begin: int) -> None:
    """Write a block of rows of the panels side by side."""
    rows = slice(begin, begin + _ROWS)
    np.concatenate([panel[rows] for panel in panels], axis=1, out=out[rows], casting="same_kind")


def _check_room(folder: Path, needed: int, *, resume: bool) -> None:
    """Raise before any work if the disk is too full. Files of the run to resume count as free space."""
    existing = folder if folder.exists() else folder.parent
    free = shutil.disk_usage(existing).free
    if resume and folder.exists():
        free += sum(path.stat().st_blocks * 512 for path in folder.iterdir())
    if needed > free:
        raise OSError(
            f"the run needs {show_bytes(needed)} of disk in {folder.parent}, but only {show_bytes(free)} "
            "are free; make room, or use a work folder on another disk"
        )
