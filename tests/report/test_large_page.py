"""Pages of many nodes in a real browser: how large the file is, how soon it opens, how it moves."""

import io

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


def opening(browser, path):
    """The browser's own time until a page can be used, without the driver's: the best of two."""
    times = []
    for _ in range(2):
        browser.open(path)
        times.append(browser.run("return performance.getEntriesByName('nafs-ready')[0].startTime"))
    return min(times)


def pixels(browser):
    """The map on the screen. Two pictures of a million points may differ by a shade though nothing moved."""
    from PIL import Image

    picture = Image.open(io.BytesIO(browser.driver.find_element("id", "map").screenshot_as_png))
    return np.asarray(picture.convert("RGB"), int)


def moving(browser):
    """The page's own work for one move of the map: the best of ten. Drawing is the graphics card's."""
    return browser.run(
        "let best = Infinity; for (let turn = 0; turn < 10; turn++) { const start = performance.now();"
        "for (let i = 0; i < 20; i++) nafs.map.panBy(i % 2 ? 3 : -3, 2);"
        "best = Math.min(best, performance.now() - start); } return best"
    )


def test_a_hundred_thousand_nodes_are_small_and_open_quickly(browser, tmp_path):
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
    write_page(synthetic(100), tmp_path / "small.html")
    browser.resize(1280, 800)
    few = opening(browser, tmp_path / "small.html")
    assert opening(browser, tmp_path / "large.html") < 8 * few
    browser.find("user77777")
    browser.wait("document.documentElement.dataset.selected === 'user77777'")
    assert browser.errors() == []


@pytest.mark.slow
def test_a_million_points_pan_and_zoom(browser, tmp_path):
    write_page(synthetic(1_000_000), tmp_path / "million.html")
    browser.resize(1280, 800)
    browser.open(tmp_path / "million.html", 120)
    before = pixels(browser)
    browser.click("#closer")
    browser.wait("nafs.map.view.zoom > nafs.map.fitZoom() + 0.5")
    changed = np.abs(pixels(browser) - before).max(axis=2) > 20
    assert changed.mean() > 0.05, "the points are drawn in new places"
    browser.click("#clusterlist button")
    assert browser.kept() == browser.run("return nafs.data.clusters.list[0].size")
    many = moving(browser)
    assert browser.errors() == []
    write_page(synthetic(1_000), tmp_path / "small.html")
    browser.open(tmp_path / "small.html")
    assert many < 3 * moving(browser), "a move of a million points costs the page what a move of few costs"
