"""The embedding of panels of columns, as tasks that read and write files.

Smoothing treats every column the same; only the distances need whole rows. A first pass smooths each panel
and measures what its columns contribute to the distances (``measure``). The contributions are added up
(``add``). A second pass smooths each panel again with the resulting weights (``smooth``). Tasks share
nothing but files, so they can run one after another within a memory limit, or on many machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nafs.engines.columns import ColumnPanels
from nafs.engines.ordered import read_order
from nafs.engines.work import WorkFolder
from nafs.graph import Adjacency
from nafs.smoothing import _kernel
from nafs.smoothing.distances import distance_named
from nafs.smoothing.ensembles import ensemble_named
from nafs.smoothing.hops import Hops, Layout, Whole, Workspace
from nafs.smoothing.method import Method
from nafs.smoothing.order import Order
from nafs.smoothing.weightings import weighting_named

Tick = Callable[[int], None]
_ROWS = 1 << 16  # per block that is copied
_VALUES = 1 << 20  # per block that is added


@dataclass(frozen=True)
class Task:
    """One step of a run: compute an array of the work folder from others.

    ``kind`` is "measure", "add" or "smooth". "measure" and "smooth" run over all hops of one panel and one r.
    """

    kind: str
    output: str
    needs: tuple[str, ...] = ()
    r: int = 0
    panel: int = 0


def list_tasks(method: Method, n_panels: int) -> list[Task]:
    """All tasks of a run, each after those that it depends on."""
    tasks, side_by_side = [], ensemble_named(method.ensemble).side_by_side
    for r in range(len(method.r)):
        total: tuple[str, ...] = ()
        if method.uses_distance and n_panels > 1:  # a single panel holds whole rows
            parts: list[tuple[int, str]] = []  # each with the number of panels that it sums
            for panel in range(n_panels):
                tasks.append(Task("measure", f"parts-{r}-{panel}", (), r, panel))
                parts.append((1, tasks[-1].output))
                # Adding like a binary counter keeps few parts waiting and fixes the order of the sum.
                while len(parts) > 1 and (parts[-1][0] == parts[-2][0] or panel == n_panels - 1):
                    (n_first, first), (n_second, second) = parts[-2:]
                    tasks.append(Task("add", f"{first}+{panel}", (first, second), r, panel))
                    parts[-2:] = [(n_first + n_second, tasks[-1].output)]
            total = (parts[0][1],)
        for panel in range(n_panels):
            previous = (result_name(r - 1, panel),) if r and not side_by_side else ()
            tasks.append(Task("smooth", result_name(r, panel), (*total, *previous), r, panel))
    return tasks


def result_name(r: int, panel: int) -> str:
    """Name of the array with a panel's embedding, combined over all r's up to this one."""
    return f"result-{r}-{panel}"


def results_of(method: Method, n_panels: int) -> list[str]:
    """Names of the arrays that make up the embedding, side by side."""
    apart = ensemble_named(method.ensemble).side_by_side
    rs = range(len(method.r)) if apart else [len(method.r) - 1]
    return [result_name(r, panel) for r in rs for panel in range(n_panels)]


def missing(tasks: list[Task], wanted: Iterable[str], folder: WorkFolder) -> list[Task]:
    """The unfinished tasks that the wanted arrays depend on, in order."""
    makers = {task.output: task for task in tasks}
    due: set[str] = set()
    open_ends = list(wanted)
    while open_ends:
        name = open_ends.pop()
        if name not in due and not folder.has(name):
            due.add(name)
            open_ends += makers[name].needs
    return [task for task in tasks if task.output in due]


@dataclass
class Panels:
    """The inputs of all tasks: the graph, the features in panels of columns, and the method."""

    graph: Adjacency
    columns: ColumnPanels
    method: Method
    folder: WorkFolder
    state_dtype: str = "float32"
    n_threads: int = 1
    components: NDArray[np.int32] | None = None

    @cached_property
    def _workspace(self) -> Workspace:
        layout = Layout(self.graph.n_nodes, max(self.columns.widths), 1, self.state_dtype)
        return Workspace(layout, self.method, self.folder.scratch)

    def run(self, task: Task, tick: Tick | None = None) -> None:
        """Run a task, unless its output exists already."""
        if self.folder.has(task.output):
            return
        try:
            if task.kind == "measure":
                self._measure(task, tick)
            elif task.kind == "add":
                self._add(task)
            else:
                self._smooth(task, tick)
        finally:
            _kernel.release_threads()

    @cached_property
    def _order(self) -> Order | None:
        return read_order(self.graph, self.folder)

    def _hops(self, task: Task, *, measure: bool, norms: NDArray[np.float32] | None = None) -> Hops:
        whole = Whole(self.columns.largest, self.columns.norms, self.components, norms)
        panel = self.columns.open(task.panel)
        return Hops(
            self.graph,
            panel,
            self.method,
            (self.method.r[task.r],),
            state_dtype=self.state_dtype,
            n_threads=self.n_threads,
            workspace=self._workspace,
            whole=whole,
            measure=measure,
            order=self._order,
            arranged=None if self._order is None else panel,
            allocate=self.folder.scratch,
        )

    def _measure(self, task: Task, tick: Tick | None) -> None:
        hops, (n, last) = self._hops(task, measure=True), (self.graph.n_nodes, self.method.n_hops)
        centres = hops.centre_squares if distance_named(self.method.distance).sums_centres else np.zeros(0)
        size = 2 * n * (last + 1)
        with self.folder.making(task.output, (size + len(centres),), np.float64) as out:
            parts = out[:size].reshape(last + 1, n, 2)
            for k in range(last + 1):
                hops.advance(keep_state=k < last, parts=parts[k], tick=tick)
            out[size:] = centres

    def _add(self, task: Task) -> None:
        first, second = (self.folder.open(name) for name in task.needs)
        with self.folder.making(task.output, first.shape, first.dtype) as out:
            for begin in range(0, len(out), _VALUES):
                part = slice(begin, begin + _VALUES)
                np.add(first[part], second[part], out=out[part])

    def _smooth(self, task: Task, tick: Tick | None) -> None:
        method, n = self.method, self.graph.n_nodes
        parts = norms = None
        if method.uses_distance and len(self.columns.widths) > 1:
            total = self.folder.open(task.needs[0])
            size = 2 * n * (method.n_hops + 1)
            parts = total[:size].reshape(-1, n, 2)
            if distance_named(method.distance).sums_centres:
                norms = np.sqrt(total[size:]).astype(np.float32)[:, None]
        hops = self._hops(task, measure=False, norms=norms)
        for k in range(method.n_hops + 1):
            last = k == method.n_hops and weighting_named(method.weighting).keeps_sum
            of_hop = None if parts is None else parts[k]
            hops.advance(keep_state=not last, postpone=k < method.n_hops, sums=of_hop, tick=tick)
        with self.folder.making(task.output, (n, self.columns.widths[task.panel]), np.float32) as out:
            if ensemble_named(method.ensemble).side_by_side:
                hops.method = replace(method, r=(method.r[task.r],))
                hops.write(out, 0)
                return
            if task.r:
                copy_rows(self.folder.open(task.needs[-1]), out)
            hops.write(out, task.r)


def copy_rows(source: NDArray[np.float32], target: NDArray[np.float32]) -> None:
    """Copy a matrix a block of rows at a time."""
    for begin in range(0, len(source), _ROWS):
        target[begin : begin + _ROWS] = source[begin : begin + _ROWS]
