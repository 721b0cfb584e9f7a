"""A folder of results: measured cells, and the tables and figures that are made from them.

Every cell is saved as soon as it is measured, so that an interrupted run can be resumed. A cell carries a
fingerprint of the source code that measured it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nafs._support.atomic import whole_file
from nafs._support.budget import show_bytes
from nafs._support.errors import InputError

Values = dict[str, list[float]]
CELLS = "cells.json"


class Store:
    """A folder of results; cells measured before are available to the next run.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.
    cells : str
        Name of the file of cells in it.
    """

    def __init__(self, folder: Path, cells: str = CELLS) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._file = cells
        self._cells = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        path = self.folder / self._file
        if not path.is_file():
            return {}
        try:
            cells = json.loads(path.read_text(encoding="utf-8"))
            return {
                str(key): {"source": str(cell["source"]), "values": dict(cell["values"])}
                for key, cell in cells.items()
            }
        except (UnicodeDecodeError, KeyError, TypeError, ValueError, AttributeError):
            raise InputError(f"{path} is damaged; delete it to measure everything again") from None

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def __getitem__(self, key: str) -> Values:
        values: Values = self._cells[key]["values"]
        return values

    def has(self, key: str, source: str) -> bool:
        """Whether a cell was measured by this version of the source code."""
        return key in self._cells and self._cells[key]["source"] == source

    def together(self, keys: Iterable[str]) -> Values | None:
        """The concatenated values of several cells, such as one per seed; ``None`` if there are none."""
        joined: Values = {}
        for key in keys:
            for name, numbers in self._cells.get(key, {"values": {}})["values"].items():
                joined.setdefault(name, []).extend(numbers)
        return joined or None

    def keep(self, key: str, values: Values, source: str = "") -> None:
        """Save a cell; raises if a value is not finite."""
        if not all(np.isfinite(numbers).all() for numbers in values.values()):
            raise ValueError(f"{key}: a measured value is not finite: {values}")
        self._add({key: {"source": source, "values": values}})

    def take_over(self, other: Store) -> None:
        """Add all cells of another folder; those that both have are replaced."""
        self._add(other._cells)

    def _add(self, cells: dict[str, dict[str, Any]]) -> None:
        self._cells = self._read() | cells  # another process may have added some
        lines = (
            f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(cell)}" for key, cell in self._cells.items()
        )
        self._write(self._file, "{\n" + ",\n".join(lines) + "\n}\n")

    def table(
        self, name: str, title: str, remarks: Sequence[str], header: list[str], rows: list[list[str]]
    ) -> list[Path]:
        """Write a table as Markdown and CSV."""
        lines = [f"# {title}", ""]
        for remark in remarks:
            lines += [remark, ""]
        lines += ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([header, *rows])
        return [
            self._write(f"{name}.md", "\n".join(lines) + "\n"),
            self._write(f"{name}.csv", text.getvalue()),
        ]

    def figure(self, name: str, figure: Any) -> Path:
        """Write a matplotlib figure as PNG in 128 colours, which makes it three times smaller."""
        from PIL import Image  # a dependency of matplotlib

        path = self.folder / f"{name}.png"
        png = io.BytesIO()
        figure.savefig(png, dpi=120, format="png")
        with whole_file(path, force=True) as part:
            Image.open(png).convert("RGB").quantize(128).save(part, format="png", optimize=True)
        return path

    def _write(self, name: str, text: str) -> Path:
        with whole_file(self.folder / name, force=True) as part:
            part.write_text(text, encoding="utf-8")
        return self.folder / name


def percent(values: Sequence[float]) -> str:
    """Mean in percent, with the standard deviation if there are several values.

    Examples
    --------
    >>> from nafs.reproduce.store import percent
    >>> percent([0.5, 0.6]), percent([0.5])
    ('55.0 ± 5.0', '50.0')
    """
    mean = f"{100 * np.mean(values):.1f}"
    return mean if len(values) < 2 else f"{mean} ± {100 * np.std(values):.1f}"


def seconds(values: Sequence[float]) -> str:
    """The median in seconds, rounded for tables."""
    middle = float(np.median(values))
    return f"{middle:.1f} s" if middle >= 1 else f"{middle:.2g} s"


def megabytes(values: Sequence[float]) -> str:
    """The largest of several sizes in bytes."""
    return show_bytes(int(max(values)))
