"""Write the measured tables of docs/performance.md, docs/scaling.md and the README.

python tools/performance.py            from docs/data/performance.json and docs/data/scale.json
python tools/performance.py FILE ...   first add the lines of these files (benchmarks/results/latest.json)

A table stands between ``<!-- NAME -->`` and ``<!-- /NAME -->``, where NAME is that of a benchmark; everything
else on the pages is written by hand.
"""

from __future__ import annotations

import json
import math
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import readme_table  # noqa: E402
from record import merge, read_lines, write_lines  # noqa: E402

from nafs.reproduce.marked import fill  # noqa: E402

LINES = ROOT / "docs" / "data" / "performance.json"
SCALE = ROOT / "docs" / "data" / "scale.json"


def main(files: list[str]) -> None:
    """Add new lines, and write the tables."""
    lines = read_lines(LINES)
    for file in files:
        lines = merge(lines, read_lines(Path(file)))
    lines.sort(key=lambda line: line["benchmark"])
    write_lines(LINES, lines)
    for path, text in pages(lines).items():
        path.write_text(text, encoding="utf-8")
    readme_table.main()


def pages(lines: list[dict[str, Any]]) -> dict[Path, str]:
    """The pages with their tables generated again."""
    tables = {name: table(list(part)) for name, part in groupby(lines, key=lambda line: line["benchmark"])}
    if SCALE.exists():
        tables["scale"] = scale_table(json.loads(SCALE.read_text(encoding="utf-8")))
    paths = [ROOT / "docs" / name for name in ("performance.md", "scaling.md")]
    return {path: fill(path.read_text(encoding="utf-8"), tables) for path in paths}


def table(lines: list[dict[str, Any]]) -> list[str]:
    """The lines of one benchmark, and the machine and commit they were measured with."""
    rows = ["| ratio | bound | | measured |", "|---|---|---|---|"]
    for line in lines:
        ratio = f"{line['ratio']:.2f}" if line["met"] else f"**{line['ratio']:.2f}** (missed)"
        bound = line["bound"].replace("<=", "≤").replace(">=", "≥")
        rows.append(f"| {ratio} | {bound} | {line['name']} | {line['detail']} |")
    first = lines[0]
    command = f"`python benchmarks/run.py {first['benchmark']}`"
    rows += ["", f"{command}, {first['date']} UTC, commit {first['commit']}; {first['machine']}."]
    return rows


def scale_table(results: dict[str, Any]) -> list[str]:
    """Time and memory of the runs of benchmarks/scale.py."""
    rows = [
        "| share | nodes | edges | limit | convert | memory | embed | memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in sorted(results, key=lambda name: (float(name.split()[0]), name)):
        run, (share, *options) = results[name], name.split()
        shown = " ".join([share, *(f"`{option}`" for option in options)])
        cells = [shown, f"{run['nodes']:,}", f"{run['edges']:,}", f"{run['embed']['limit'] / 1e9:g} GB"]
        for step in ("convert", "embed"):
            cells += [f"{run[step]['seconds']:.0f} s", f"{run[step]['anonymous_bytes'] / 1e9:.2f} GB"]
        rows.append(f"| {' | '.join(cells)} |")
    shares = sorted((name for name in results if " " not in name), key=float)
    small, large = results[shares[0]], results[shares[-1]]
    minutes, powers = {}, {}
    for step in ("convert", "embed"):
        growth = large[step]["seconds"] / small[step]["seconds"]
        powers[step] = math.log(growth) / math.log(large["nodes"] / small["nodes"])
        minutes[step] = large[step]["seconds"] / 60 * (1 / float(shares[-1])) ** powers[step]
    return [
        *rows,
        "",
        f"Time grows with the size to the power of {powers['convert']:.2f} for converting and "
        f"{powers['embed']:.2f} for embedding. Extrapolated, the full graph takes "
        f"{minutes['convert']:.0f} minutes to convert and {minutes['embed']:.0f} to embed, "
        "if 60 GB are available for panels of 64 columns.",
        "",
        f"`python benchmarks/scale.py FOLDER`, with the options after the share; {large['machine']}.",
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
