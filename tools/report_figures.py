"""Measure the figures of docs/report.md and write them there.

    python tools/report_figures.py layouts   # maps: seconds and trustworthiness, beside UMAP and PaCMAP
    python tools/report_figures.py pages     # whole pages: seconds to write, size, time to open in Chromium

Seconds of the clock depend on what else the machine does; CPU seconds, summed over the threads, hardly do.
Measurements are kept in docs/data/report.json, so that an interrupted run resumes where it stopped; with
--again, what was measured before is measured again. NAFS_DATA_HOME is needed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "report.md"
KEPT = ROOT / "docs" / "data" / "report.json"
PAPERS = (20_000, 100_000)  # nodes of tables that tools/many_papers.py writes
SOURCES = ("digits", "pubmed", *(f"papers, {n:,}" for n in PAPERS))


def measured(table: str, key: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A stored measurement, or a new one."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if "cpu" not in kept.setdefault(table, {}).get(key, {}):
        kept[table][key] = measure()
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    return dict(kept[table][key])


def layouts() -> list[str]:
    """A table of layouts."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import bench_layout as bench

    beside = {"nafs": bench.ours, "nafs, a quarter as landmarks": bench.quarter} | bench.RIVALS
    wanted = [
        (data, method, call) for data in ("digits", "cora", "pubmed") for method, call in beside.items()
    ]
    wanted.append(("power law", "nafs, 15,000 landmarks", bench.ours))
    lines = [
        "| embedding | nodes | layout | seconds | CPU seconds | trustworthiness |",
        "|---|---|---|---|---|---|",
    ]
    for data, method, call in wanted:

        def measure(data: str = data, method: str = method, call: Any = call) -> dict[str, Any]:
            bench.warm_up()
            (layout,) = bench.measure(data, {method: call})
            seconds = {"seconds": round(layout.seconds, 1), "cpu": round(layout.cpu, 1)}
            return {"nodes": layout.nodes, **seconds, "trust": round(layout.trust, 4)}

        layout = measured("layouts", f"{data}, {method}", measure)
        nodes, trust = f"{layout['nodes']:,}", f"{layout['trust']:.3f}"
        cells = (data, nodes, method, layout["seconds"], layout["cpu"], trust)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def pages() -> list[str]:
    """A table of whole pages."""
    lines = [
        "| page | nodes | seconds to write | CPU seconds | size | opens in (CPU seconds) |",
        "|---|---|---|---|---|---|",
    ]
    for title in SOURCES:
        page = measured("pages", title, lambda title=title: page_of(title))
        size, opens = f"{page['megabytes']:.1f} MB", f"{page['opens']:.1f} s ({page['opens_cpu']:.1f})"
        cells = (title, f"{page['nodes']:,}", page["seconds"], page["cpu"], size, opens)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def page_of(title: str) -> dict[str, Any]:
    """Write a page and open it."""
    with tempfile.TemporaryDirectory() as name:
        target, source = Path(name) / "page.html", [title]
        if title.startswith("papers"):
            sys.path.insert(0, str(ROOT / "tools"))
            from many_papers import write_papers

            edges, papers = write_papers(int(title.split()[1].replace(",", "")), Path(name))
            source = [str(edges), "-f", str(papers)]
        start, cpu = time.perf_counter(), cpu_of_children()
        command = [sys.executable, "-m", "nafs", "report", *source, "-o", str(target), "--json"]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        seconds, cpu = time.perf_counter() - start, cpu_of_children() - cpu
        return {
            "nodes": answer["nodes"],
            "seconds": round(seconds, 1),
            "cpu": round(cpu, 1),
            "parts": {part: round(spent, 1) for part, spent in answer["seconds"].items()},
            "megabytes": round(target.stat().st_size / 1e6, 2),
            **opened(target),
        }


def cpu_of_children() -> float:
    """CPU seconds of all commands that were run so far."""
    times = os.times()
    return times.children_user + times.children_system


def opened(path: Path) -> dict[str, float]:
    """Seconds until the page can be used in headless Chromium, without a graphics card."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from browser import started

    browser = started(path.parent)
    try:
        browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        browser.open(path, 300)
        milliseconds = browser.run("return performance.getEntriesByName('nafs-ready')[0].startTime")
        metrics = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        cpu = next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
        return {"opens": round(milliseconds / 1000, 2), "opens_cpu": round(cpu, 2)}
    finally:
        browser.driver.quit()


def main(names: list[str]) -> int:
    """Write the requested tables."""
    tables = {"layouts": layouts, "pages": pages}
    again, names = "--again" in names, [name for name in names if name != "--again"]
    if not names or set(names) - set(tables):
        print(f"choose from {', '.join(tables)}")
        return 2
    if again and KEPT.exists():
        kept = {table: lines for table, lines in json.loads(KEPT.read_text()).items() if table not in names}
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    for name in names:
        block = "\n".join(tables[name]())
        marked = re.compile(rf"(<!-- {name}: begin -->\n).*?(\n<!-- {name}: end -->)", re.S)
        text, count = marked.subn(lambda match, block=block: match[1] + block + match[2], PAGE.read_text())
        assert count == 1, f"{PAGE} has no place for {name}"
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
