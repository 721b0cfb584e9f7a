"""Watch a Dask cluster while no task finishes: report what it waits for, and give up without workers."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any

from nafs.engines.panels import Task

LOOK = 5.0  # seconds between two looks at the workers
TELL = 60.0  # seconds without progress before it is reported, and between reports
PATIENCE = 300.0  # seconds without progress and without a live worker on any task before the run ends

_log = logging.getLogger("nafs")


def workers_of(client: Any) -> dict[str, Any]:
    """The workers of a cluster by their addresses.

    Now and then a client answers without any while it refreshes what it knows, so an empty answer is doubted.
    """
    for _ in range(3):
        known: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
        if known:
            break
    return known


class Watch:
    """How long nothing has finished, and whether the workers that have tasks are alive.

    A task may take hours on a large graph: that is no reason to give up while its worker answers.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.progress()

    def progress(self) -> None:
        """Note that a task has finished."""
        self.since = self.last_report = time.monotonic()

    def look(self, running: Iterable[Task]) -> None:
        """Report what is awaited, and raise if no worker has been heard of for too long."""
        silent = time.monotonic() - self.since
        alive, busy_but_silent = self._workers()
        stalled = not alive or bool(busy_but_silent)
        if silent > PATIENCE and stalled:
            who = f"worker {busy_but_silent[0]} does not answer" if busy_but_silent else "no worker is left"
            raise ConnectionError(
                f"nothing has finished for {silent:.0f} s and {who}; check the workers, then resume the run: "
                "finished arrays are kept"
            )
        if time.monotonic() - self.last_report > TELL:
            self.last_report = time.monotonic()
            task = next(iter(running), None)
            awaited = "nothing" if task is None else f"panel {task.panel + 1} ({task.kind})"
            _log.warning("waiting for %s for %.0f s; %d workers are alive", awaited, silent, len(alive))

    def _workers(self) -> tuple[list[str], list[str]]:
        """Workers that were heard of lately, and those that have tasks and were not."""
        known = workers_of(self.client)
        now, busy = time.time(), {name for name, keys in self.client.processing().items() if keys}
        alive = [name for name, about in known.items() if now - about.get("last_seen", now) < PATIENCE / 2]
        return alive, sorted(busy & set(known) - set(alive))
