"""Run benchmarks, print their ratios, and keep them in benchmarks/results/latest.json.

    python benchmarks/run.py            the main benchmarks, about 17 minutes
    python benchmarks/run.py all        every benchmark, about 40 minutes
    python benchmarks/run.py NAME ...   some of them

Every figure is a ratio of two measurements of the same run. Keep the machine otherwise idle. Results are
written after each benchmark. ``python tools/performance.py`` puts them into docs/performance.md.
"""

from __future__ import annotations

import importlib
import sys
import time
import traceback

from common import MissingDataError, Result
from record import LATEST, lines_of, machine, merge, read_lines, write_lines

MAIN = ["order", "cached", "memory", "peers", "disk", "files", "hop", "import", "wide"]
OTHERS = ["half", "load", "sweep", "estimate", "auto", "similar", "layout", "update", "million"]


def main(names: list[str]) -> int:
    """Run the named benchmarks; the exit code is 1 if a bound is missed or a benchmark fails."""
    if names == ["all"]:
        names = [*MAIN, *OTHERS]
    unknown = set(names) - {*MAIN, *OTHERS}
    if unknown:
        choices = ", ".join((*MAIN, *OTHERS, "all"))
        print(f"unknown benchmark {', '.join(sorted(unknown))}; choose from {choices}")
        return 2
    print(f"{machine()}\n")
    passed = True
    for name in names or MAIN:
        start = time.perf_counter()
        try:
            results: list[Result] = importlib.import_module(f"bench_{name}").run()
        except MissingDataError as reason:
            print(f"skipped {name}: {reason}")
            continue
        except Exception:  # the other benchmarks are still valid
            traceback.print_exc()
            print(f"FAILED  {name}")
            passed = False
            continue
        for result in results:
            verdict = "ok  " if result.met else "MISS"
            print(f"{verdict} {result.ratio:7.2f} {result.bound:>8}  {result.name}  [{result.detail}]")
        print(f"     {name}: {time.perf_counter() - start:.0f} s", flush=True)
        write_lines(LATEST, merge(read_lines(LATEST), lines_of(name, results)))
        passed = passed and all(result.met for result in results)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
