"""Take pictures of the page in every state, at three widths, light and dark, to look at.

    python tools/page_screenshots.py FOLDER [STATE ...]

For each state and width FOLDER gets one picture with the light page beside the dark one. Chromium is needed.
"""

from __future__ import annotations

import io
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "helpers")]

SIZES = ((400, 800), (1280, 800), (1920, 1080))
N = 3_000


def pages(folder: Path) -> dict[str, str]:
    """Pages of several kinds, by name."""
    import pyarrow as pa
    from many_papers import write_papers
    from pyarrow import csv

    from nafs import Embedding, Graph, embed, read_graph
    from nafs.report import collect, read_columns, write_page
    from nafs.report.server import PageServer

    edges, papers = write_papers(N, folder)
    graph = read_graph(str(edges), features=str(papers), id_column="id")
    embedding = embed(graph, n_hops=8)
    columns = read_columns(papers, embedding.id_array)
    bare = Embedding(embedding.matrix, embedding.id_array)
    n_long, long = 400, "A name that does not end, with-hyphens_and_underscores and ünïcödé " * 4
    ids = pa.array([f"{long}{i}" for i in range(n_long)])
    table = csv.read_csv(papers).slice(0, n_long)
    names = {"id": ids, long: [f"{long}{i % 9}" for i in range(n_long)], "n" * 80: table["pages"]}
    rows = np.flatnonzero(np.arange(graph.n_nodes) < n_long)
    part = Graph(graph.adjacency.to_scipy()[rows][:, rows], embedding.matrix[rows], ids=ids.to_pylist())
    long_names = embed(part, n_hops=4)
    contents: dict[str, Callable[[], dict[str, Any]]] = {
        "papers": lambda: collect(embedding, graph, columns=columns, title="papers"),
        "table": lambda: collect(bare, columns=columns, title="vectors and a table, no graph"),
        "bare": lambda: collect(bare, title="vectors alone"),
        "long": lambda: collect(long_names, part, columns=_columns(names, ids), title=long, replay=False),
    }
    addresses = {}
    for name, content in contents.items():
        write_page(content(), folder / f"{name}.html", force=True)
        addresses[name] = (folder / f"{name}.html").as_uri()
    served = collect(embedding, graph, columns=columns, title="papers, served", details=False)
    server = PageServer(served, embedding, graph)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    addresses["served"] = server.address
    notebook = embed(part, n_hops=4).explore(part, {"id": ids, "pages": table["pages"]}, height=640)
    frame = f"<!doctype html><meta charset=utf-8><body><p>Out[1]:</p>{notebook._repr_html_()}"
    (folder / "notebook.html").write_text(frame, encoding="utf-8")
    addresses["notebook"] = (folder / "notebook.html").as_uri()
    return addresses


def _columns(table: dict[str, Any], ids: Any) -> list[Any]:
    import pyarrow as pa

    from nafs.report.columns import columns_of_table

    return columns_of_table(pa.table(table), ids)


def _colour(title: str) -> Callable[[Any], None]:
    return lambda browser: browser.choose("colour", title)


def _tab(name: str) -> Callable[[Any], None]:
    return lambda browser: browser.click(f"#tab-{name}")


def _search(browser: Any) -> None:
    word = browser.run("return nafs.data.columns.find(c => c.kind === 'text').values[5].split(' ')[2]")
    browser.enter("search", word)
    browser.wait("document.querySelectorAll('#results li').length > 0")


def _find(browser: Any, node: int = 17) -> None:
    browser.find(browser.run("return nafs.data.ids[arguments[0]]", node))
    browser.wait(f"nafs.state.selected === {node} && document.querySelectorAll('#node .head').length")


def _links(browser: Any) -> None:
    _find(browser)
    browser.run("document.querySelector('#node .below').scrollIntoView({block: 'center'})")


def _filter(browser: Any) -> None:
    browser.click("#tab-filter")
    index = browser.run("return nafs.data.columns.findIndex(c => c.title === 'pages')")
    browser.run(
        "const e = document.getElementById(`filter${arguments[0]}-from`);"
        "e.value = 30; e.dispatchEvent(new Event('change'))",
        index,
    )
    browser.choose(f"filter{browser.run('return nafs.data.clusters.column')}", "")


