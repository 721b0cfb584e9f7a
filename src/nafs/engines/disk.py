"""The disk engine: one panel of columns at a time in memory, everything else in files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nafs.engines.base import Problem
from nafs.engines.columns import ColumnPanels
from nafs.engines.panel_engine import Executor, PanelEngine
from nafs.engines.panels import Panels, Task, dropping
from nafs.engines.progress import Report
from nafs.engines.work import WorkFolder


class DiskEngine(PanelEngine):
    """Panels one after another, within a memory limit."""

    name = "disk"
    all_in_files = False

    def workers(self, problem: Problem) -> tuple[int, bool]:
        """One panel at a time, within this process's limit."""
        return 1, True

    @contextmanager
    def executor(self, problem: Problem) -> Iterator[Executor]:
        """An executor that runs tasks in order."""
        yield _InOrder()


class _InOrder:
    """Runs tasks one after another in this process."""

    token: str | None = None
    places = 1

    def prepare(self, problem: Problem, work: WorkFolder, columns: ColumnPanels) -> None:
        """Keep the inputs of the tasks; states are allocated when the first task runs."""
        labels = problem.components.labels if problem.method.needs_stationary_state else None
        resources = problem.resources
        self._work = work
        self._panels = Panels(
            problem.graph, columns, problem.method, work, resources.state_dtype, resources.threads, labels
        )

    def run(self, due: list[Task], report: Report) -> None:
        """Run the tasks in order."""
        panels = self._panels
        done = dropping(due, self._work, panels.columns)
        for task in due:
            panels.run(task, report.task_ticker(task, panels.method.r[task.r], len(panels.columns.widths)))
            done(task)
        del self._panels  # frees its states before the embedding is assembled
