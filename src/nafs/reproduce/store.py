"""Measured cells, kept as they come, so that a run can be broken off and taken up again; and what is written.

A folder holds the cells of each version of the package and the tables and figures made from them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nafs import __version__
from nafs._support.atomic import whole_file
from nafs._support.errors import InputError

Values = dict[str, list[float]]


class Store:
    """A folder of results: what was measured by this version is there for the next run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._file = f"cells-{__version__}.json"
        self._cells = self._read()

    def _read(self) -> dict[str, Values]:
        path = self.folder / self._file
        if not path.is_file():
            return {}
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return {str(key): dict(value) for key, value in found.items()}
        except (UnicodeDecodeError, TypeError, ValueError, AttributeError):
            raise InputError(f"{path} is damaged; delete it to measure everything again") from None

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def __getitem__(self, key: str) -> Values:
        return self._cells[key]

    def keep(self, key: str, values: Values) -> None:
        """Keep what was measured; every value is finite."""
        if not all(np.isfinite(numbers).all() for numbers in values.values()):
            raise ValueError(f"{key}: a measured value is not finite: {values}")
        self._cells = self._read() | {key: values}  # another run may have added some
        self._write(self._file, json.dumps(self._cells, indent=1))

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
        """Write a matplotlib figure, in 128 colours: a third of the size, and nobody sees it."""
        from PIL import Image  # which matplotlib brings

        path = self.folder / f"{name}.png"
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=120, format="png")
        with whole_file(path, force=True) as part:
            Image.open(drawn).convert("RGB").quantize(128).save(part, format="png", optimize=True)
        return path

    def _write(self, name: str, text: str) -> Path:
        with whole_file(self.folder / name, force=True) as part:
            part.write_text(text, encoding="utf-8")
        return self.folder / name


def percent(values: Sequence[float]) -> str:
    """Mean in percent, with the deviation where there is more than one value.

    Examples
    --------
    >>> from nafs.reproduce.store import percent
    >>> percent([0.5, 0.6]), percent([0.5])
    ('55.0 ± 5.0', '50.0')
    """
    mean = f"{100 * np.mean(values):.1f}"
    return mean if len(values) < 2 else f"{mean} ± {100 * np.std(values):.1f}"


def seconds(values: Sequence[float]) -> str:
    """The median, in seconds, to two figures."""
    middle = float(np.median(values))
    return f"{middle:.1f} s" if middle >= 1 else f"{middle:.2g} s"
