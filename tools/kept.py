"""What tools measured, one graph after the other, kept in a file so that a run can be resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"


def measure_missing(name: str, graphs: Iterable[str], measure: Callable[[str], Any]) -> dict[str, Any]:
    """What docs/data has under a name, after measuring the graphs that are missing there.

    Graphs whose files are not on this machine are left out, with a message.
    """
    path = DOCS / "data" / f"{name}.json"
    measured: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for graph in graphs:
        if graph in measured:
            continue
        try:
            measured[graph] = measure(graph)
        except FileNotFoundError as missing:
            print(f"{graph} is left out: {missing}")
            continue
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in measured.items()]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return measured
