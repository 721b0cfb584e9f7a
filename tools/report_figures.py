"""Measure what docs/report.md states and write it there.

    python tools/report_figures.py layouts   # maps: seconds and trustworthiness, beside UMAP, PaCMAP
    python tools/report_figures.py pages     # whole pages: seconds to write, size, time to open in Chromium

Both need NAFS_DATA_HOME; keep the machine otherwise idle.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "report.md"
MANY = 100_000


def layouts() -> list[str]:
    """A table of layouts."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import bench_layout as bench

    bench.warm_up()
    beside = {"nafs": bench.ours, "nafs, a quarter as landmarks": bench.quarter} | bench.RIVALS
    measured = [one for name in ("digits", "cora", "pubmed") for one in bench.measure(name, beside)]
    measured += bench.measure("power law", {"nafs, 15,000 landmarks": bench.ours})
    lines = ["| embedding | nodes | layout | seconds | trustworthiness |", "|---|---|---|---|---|"]
    return lines + [
        f"| {one.data} | {one.nodes:,} | {one.method} | {one.seconds:.1f} | {one.trust:.3f} |"
        for one in measured
    ]


def pages() -> list[str]:
    """A table of whole pages."""
    from nafs.datasets import power_law

    lines = ["| page | nodes | seconds to write | size | opens in |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        power_law(MANY, average_degree=10, n_features=64, seed=0).save(folder / "power-law")
        for source, title, nodes in (
            ("digits", "digits", 1_797),
            ("pubmed", "pubmed", 19_717),
            (str(folder / "power-law"), "power law", MANY),
        ):
            target = folder / "page.html"
            command = [sys.executable, "-m", "nafs", "report", source, "-o", str(target), "--force", "-q"]
            start = time.perf_counter()
            subprocess.run(command, check=True)
            seconds, size = time.perf_counter() - start, target.stat().st_size / 1e6
            lines.append(f"| {title} | {nodes:,} | {seconds:.1f} | {size:.1f} MB | {opened(target):.2f} s |")
            print(lines[-1], flush=True)
    return lines


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
    """Write the tables that are named."""
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
