"""Measure stored cells again and compare them with docs/data, where nothing is changed.

python tools/same_cells.py quality links/cora number/          cells whose key contains one of these
python tools/same_cells.py reproduction links/cora

Times and sizes are not compared. A difference is printed with its largest relative size.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from nafs.reproduce.run import TARGETS
from nafs.reproduce.store import Store, Values
from nafs.reproduce.target import Effort

DATA = Path(__file__).resolve().parent.parent / "docs" / "data"
VARYING = ("cpu", "second", "time", "memory", "bytes")


def difference(stored: Values, measured: Values) -> float:
    """The largest relative difference of two cells: 0 if equal, infinite if they hold other values."""
    largest = 0.0
    for name in {*stored, *measured}:
        if any(word in name for word in VARYING):
            continue
        a, b = np.asarray(stored.get(name, [])), np.asarray(measured.get(name, []))
        if a.shape != b.shape:
            return float("inf")
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return float("inf")
        sizes = np.maximum(np.abs(a), np.finfo(float).tiny)
        largest = max(largest, float(np.nan_to_num(np.abs(a - b) / sizes).max(initial=0)))
    return largest


def main() -> None:
    """Compare all cells that match."""
    if len(sys.argv) < 3 or not (DATA / f"{sys.argv[1]}.json").is_file():
        raise SystemExit(__doc__)
    page, *patterns = sys.argv[1:]
    store = Store(DATA, f"{page}.json")
    counts = {True: 0, False: 0}
    for target in TARGETS.values():
        for cell in target.cells(Effort(10, "all")):
            if cell.key not in store or not any(pattern in cell.key for pattern in patterns):
                continue
            apart = difference(store[cell.key], cell.measure())
            counts[apart == 0] += 1
            print(f"{'same' if apart == 0 else f'differs by {apart:.1e}'}  {cell.key}", flush=True)
    print(f"{counts[True]} cells are the same, {counts[False]} differ")
    if counts[False] or not counts[True]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
