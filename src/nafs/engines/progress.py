"""How far a run is, for people to see."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from nafs._support.errors import InputTypeError
from nafs.smoothing import _kernel

if TYPE_CHECKING:
    from nafs.engines.panels import Task


class Progress(NamedTuple):
    """Where a run stands. ``done`` and ``total`` count rows computed, over all hops, r's, panels and passes.

    ``step`` is "smooth"; where columns go in panels, "measure" is the first pass over ``panel``. So it is in
    memory for small graphs of many features, whose columns take all hops at once.
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
    """Counts rows and tells the user's callback."""

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
        """What to call with the rows done of one hop of some r's."""
        if self.progress is None:
            return None
        callback = self.progress

        def tick(rows: int) -> None:
            self.done += rows * len(r)
            _kernel.release_threads()  # the callback may fork
            callback(Progress(self.done, self.total, hop, self.n_hops, r, step=step))

        return tick

    def expect(self, runs: int) -> None:
        """Count anew what is to come after the rows that are done: so many times all hops of one r."""
        self.total = self.done + self.rows * runs

    def task_ticker(self, task: Task, r: float, n_panels: int) -> Callable[[int], None] | None:
        """What to call with the rows done of a panel's task."""
        if self.progress is None or task.kind == "add":
            return None
        callback, start = self.progress, self.done

        def tick(rows: int) -> None:
            hop = min((self.done - start) // self.n_nodes, self.n_hops)
            self.done += rows
            _kernel.release_threads()
            callback(Progress(self.done, self.total, hop, self.n_hops, (r,), task.panel, n_panels, task.kind))

        return tick

    def skip(self, tasks: Iterable[Task]) -> None:
        """Count panels' tasks that are done already."""
        self.done += self.rows * count_passes(tasks)


def count_passes(tasks: Iterable[Task]) -> int:
    """Tasks that run over all hops."""
    return sum(task.kind != "add" for task in tasks)
