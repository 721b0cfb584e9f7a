"""The embedding of panels of columns, as tasks that read and write files.

Smoothing treats every column the same; only the distances need whole rows, and those are sums over columns.
There are two ways to have them:

* Two passes. The first one smooths each panel and measures what its columns contribute to the distances
  (``measure``). The contributions are added up (``add``). The second pass smooths each panel again with the
  resulting weights (``smooth``).
* In rounds, where each panel has a worker of its own, which keeps the state from one task to the next: two
  hops are computed and measured (``step``), the contributions are added up, and the next step begins with
  weighing these two hops (``finish`` after the last one). A worker without the state, because another one was
  lost, computes it anew from the features.

Tasks share nothing but files, so they can run one after another within a memory limit, or on many machines.
Both ways give the same bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.engines.columns import ColumnPanels
from nafs.engines.ordered import read_order
from nafs.engines.threads import on_threads
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
Done = Callable[["Task"], None]
ROUND_VALUES = 1 << 24  # gathered in a hop; fewer are gathered twice sooner than parts are exchanged
_ROWS = 1 << 16  # per block that is copied
_VALUES = 1 << 18  # per block that is added


@dataclass(frozen=True)
class Task:
    """One step of a run: compute an array of the work folder from others.

    ``kind`` is "measure", "add" and "smooth" in two passes, "step", "add" and "finish" in rounds. ``hops``
    are those that it computes. It begins when the arrays in ``needs``, which it reads, and in ``after``,
    which it does not, are finished.
    """

    kind: str
    output: str
    needs: tuple[str, ...] = ()
    r: int = 0
    panel: int = 0
    hops: range = range(0)
    after: tuple[str, ...] = ()


def rounds(n_hops: int) -> list[range]:
    """Hops that are weighed together: hop 0, then pairs.

    Examples
    --------
    >>> from nafs.engines.panels import rounds
    >>> rounds(3)
    [range(0, 1), range(1, 3), range(3, 4)]
    """
    return [range(1), *(range(k, min(k + 2, n_hops + 1)) for k in range(1, n_hops + 1, 2))]


def takes_rounds(
    graph: Adjacency, method: Method, widths: tuple[int, ...], n_workers: int, state_dtype: str
) -> bool:
    """Whether panels are smoothed once, in rounds.

    Each panel has a worker, hops can be weighed afterwards, and take longer than the exchange of parts.
    """
    return (
        1 < len(widths) <= n_workers
        and (len(graph.indices) + graph.n_nodes) * max(widths) >= ROUND_VALUES
        and method.uses_distance
        and not method.needs_stationary_state
        and state_dtype == "float32"
    )


def list_tasks(
    method: Method, n_panels: int, *, in_rounds: bool = False, one_worker: bool = False
) -> list[Task]:
    """All tasks of a run, each after those that it depends on.

    Parameters
    ----------
    method : Method
    n_panels : int
    in_rounds : bool
        See :func:`takes_rounds`.
    one_worker : bool
        Tasks run one after another: a panel's parts are added to those of the panel before while they are
        measured.

    Returns
    -------
    list of Task
    """
    tasks: list[Task] = []
    previous_total: tuple[str, ...] = ()
    finished: list[tuple[str, ...]] = [()] * n_panels  # the result of each panel for the r before
    side_by_side, every = ensemble_named(method.ensemble).side_by_side, range(method.n_hops + 1)
    for r in range(len(method.r)):
        totals: tuple[str, ...] = ()
        if in_rounds:
            for hops in rounds(method.n_hops):
                steps = [  # a worker has room for the state of one r
                    Task("step", f"parts-{r}-{panel}-{hops[-1]}", totals, r, panel, hops, after)
                    for panel, after in enumerate(finished)
                ]
                tasks += _with_additions(steps)
                totals += (tasks[-1].output,)
        elif method.uses_distance and n_panels > 1:  # a single panel holds whole rows
            steps = [
                Task("measure", f"parts-{r}-{panel}", (), r, panel, every, previous_total)
                for panel in range(n_panels)
            ]
            tasks += _with_additions(steps, at_once=one_worker)
            totals = previous_total = (tasks[-1].output,)  # so that parts of two r's exist at most
        for panel in range(n_panels):
            previous = (result_name(r - 1, panel),) if r and not side_by_side else ()
            kind, hops = ("finish", range(0)) if in_rounds else ("smooth", every)
            tasks.append(Task(kind, result_name(r, panel), (*totals, *previous), r, panel, hops))
            finished[panel] = (tasks[-1].output,)
    return tasks


def _with_additions(steps: list[Task], *, at_once: bool = False) -> list[Task]:
    """These tasks, and those that add up their parts; the last one gives the sum of all.

    Adding like a binary counter keeps few parts waiting and fixes the order of the sum. With ``at_once`` a
    task adds its own parts to those that wait, where that comes next.
    """
    tasks: list[Task] = []
    waiting: list[tuple[int, str]] = []  # each with the number of panels that it sums
    for step in steps:
        last = step is steps[-1]
        tasks.append(step)
        waiting.append((1, step.output))
        while len(waiting) > 1 and (waiting[-1][0] == waiting[-2][0] or last):
            (n_first, first), (n_second, second) = waiting[-2:]
            output = f"{first}+{step.panel}"
            if at_once and tasks[-1] is step:
                tasks[-1] = replace(step, output=output, needs=(first,))
            else:
                tasks.append(Task("add", output, (first, second), step.r, step.panel))
            waiting[-2:] = [(n_first + n_second, output)]
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


def dropping(tasks: list[Task], folder: WorkFolder, features: ColumnPanels | None = None) -> Done:
    """A function to call after each of these tasks: it removes arrays that no further one reads.

    With ``features``, also those of panels whose tasks are finished.
    """

    def names_read(task: Task) -> list[str]:
        own = [] if features is None or task.kind == "add" else features.names(task.panel)
        return [*task.needs, *own]

    uses = Counter(name for task in tasks for name in names_read(task))

    def done(task: Task) -> None:
        names = names_read(task)
        uses.subtract(names)
        for name in names:
            if not uses[name]:
                folder.drop(name)

    return done


def drop_parts(folder: WorkFolder) -> None:
    """Remove parts of distances that are left: by a run that was resumed in another way, or a lost worker."""
    for name in folder.names():
        if name.startswith("parts-"):
            folder.drop(name)


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
    _kept: tuple[int, int, Hops] | None = None  # between two steps: r, panel and its hops

    @cached_property
    def _workspace(self) -> Workspace:
        layout = Layout(self.graph.n_nodes, max(self.columns.widths), 1, self.state_dtype)
        return Workspace(layout, self.method, self.folder.scratch)

    def run(self, task: Task, tick: Tick | None = None) -> None:
        """Run a task, unless its output exists already."""
        if self.folder.has(task.output):
            return
        if task.kind in ("measure", "smooth"):
            self._kept = None  # they use the same memory
        try:
            {
                "measure": self._measure,
                "add": self._add,
                "smooth": self._smooth,
                "step": self._step,
                "finish": self._finish,
            }[task.kind](task, tick)
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
            before = self.folder.open(task.needs[0]) if task.needs else None
            for some in rounds(last):
                for k in some:
                    hops.advance(keep_state=k < last, postpone=k != some[-1], parts=parts[k], tick=tick)
                if before is not None:
                    done = slice(2 * n * some[0], 2 * n * (some[-1] + 1))
                    self._sum(out[done], before[done], out[done])
            out[size:] = centres if before is None else centres + before[size:]

    def _add(self, task: Task, tick: Tick | None) -> None:
        first, second = (self.folder.open(name) for name in task.needs)
        with self.folder.making(task.output, first.shape, first.dtype) as out:
            self._sum(first.reshape(-1), second.reshape(-1), out.reshape(-1))

    def _sum(self, first: NDArray[Any], second: NDArray[Any], out: NDArray[Any]) -> None:
        """The sum of two flat arrays."""

        def add(begin: int) -> None:
            part = slice(begin, begin + _VALUES)
            np.add(first[part], second[part], out=out[part])

        on_threads(add, range(0, len(out), _VALUES), self.n_threads)

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
        self._write(task, hops)

    def _write(self, task: Task, hops: Hops) -> None:
        method, shape = self.method, (self.graph.n_nodes, self.columns.widths[task.panel])
        with self.folder.making(task.output, shape, np.float32) as out:
            if ensemble_named(method.ensemble).side_by_side:
                hops.method = replace(method, r=(method.r[task.r],))
                hops.write(out, 0)
                return
            if task.r:
                copy_rows(self.folder.open(task.needs[-1]), out)
            hops.write(out, task.r)

    def _step(self, task: Task, tick: Tick | None) -> None:
        hops = self._weighed(task)
        with self.folder.making(task.output, (len(task.hops), self.graph.n_nodes, 2), np.float64) as out:
            for k, parts in zip(task.hops, out, strict=True):
                hops.advance(postpone=k != task.hops[-1], parts=parts, tick=tick)
        self._kept = task.r, task.panel, hops

    def _finish(self, task: Task, tick: Tick | None) -> None:
        self._write(task, self._weighed(task))

    def _weighed(self, task: Task) -> Hops:
        """The hops of earlier rounds, all weighed: kept from the step before, or computed from the start."""
        earlier = rounds(self.method.n_hops)
        totals = [self.folder.open(name) for name in task.needs[: len(earlier)]]
        n_hops = sum(len(total) for total in totals)
        kept, self._kept = self._kept, None
        if kept is not None and kept[:2] == (task.r, task.panel) and kept[2].hop + 1 == n_hops:
            kept[2].weigh(totals[-1])
            return kept[2]
        del kept  # its states are used again
        hops = self._hops(task, measure=False)
        for some, total in zip(earlier, totals, strict=False):
            for k, sums in zip(some, total, strict=True):
                hops.advance(postpone=k != some[-1], sums=sums)
        return hops


def copy_rows(source: NDArray[np.float32], target: NDArray[np.float32]) -> None:
    """Copy a matrix a block of rows at a time."""
    for begin in range(0, len(source), _ROWS):
        target[begin : begin + _ROWS] = source[begin : begin + _ROWS]