def _lasso(browser: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    browser.click("#lassomode")
    surface = browser.driver.find_element(By.ID, "lasso")
    reach = browser.run("return Math.min(nafs.map.holder.clientWidth, nafs.map.holder.clientHeight) / 3.2")
    corners = [(round(reach * np.cos(a)), round(reach * np.sin(a))) for a in np.linspace(0, 6, 9)]
    actions = ActionChains(browser.driver, duration=20)
    actions.move_to_element_with_offset(surface, *corners[0]).click_and_hold()
    for corner in corners[1:]:
        actions.move_to_element_with_offset(surface, *corner)
    actions.release().perform()


def _cluster(browser: Any) -> None:
    browser.click("#clusterlist li:nth-child(3) button")


def _hover(browser: Any) -> None:
    browser.run(
        "const m = nafs.map, [x, y] = m.onScreen(m.placeOf(m.nearMiddle()));"
        "const b = m.holder.getBoundingClientRect();"
        "m.holder.dispatchEvent(new PointerEvent('pointermove',"
        "{clientX: b.left + x, clientY: b.top + y, pointerType: 'mouse'}))"
    )


def _replay(browser: Any) -> None:
    _find(browser)
    browser.click("#over")


def _nothing(browser: Any) -> None:
    pass


STATES: dict[str, tuple[str, Callable[[Any], None]]] = {
    "first": ("papers", _nothing),
    "search-text": ("papers", _search),
    "search-id": ("papers", _find),
    "links": ("papers", _links),
    "colour-category": ("papers", _colour("country")),
    "colour-number": ("papers", _colour("citations")),
    "colour-date": ("papers", _colour("published")),
    "colour-cluster": ("papers", _colour("cluster")),
    "filter": ("papers", _filter),
    "lasso": ("papers", _lasso),
    "cluster": ("papers", _cluster),
    "hover": ("papers", _hover),
    "replay": ("papers", _replay),
    "about": ("papers", _tab("about")),
    "no-names": ("papers", lambda browser: browser.click("#names")),
    "table": ("table", _nothing),
    "table-node": ("table", _find),
    "bare": ("bare", _nothing),
    "bare-node": ("bare", _find),
    "long": ("long", _nothing),
    "long-node": ("long", _find),
    "long-filter": ("long", _tab("filter")),
    "served-node": ("served", _find),
    "notebook": ("notebook", _nothing),
}


def take(browser: Any, address: str, prepare: Callable[[Any], None], width: int, height: int) -> list[bytes]:
    """The light and the dark picture of one state."""
    pictures = []
    for theme in ("light", "dark"):
        feature = [{"name": "prefers-color-scheme", "value": theme}]
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
        browser.resize(width, height)
        browser.driver.get(address)
        framed = browser.run("return document.querySelector('iframe') !== null")
        if framed:
            browser.driver.switch_to.frame(0)
        browser.wait("document.documentElement.dataset.ready === 'yes'")
        prepare(browser)
        time.sleep(0.7)
        if framed:
            browser.driver.switch_to.default_content()
        pictures.append(browser.driver.get_screenshot_as_png())
    return pictures


def main(target: Path, wanted: list[str]) -> None:
    """Take all pictures, or those of some states."""
    from browser import started
    from PIL import Image

    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        addresses = pages(Path(name))
        browser = started(Path(name))
        try:
            for state in wanted or STATES:
                page, prepare = STATES[state]
                for width, height in SIZES:
                    light, dark = map(
                        Image.open, map(io.BytesIO, take(browser, addresses[page], prepare, width, height))
                    )
                    both = Image.new("RGB", (light.width + dark.width + 8, light.height), "red")
                    both.paste(light, (0, 0))
                    both.paste(dark, (light.width + 8, 0))
                    both.save(target / f"{state}-{width}.png")
                print(state, flush=True)
        finally:
            browser.driver.quit()


if __name__ == "__main__":
    if len(sys.argv) < 2 or set(sys.argv[2:]) - set(STATES):
        sys.exit(f"{__doc__}\nStates: {', '.join(STATES)}")
    main(Path(sys.argv[1]), sys.argv[2:])
