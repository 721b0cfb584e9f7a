"""Measured cells of the tables, kept as they come, so that a run can be broken off and taken up again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nafs.atomic import whole_file
from nafs.tasks import TaskResult

_FILE = "cells.json"


class Store:
    """A folder of results: every cell once measured is there for the next run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._cells: dict[str, dict[str, list[float]]] = {}
        path = folder / _FILE
        if path.is_file():
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
                self._cells = {str(key): dict(value) for key, value in found.items()}
            except (json.JSONDecodeError, UnicodeDecodeError, TypeError, ValueError, AttributeError):
                raise ValueError(f"{path} is damaged; delete it to measure everything again") from None

    def cell(self, key: str, measure: Callable[[], TaskResult]) -> TaskResult:
        """The result under a key, measured if it is not there yet."""
        if key not in self._cells:
            self._cells[key] = measure().values
            self.write(_FILE, json.dumps(self._cells, indent=1))
        return TaskResult(key, self._cells[key])

    def write(self, name: str, text: str) -> Path:
        """Write a file of the folder, whole."""
        with whole_file(self.folder / name, force=True) as part:
            part.write_text(text, encoding="utf-8")
        return self.folder / name


def show(result: TaskResult, metric: str) -> str:
    """Percent, with the deviation where there is more than one value."""
    mean = f"{100 * result.mean(metric):.1f}"
    return mean if len(result.values[metric]) < 2 else f"{mean} ± {100 * result.deviation(metric):.1f}"


def as_markdown(title: str, remarks: list[str], header: list[str], rows: list[list[str]]) -> str:
    """A table with its title and remarks."""
    lines = [f"# {title}", "", *remarks, "", "| " + " | ".join(header) + " |"]
    lines.append("|" + "---|" * len(header))
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def as_csv(header: list[str], rows: list[list[str]]) -> str:
    """The same for machines."""
    import csv
    import io

    text = io.StringIO()
    writer: Any = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
