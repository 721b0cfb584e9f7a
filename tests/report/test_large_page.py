"""Pages of many nodes in a real browser: how large the file is, how soon it opens, how it moves."""

import numpy as np
import pytest

from nafs.pictures.layout import quantised
from nafs.report import write_page
from nafs.report.columns import Column


def synthetic(n, columns=True):
    """Contents of a page of many nodes without the work of a layout."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(12, 2)) * 6
    codes = rng.integers(0, 12, n)
    codes = np.argsort(np.argsort(-np.bincount(codes)))[codes]
    names = tuple(f"cluster {i}" for i in range(12))
    shown = [Column("cluster", "category", codes, names, "nafs")]
    if columns:
        shown += [Column("age", "number", rng.normal(size=n)), Column("score", "number", rng.pareto(2, n))]
    listed = [
        {
            "name": name,
            "words": "",
            "size": int((codes == i).sum()),
            "cohesion": 0.9,
            "typical": [0],
            "agreement": 1.0,
        }
        for i, name in enumerate(names)
    ]
    return {
        "title": "many", "subtitle": f"{n:,} nodes", "n": n, "ids": [f"user{i}" for i in range(n)],
        "positions": quantised(centres[codes] + rng.normal(size=(n, 2))), "server": False, "detailsNote": "",
        "clusters": {
            "column": 0, "note": "", "list": listed, "agreement": 1.0, "candidates": 30, "agreeing": 30,
            "doubtful": False,
        },
        "cards": [], "colour": 0,
        "columns": [column.for_page() for column in shown],
    }  # fmt: skip


def test_a_hundred_thousand_nodes_are_small_and_open_quickly(browser, tmp_path, request):
    n, rng = 100_000, np.random.default_rng(0)
    data = synthetic(n)
    data["nearest"] = {
        "k": 10,
        "rows": rng.integers(0, n, (n, 10)).astype(np.int32),
        "drops": rng.integers(0, 30, (n, 10)).astype(np.uint16),
    }
    data["linked"] = {
        "offsets": (np.arange(n + 1) * 8).astype(np.int32),
        "steps": rng.integers(0, n // 8, 8 * n).astype(np.int32),
        "degrees": np.full(n, 8, np.int32),
    }
    data["suggested"] = {
        "k": 5,
        "places": rng.integers(0, 10, (n, 5)).astype(np.uint8),
        "further": np.zeros(0, np.int32),
        "shared": rng.integers(0, 9, (n, 5)).astype(np.uint16),
    }
    data["weights"] = {"hops": 20, "values": rng.integers(100, 140, (n, 21)).astype(np.uint8)}
    assert write_page(data, tmp_path / "large.html") < 15e6
    browser.resize(1280, 800)
    browser.open(tmp_path / "large.html")
    # The browser's own time until the page can be used, without the driver's; on a quiet machine only.
    milliseconds = browser.run("return performance.getEntriesByName('nafs-ready')[0].startTime")
    assert milliseconds < (3000 if request.config.getoption("--slow") else 60_000)
    browser.find("user77777")
    browser.wait("document.documentElement.dataset.selected === 'user77777'")
    assert browser.errors() == []


@pytest.mark.slow
def test_a_million_points_pan_and_zoom(browser, tmp_path):
    write_page(synthetic(1_000_000), tmp_path / "million.html")
    browser.resize(1280, 800)
    browser.open(tmp_path / "million.html", 120)
    before = browser.picture()
    browser.click("#closer")
    assert browser.picture() != before
    browser.click("#clusterlist button")
    assert browser.kept() == browser.run("return nafs.data.clusters.list[0].size")
    # The page's own work per move must leave room for 60 frames a second; drawing is the graphics card's.
    work = browser.run(
        "const start = performance.now(); for (let i = 0; i < 50; i++) nafs.map.panBy(3, 2);"
        "return (performance.now() - start) / 50"
    )
    assert work < 8, f"{work:.1f} ms per move"
    assert browser.errors() == []
