"""Progress of a run, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from nafs._support.errors import InputTypeError
from nafs.smoothing import _kernel

if TYPE_CHECKING:
    from nafs.engines.panels import Task


class Progress(NamedTuple):
    """Progress of a run. ``done`` and ``total`` count rows over all hops, r's, panels and passes.

    ``step`` is "smooth", or "measure" in the first of two passes over a panel of columns. The memory engine
    also makes two passes for small graphs with many features; see :mod:`nafs.engines.cached`.
    """

    done: int
    total: int
    hop: int
    n_hops: int
    r: tuple[float, ...]
    panel: int = 0
    n_panels: int = 1
    step: str = "smooth"


ProgressCallback = Callable[[Progress], None]


class Report:
    """Counts rows and calls the user's callback."""

    def __init__(self, progress: ProgressCallback | None, n_nodes: int, n_hops: int, runs: int) -> None:
        if progress is not None and not callable(progress):
            raise InputTypeError(f"progress must be callable, such as print; got {progress!r}")
        self.progress, self.n_nodes, self.n_hops = progress, n_nodes, n_hops
        self.done = 0
        self.expect(runs)

    @property
    def rows(self) -> int:
        """Rows of one r over all hops."""
        return self.n_nodes * (self.n_hops + 1)

    def ticker(self, hop: int, r: tuple[float, ...], step: str = "smooth") -> Callable[[int], None] | None:
        """A function to call with the number of rows finished in one hop of these r's."""
        if self.progress is None:
            return None
        callback = self.progress

        def tick(rows: int) -> None:
            self.done += rows * len(r)
            _kernel.release_threads()  # the callback may fork
            callback(Progress(self.done, self.total, hop, self.n_hops, r, step=step))

        return tick

    def expect(self, runs: int) -> None:
        """Reset the total: ``runs`` passes over all hops of one r remain."""
        self.total = self.done + self.rows * runs

    def task_ticker(self, task: Task, r: float, n_panels: int) -> Callable[[int], None] | None:
        """A function to call with the number of rows finished in a panel's task."""
        if self.progress is None or not task.hops:
            return None
        callback, start = self.progress, self.done
        step = "measure" if task.kind == "measure" else "smooth"

        def tick(rows: int) -> None:
            hop = task.hops[min((self.done - start) // self.n_nodes, len(task.hops) - 1)]
            self.done += rows
            _kernel.release_threads()
            callback(Progress(self.done, self.total, hop, self.n_hops, (r,), task.panel, n_panels, step))

        return tick

    def skip(self, tasks: Iterable[Task]) -> None:
        """Count the tasks that an earlier run has finished."""
        self.done += self.n_nodes * count_hops(tasks)


def count_hops(tasks: Iterable[Task]) -> int:
    """Number of hops that the tasks compute."""
    return sum(len(task.hops) for task in tasks)
