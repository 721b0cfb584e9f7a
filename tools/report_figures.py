"""Measure the figures of docs/report.md and write them there.

    python tools/report_figures.py layouts   # maps: seconds and trustworthiness, beside UMAP and PaCMAP
    python tools/report_figures.py pages     # whole pages: seconds to write, size, time to open in Chromium

Measurements are kept in docs/data/report.json, so that an interrupted run resumes where it stopped; delete
entries to measure them again. NAFS_DATA_HOME is needed; keep the machine otherwise idle.
"""

from __future__ import annotations

import json
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
SOURCES = {"digits": 1_797, "pubmed": 19_717}


def measured(table: str, key: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A stored measurement, or a new one."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if key not in kept.setdefault(table, {}):
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
    lines = ["| embedding | nodes | layout | seconds | trustworthiness |", "|---|---|---|---|---|"]
    for data, method, call in wanted:

        def measure(data: str = data, method: str = method, call: Any = call) -> dict[str, Any]:
            bench.warm_up()
            (layout,) = bench.measure(data, {method: call})
            return {
                "nodes": layout.nodes,
                "seconds": round(layout.seconds, 1),
                "trust": round(layout.trust, 4),
            }

        layout = measured("layouts", f"{data}, {method}", measure)
        lines.append(
            f"| {data} | {layout['nodes']:,} | {method} | {layout['seconds']:.1f} | {layout['trust']:.3f} |"
        )
    return lines


def pages() -> list[str]:
    """A table of whole pages."""
    lines = ["| page | nodes | seconds to write | size | opens in |", "|---|---|---|---|---|"]
    for title, nodes in SOURCES.items():
        page = measured("pages", title, lambda title=title: page_of(title))
        size = f"{page['megabytes']:.1f} MB"
        lines.append(f"| {title} | {nodes:,} | {page['seconds']:.1f} | {size} | {page['opens']:.2f} s |")
    return lines


def page_of(title: str) -> dict[str, Any]:
    """Write a page and open it."""
    with tempfile.TemporaryDirectory() as name:
        target = Path(name) / "page.html"
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "nafs", "report", title, "-o", str(target), "-q"], check=True)
        seconds, size = time.perf_counter() - start, target.stat().st_size / 1e6
        return {"seconds": round(seconds, 1), "megabytes": round(size, 2), "opens": round(opened(target), 2)}


def opened(path: Path) -> float:
    """Seconds until the page can be used in headless Chromium with software graphics."""
    sys.path.insert(0, str(ROOT / "tests" / "report"))
    from conftest import started

    browser = started(path.parent)
    try:
        browser.open(path)
        return float(browser.run("return performance.getEntriesByName('nafs-ready')[0].startTime")) / 1000
    finally:
        browser.driver.quit()


def main(names: list[str]) -> int:
    """Write the requested tables."""
    tables = {"layouts": layouts, "pages": pages}
    if not names or set(names) - set(tables):
        print(f"choose from {', '.join(tables)}")
        return 2
    for name in names:
        block = "\n".join(tables[name]())
        marked = re.compile(rf"(<!-- {name}: begin -->\n).*?(\n<!-- {name}: end -->)", re.S)
        text, count = marked.subn(lambda match, block=block: match[1] + block + match[2], PAGE.read_text())
        assert count == 1, f"{PAGE} has no place for {name}"
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
