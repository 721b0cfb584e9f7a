"""What commands print: progress and summaries on stderr, results on stdout.

A terminal gets coloured tables that wrap at its width. A file or a pipe gets lines that are never wrapped.
"""

from __future__ import annotations

import csv
import json
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from nafs._support.budget import show_bytes
from nafs._support.meter import resident
from nafs._support.printable import printable

LONG = 2.0  # seconds after which a part of the work says that it is running

messages = Console(stderr=True)
results = Console()


def peak_memory() -> int | None:
    """Largest resident memory of this process so far, in bytes; None if the system does not report it."""
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
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class _Signals:
    """Raises, when the block ends, a Ctrl-C or SIGTERM that a library swallowed in one of its callbacks."""

    def __enter__(self) -> None:
        self.seen: list[int] = []
        self.before: dict[int, Callable[..., Any]] = {}

        def note(number: int, frame: Any) -> None:
            self.seen.append(number)
            self.before[number](number, frame)

        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):  # otherwise the system handles it
                    self.before[number] = handler
                    signal.signal(number, note)

    def __exit__(self, kind: Any, *_: Any) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)
        if self.seen and kind not in (KeyboardInterrupt, SystemExit):
            self.before[self.seen[-1]](self.seen[-1], None)


class _RowsSoFar(ProgressColumn):
    """How many rows were read; nothing in a part of the work that has no rows."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.completed:,.0f} rows" if task.completed else "")


@dataclass
class Run:
    """One command's progress, notes and result."""

    quiet: bool = False
    as_json: bool = False
    as_csv: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    n_said: int = 0  # notes that are printed already

    @contextmanager
    def stage(self, name: str, total: float | None = None) -> Iterator[Any]:
        """A part of the work under a progress bar; yields a function that advances it."""
        start = time.perf_counter()
        signals = _Signals()
        announcement = threading.Timer(LONG, self._announce, [name])
        announcement.daemon = True
        columns: list[ProgressColumn] = [TextColumn("{task.description:<10}", markup=False), BarColumn()]
        columns += (
            []
            if total is None
            else [TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn(), TextColumn("left,")]
        )
        columns += [] if total is not None else [_RowsSoFar()]
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
                announcement.start()
                try:
                    with signals:
                        yield lambda steps, text=name: bar.update(
                            task, advance=steps, description=printable(text)
                        )
                finally:
                    announcement.cancel()
                    announcement.join()
        self.seconds[name] = time.perf_counter() - start
        for warning in caught:
            text = str(warning.message)
            if issubclass(warning.category, UserWarning) and text not in self.notes:
                self.notes.append(text)

    def _announce(self, name: str) -> None:
        """Print the notes so far and, where no progress bar is shown, which part of the work is running."""
        self.say_notes()
        if not messages.is_terminal:
            self.say(f"{name} ...")

    def say(self, text: str) -> None:
        """Print a line before the work starts."""
        if not (self.quiet or self.as_json):
            say(text)

    def say_notes(self) -> None:
        """Print, once, what the user should know about how the input was read and what was chosen."""
        if self.quiet or self.as_json:
            return
        while self.n_said < len(self.notes):
            say(self.notes[self.n_said], "note:", "yellow")
            self.n_said += 1

    def finish(self, title: str, rows: list[tuple[str, str]], facts: dict[str, Any]) -> None:
        """Print a summary of what was written, for people or as JSON on stdout."""
        peak = peak_memory()
        if self.as_json:
            facts = facts | {
                "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
                "peak_memory": peak,
                "notes": self.notes,
            }
            print_json(facts)
            return
        if self.quiet:
            return
        self.say_notes()
        times = "  ".join(f"{name} {show_seconds(value)}" for name, value in self.seconds.items())
        rows = [*rows, ("time", times)]
        if peak is not None:
            mapped = resident("RssFile")
            code = "" if mapped is None else f"; {show_bytes(mapped)} now are program code and mapped files"
            rows.append(("peak memory", f"{show_bytes(peak)}{code}"))
        messages.print(title, style="bold")
        print_table(rows, on=messages)

    def answer(
        self,
        facts: dict[str, Any] | list[dict[str, Any]],
        rows: Sequence[Sequence[str]],
        header: Sequence[str] | None = None,
        *,
        title: str | None = None,
        records: list[dict[str, Any]] | None = None,
    ) -> None:
        """Print a result: the facts for programs, or the rows for people.

        Parameters
        ----------
        facts : dict or list of dicts
            Printed as JSON; a dict gets the notes too.
        rows, header, title
            The table for people.
        records : list of dicts, optional
            The lines of CSV; by default those of ``facts``.
        """
        if self.as_json:
            shown = facts | {"notes": self.notes} if isinstance(facts, dict) else facts
            print_json(shown)
            return
        self.say_notes()
        if self.as_csv:
            if records is None:
                records = facts if isinstance(facts, list) else list(_flat(facts))
            print_csv(records, header)
            return
        if title is not None:
            results.print(printable(title), style="bold", markup=False, highlight=False, soft_wrap=True)
        if rows:
            print_table(rows, header)


def say(text: str, mark: str = "", style: str = "") -> None:
    """Print a line, or several, on stderr; a mark such as "note:" comes before the first."""
    for line in text.split("\n"):
        shown = Text(printable(line))
        if mark:
            shown = Text.assemble((f"{mark} ", style), shown)
            mark = ""
        messages.print(shown, soft_wrap=not messages.is_terminal)


def print_table(
    rows: Sequence[Sequence[str]], header: Sequence[str] | None = None, *, on: Console = results
) -> None:
    """Print a table: wrapped at the width of a terminal, or as whole lines into a file or a pipe.

    Ids and names from files are shown without control characters, also in a file: it may be looked at later.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    header = None if header is None else [printable(cell) for cell in header]
    if on.is_terminal:
        table = Table(show_header=header is not None, box=None, pad_edge=False)
        for i in range(len(rows[0])):
            table.add_column(header[i] if header else "", style="cyan" if i == 0 else None, overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))  # cells are text, not markup
        on.print(table)
        return
    lines = [*([] if header is None else [header]), *rows]
    widths = [max(cell_len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True))
        on.file.write("  ".join(cells).rstrip() + "\n")
    on.file.flush()


def print_csv(records: Sequence[Mapping[str, Any]], header: Sequence[str] | None = None) -> None:
    """Print records as CSV on stdout; on a terminal without control characters."""
    names = list(records[0]) if records else list(header or ())
    if results.is_terminal:
        records = [{name: printable(str(value)) for name, value in record.items()} for record in records]
    writer = csv.DictWriter(results.file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)


def print_json(facts: Any) -> None:
    """Print a value as JSON on stdout; control characters are escaped as JSON does it."""
    text = json.dumps(facts, ensure_ascii=False)
    hidden = {sign for sign in text if printable(sign) != sign}
    print(text.translate({ord(sign): json.dumps(sign)[1:-1] for sign in hidden}))


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[dict[str, Any]]:
    """Facts as records of name and value; nested names are joined by dots."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            shown = " ".join(map(str, value)) if isinstance(value, list | tuple) else value
            yield {"name": f"{prefix}{name}", "value": shown}


def show_seconds(seconds: float) -> str:
    """Seconds for people to read."""
    if seconds >= 90:
        minutes = round(seconds / 60)
        return f"{minutes} min" if minutes < 90 else f"{seconds / 3600:.1f} h"
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1000:.0f} ms"
