"""Measure the grid of memory limits, and write its counts into docs/reliability.md.

    python tools/limits.py                          # what was not measured with this version of the code
    python tools/limits.py 'cluster/*/250' 'report/*'  # some cells: command, shape, limit in MB
    python tools/limits.py --only page              # write the page again

The run can be stopped at any time: the same command resumes it. Cells that exceed their limit are measured
again by the next run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "helpers"))
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- limits -->", "<!-- /limits -->"


def version() -> str:
    """A fingerprint of the package's source."""
    digest = hashlib.sha256()
    source = ROOT / "src"
    for path in sorted(path for path in source.rglob("*") if path.suffix in (".py", ".cpp", ".h", ".hpp")):
        digest.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:8]


def load(state: Path) -> dict[str, dict[str, Any]]:
    """The last measurement of each cell."""
    path = state / "cells.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {cell["cell"]: cell for cell in map(json.loads, lines)}


def run(state: Path, patterns: list[str]) -> None:
    """Measure cells that match one of the patterns and were not measured yet."""
    from limit_cells import CELLS, LARGE_CELLS, measure, write_inputs

    inputs, now = state / "inputs", version()
    if not (inputs / "complete").exists():
        shutil.rmtree(inputs, ignore_errors=True)
        inputs.mkdir()
        write_inputs(inputs)
        (inputs / "complete").touch()
    for cell in (*CELLS, *LARGE_CELLS):
        name = "/".join(map(str, cell))
        known = load(state).get(name)
        if known is not None and known["version"] == now and not known["wrong"]:
            continue
        if not any(fnmatch(name, pattern) for pattern in patterns or ["*"]):
            continue
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="nafs-limits-") as scratch:
            code, peak, wrong = measure(inputs, Path(scratch), cell, longest=900)
        seconds = round(time.monotonic() - started)
        line = json.dumps(
            {"cell": name, "version": now, "code": code, "peak": peak, "seconds": seconds, "wrong": wrong}
        )
        with (state / "cells.jsonl").open("a") as file:
            file.write(line + "\n")
        print(line, flush=True)


def write_page(state: Path) -> bool:
    """Put the counts between the marks on the page; whether nothing exceeds its limit."""
    from limit_cells import CELLS, COMMANDS, LARGE_CELLS

    known = load(state)
    lines = ["| command | cells | finished | refused | above the limit | largest share of a limit |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    measured: list[dict[str, Any]] = []
    for command in COMMANDS:
        names = ["/".join(map(str, cell)) for cell in (*CELLS, *LARGE_CELLS) if cell[0] == command]
        cells = [known[name] for name in names if name in known]
        measured += cells
        kept = [cell["code"] for cell in cells if not cell["wrong"]]
        shares = [cell["peak"] / (int(cell["cell"].rpartition("/")[2]) * 10**6) for cell in cells]
        lines.append(
            f"| {command} | {len(cells)} | {kept.count(0)} | {kept.count(2)} | {len(cells) - len(kept)} | "
            f"{max(shares, default=0):.2f} |"
        )
    total, bad = len(CELLS) + len(LARGE_CELLS), sum(bool(cell["wrong"]) for cell in measured)
    versions = Counter(cell["version"] for cell in measured)
    sources = ", ".join(f"{count} with source {name}" for name, count in versions.most_common())
    about = (
        f"Written by `python tools/limits.py` ({time.strftime('%Y-%m-%d')}): {len(measured)} of {total} "
        f"cells measured ({sources}), {bad} above {'its limit' if bad == 1 else 'their limits'}."
    )
    text = "\n".join([BEGIN, *lines, "", about, END])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: text, page, flags=re.DOTALL), encoding="utf-8")
    return bad == 0


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cells", nargs="*", help="patterns of cells to measure; all by default")
    parser.add_argument(
        "--state", type=Path, default=ROOT / "build" / "limits", help="folder for the results"
    )
    parser.add_argument("--only", choices=["page"], help="write the page from what was measured")
    options = parser.parse_args()
    options.state.mkdir(parents=True, exist_ok=True)
    if options.only is None:
        run(options.state, options.cells)
    sys.exit(0 if write_page(options.state) else 1)


if __name__ == "__main__":
    main()
