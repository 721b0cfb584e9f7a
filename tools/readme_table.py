"""Write the measured figures of the README from docs/data: python tools/readme_table.py.

Quality comes from reproduction.json (``nafs reproduce``) and, where everything is chosen automatically, from
quality.json (``nafs reproduce quality``), speed from performance.json (``python
benchmarks/run.py peers``). A system without a measured cell gets a dash.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from nafs.reproduce import quality
from nafs.reproduce.marked import markdown

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
START, END = "<!-- figures: python tools/readme_table.py -->\n", "<!-- /figures -->\n"
GRAPH = "cora"
# Name of a system in its cells, its name in the table, and its requirements.
SYSTEMS = (
    ("NAFS-mean, K=20, r=0,0.1,0.2,0.3,0.4,0.5", "**nafs**, 20 hops, nothing tuned", "nothing"),
    ("raw features", "the features alone", "nothing"),
    ("SGC", "SGC: plain smoothing", "nothing"),
    ("FastRP", "FastRP: edges alone", "nothing"),
    ("DeepWalk", "DeepWalk: edges alone", "training"),
    ("VGAE", "variational graph autoencoder (VGAE)", "training"),
    ("GCN", "GCN", "training, labels"),
    ("DAGNN", "DAGNN", "training, labels"),
)
# Name of the automatic choice in the cells of each task.
AUTO = {task.name: next(step.title for step in task.steps if step.is_auto) for task in quality.TASKS}
TASKS = (("links", "AUC"), ("clustering", "NMI"), ("classification", "ACC"))


def main() -> None:
    """Replace the figures between the marks."""
    README.write_text(readme(), encoding="utf-8")


def readme() -> str:
    """The README with its figures generated again."""
    cells = json.loads((ROOT / "docs/data/reproduction.json").read_text(encoding="utf-8"))
    chosen = json.loads((ROOT / "docs/data/quality.json").read_text(encoding="utf-8"))
    lines = json.loads((ROOT / "docs/data/performance.json").read_text(encoding="utf-8"))
    before, start, after_start = README.read_text(encoding="utf-8").partition(START)
    _, end, after = after_start.partition(END)
    if not (start and end):
        raise SystemExit(f"README.md must have the marks {START.strip()} and {END.strip()}")
    return before + start + "\n".join([*table(cells, chosen), "", *speed(lines)]) + "\n" + end + after


def table(cells: dict[str, Any], chosen: dict[str, Any]) -> list[str]:
    """Quality and CPU time of every system that has at least one cell."""
    rows = [
        "| on Cora | the vectors need | links, AUC | clusters, NMI | classes, accuracy | CPU time |",
        "|---|---|---|---|---|---|",
    ]
    figures = [
        shown(
            [
                value
                for record in records_of(chosen, f"quality/{task}", AUTO[task])
                for value in record[measure]
            ]
        )
        for task, measure in TASKS
    ]
    rows.append(f"| {' | '.join(('**nafs**, everything `auto`', 'nothing', *figures, '–'))} |")
    for system, title, needs in SYSTEMS:
        values = {task: values_of(cells, task, system) for task, _ in TASKS}
        if any(values.values()):
            figures = [shown([v for cell in values[task] for v in cell[measure]]) for task, measure in TASKS]
            cpu = [second for task, _ in TASKS for cell in values[task] for second in cell["cpu"]]
            time = f"{mean(cpu):.2g} s" if mean(cpu) < 10 else f"{mean(cpu):.0f} s"
            rows.append(f"| {' | '.join((title, needs, *figures, time))} |")
    return rows


def values_of(cells: dict[str, Any], task: str, system: str) -> list[dict[str, Any]]:
    """The measured values of a system, one record for each seed or split."""
    return [record for record in records_of(cells, task, system) if "cpu" in record]


def records_of(cells: dict[str, Any], task: str, system: str) -> list[dict[str, Any]]:
    """The values of all cells of a system in a task."""
    prefix = f"{task}/{GRAPH}/{system}/"
    return [cell["values"] for key, cell in cells.items() if key.startswith(prefix)]


def shown(values: list[float]) -> str:
    """Mean and deviation in per cent."""
    if not values:
        return "–"
    spread = f" ± {100 * stdev(values):.1f}" if len(values) > 1 else ""
    return f"{100 * mean(values):.1f}{spread}"


def plain(setting: str) -> str:
    """The graph, its columns and the hops: "cora, 1433 columns, 20 hops" for "cora x 1433, K=20, ..."."""
    graph, width, hops = re.findall(r"^(\S+) x (\d+), K=(\d+)", setting)[0]
    return f"{graph}, {width} columns, {hops} hops"


def speed(lines: list[dict[str, Any]]) -> list[str]:
    """Ratios to other libraries, as the benchmark printed them: a column for each task."""
    ratios: dict[str, dict[str, str]] = {}
    task = ""
    for line in lines:
        if line["benchmark"] == "peers" and " / nafs, " in line["name"]:
            other, _, setting = line["name"].partition(" / nafs, ")
            task = task if setting.startswith("same") else plain(setting)
            ratios.setdefault(task, {})[other] = f"{line['ratio']:.1f} ×"
    others = list(dict.fromkeys(other for column in ratios.values() for other in column))
    header = ["the same embedding, `python benchmarks/run.py peers`", *ratios]
    columns = list(ratios.values())
    rows = [[f"faster than {other}", *(column.get(other, "–") for column in columns)] for other in others]
    return markdown(header, rows)


if __name__ == "__main__":
    main()
