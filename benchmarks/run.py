"""Run the benchmarks, print a table of ratios, and write it to benchmarks/results as JSON.

    python benchmarks/run.py [NAME ...]

Every figure is a ratio of two measurements of the same run. Keep the machine otherwise idle.
"""

from __future__ import annotations

import importlib
import platform
import sys
from pathlib import Path

from common import THREADS, MissingDataError, as_json

from nafs.smoothing import _kernel

NAMES = [
    "import",
    "hop",
    "order",
    "wide",
    "cached",
    "half",
    "memory",
    "load",
    "sweep",
    "auto",
    "disk",
    "similar",
    "layout",
    "update",
    "peers",
]


def main(names: list[str]) -> int:
    unknown = set(names) - set(NAMES)
    if unknown:
        print(f"unknown benchmark {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}")
        return 2
    print(f"{platform.machine()}, {THREADS} threads, loops for {_kernel.in_use()}\n")
    results = []
    for name in names or NAMES:
        try:
            measured = importlib.import_module(f"bench_{name}").run()
        except MissingDataError as reason:
            print(f"skipped {name}: {reason}")
            continue
        for result in measured:
            verdict = "ok  " if result.met else "MISS"
            print(
                f"{verdict} {result.ratio:7.2f} {result.bound:>8}  {result.name}  [{result.detail}]",
                flush=True,
            )
        results += measured
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "latest.json").write_text(as_json(results) + "\n")
    return 0 if all(result.met for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
