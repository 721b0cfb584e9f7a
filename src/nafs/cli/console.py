"""What commands print: progress and summaries on stderr, results on stdout."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from nafs._support.budget import show_bytes

messages = Console(stderr=True)
results = Console()


def peak_memory() -> int | None:
    """Largest resident memory of this process so far, in bytes, where the system tells."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return None
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found * 1024


class _Interrupts:
    """Ctrl-C that a library swallowed in its own callbacks is raised at the end of the block."""

    def __enter__(self) -> None:
        self.seen = False
        self.before = signal.getsignal(signal.SIGINT)

        def note(*_: Any) -> None:
            self.seen = True
            raise KeyboardInterrupt

        self.ours = threading.current_thread() is threading.main_thread()
        if self.ours:
            signal.signal(signal.SIGINT, note)

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self.ours:
            signal.signal(signal.SIGINT, self.before)
        if self.seen and kind is not KeyboardInterrupt:
            raise KeyboardInterrupt


@dataclass
class Run:
    """One command's progress, notes and summary."""

    quiet: bool = False
    as_json: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, total: float | None = None) -> Iterator[Any]:
        """A part of the work under a progress bar; yields a function that advances it."""
        start = time.perf_counter()
        interrupts = _Interrupts()
        columns: list[ProgressColumn] = [TextColumn("{task.description:<10}", markup=False), BarColumn()]
        columns += (
            []
            if total is None
            else [TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn(), TextColumn("left,")]
        )
        columns += [] if total is not None else [TextColumn("{task.completed:,} rows")]
        with Progress(
            *columns,
            TimeElapsedColumn(),
            console=messages,
            transient=True,
            disable=self.quiet or not messages.is_terminal,
        ) as bar:
            task = bar.add_task(name, total=total)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                with interrupts:
                    yield lambda steps, text=name: bar.update(task, advance=steps, description=text)
        self.seconds[name] = time.perf_counter() - start
        for warning in caught:
            text = str(warning.message)
            if issubclass(warning.category, UserWarning) and text not in self.notes:
                self.notes.append(text)

    def say(self, text: str) -> None:
        """Print a line before the work starts."""
        if not (self.quiet or self.as_json):
            messages.print(text, markup=False, highlight=False, soft_wrap=not messages.is_terminal)

    def say_notes(self) -> None:
        """Print what had to be decided on the way."""
        if self.quiet or self.as_json:
            return
        for note in self.notes:
            messages.print("note:", style="yellow", end=" ")
            messages.print(note, markup=False, highlight=False, soft_wrap=not messages.is_terminal)

    def finish(self, title: str, rows: list[tuple[str, str]], facts: dict[str, Any]) -> None:
        """Print the summary, for people or as JSON on stdout."""
        peak = peak_memory()
        if self.as_json:
            facts = facts | {
                "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
                "peak_memory": peak,
                "notes": self.notes,
            }
            print(json.dumps(facts, ensure_ascii=False))
            return
        if self.quiet:
            return
        self.say_notes()
        times = "  ".join(f"{name} {show_seconds(value)}" for name, value in self.seconds.items())
        rows = [*rows, ("time", times)]
        if peak is not None:
            rows.append(("peak memory", show_bytes(peak)))
        messages.print(title, style="bold")
        messages.print(table_of(rows))


def table_of(rows: Sequence[tuple[str, ...]], header: tuple[str, ...] | None = None) -> Table:
    """A plain table."""
    table = Table(show_header=header is not None, box=None, pad_edge=False)
    for i in range(len(rows[0])):
        table.add_column(header[i] if header else "", style="cyan" if i == 0 else None, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # names in it are text, not markup
    return table


def show_seconds(seconds: float) -> str:
    """Seconds for people to read."""
    if seconds >= 90:
        minutes = round(seconds / 60)
        return f"{minutes} min" if minutes < 90 else f"{seconds / 3600:.1f} h"
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1000:.0f} ms"
