"""The page in a real browser: it works from a file, and everything from the data stays text."""

import csv
import datetime
import re
import time

import numpy as np
import pyarrow as pa
import pytest
from random_graphs import random_graph

from nafs import Graph, embed
from nafs.report import collect, write_page
from nafs.report.columns import columns_of_table

pytest.importorskip("openTSNE")
N = 120
EVIL = (
    "<img src=x onerror=\"document.title='broken in'\"></script><script>document.title='broken in'</script>"
)

SET_VALUE = (
    "const e = document.getElementById(arguments[0]);"
    "e.value = arguments[1]; e.dispatchEvent(new Event('change'))"
)


def facts(ids):
    """One column of each kind, with wicked values in all of them."""
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(N)]
    return pa.table(
        {
            "id": ids,
            "city": [["Oslo", "Rome", EVIL][i % 3] for i in range(N)],
            "age": [float(i) for i in range(N - 1)] + [None],
            "joined": days,
            EVIL: [f"{EVIL} note {i}, about {'apples' if i % 2 else 'pears'} number {i}" for i in range(N)],
        }
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    A, X = random_graph(5, n=N, density=0.06, n_features=12)
    ids = [f"node {i}" for i in range(N - 1)] + [EVIL]
    labels = [["red </script>", "blue"][i % 2] for i in range(N)]
    graph = Graph(A, X, ids=ids, labels=labels)
    columns = columns_of_table(facts(ids), graph.id_array)
    path = tmp_path_factory.mktemp("report") / "report.html"
    data = collect(embed(graph, n_hops=6), graph, columns=columns, title=EVIL, n_clusters=4)
    write_page(data, path)
    return path


@pytest.fixture
def opened(browser, page):
    browser.resize(1280, 800)
    browser.open(page)
    yield browser
    assert browser.errors() == []
    assert browser.run("return document.querySelectorAll('img').length") == 0
    assert browser.run("return document.scripts.length") == 2
    assert browser.driver.title == EVIL


def kept(browser):
    return browser.run("return nafs.state.kept")


def test_it_opens_with_a_map_that_fills_its_room(opened):
    assert opened.text("title") == EVIL
    assert "120 nodes" in opened.text("subtitle")
    width, height = opened.run(
        "const c = document.querySelector('#map canvas'); return [c.clientWidth, c.clientHeight]"
    )
    assert width == 920
    assert height > 700
    assert opened.run("return document.documentElement.scrollHeight") <= 800, "nothing to scroll"


def test_search_by_id_and_by_text(opened):
    empty = opened.picture()
    opened.find("node 7")
    opened.wait("document.documentElement.dataset.selected === 'node 7'")
    assert opened.text("chosen") == "node 7"
    assert opened.picture() != empty, "the node is marked on the map"
    opened.enter("search", "number 42")
    results = opened.run("return [...document.querySelectorAll('#results li')].map(e => e.textContent)")
    assert [result[:7] for result in results] == ["node 42"]
    opened.find("nobody at all")
    assert "No node" in opened.text("status")
    opened.find(EVIL)
    opened.wait(f"document.documentElement.dataset.selected === nafs.data.ids[{N - 1}]")
    assert opened.text("chosen") == EVIL


def test_the_panel_of_a_node_answers_questions(opened):
    opened.find("node 7")
    opened.wait("document.documentElement.dataset.selected === 'node 7'")
    panel = opened.text("node")
    for heading in (
        "Hops it listens to",
        "Links it could have",
        "Nearest in the embedding",
        "Neighbours in the graph",
    ):
        assert heading in panel
    assert re.search(r"This node listens .*; half of the weight lies within \d+ hops?\.", opened.text("hops"))
    assert "shared neighbour" in panel
    assert opened.run("return document.querySelectorAll('#node svg rect').length") == 7
    facts = opened.run(
        "return [...document.querySelectorAll('#node tr')].map(e => [...e.children].map(c => c.textContent))"
    )
    assert ["city", "Rome"] in facts
    assert ["age", "7"] in facts
    assert ["joined", "2020-01-08"] in facts
    links = opened.run("return nafs.map.lines.length")
    assert links > 0, "its edges are drawn"
    opened.click("#node ul.nodes button")
    opened.wait("document.documentElement.dataset.selected !== 'node 7'")


def test_a_click_on_the_map_selects_and_hovering_tells(opened):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    opened.picture()
    # A point with no other near, so that the click means one node.
    node, x, y = opened.run(
        "const m = nafs.map, at = [...Array(nafs.data.n).keys()].map(i => m.onScreen(m.placeOf(i)));"
        "const free = ([x, y]) => x > 260 && y > 90 && x < 900 && y < 700;"
        "const far = (a, b) => a === b ? 1e9 : Math.hypot(a[0] - b[0], a[1] - b[1]);"
        "const gap = a => Math.min(...at.map(b => far(a, b)));"
        "const apart = at.map(a => free(a) ? gap(a) : 0);"
        "const best = apart.indexOf(Math.max(...apart));"
        "return [best, at[best][0] - m.holder.clientWidth / 2, at[best][1] - m.holder.clientHeight / 2]"
    )
    place = opened.driver.find_element(By.ID, "map")
    ActionChains(opened.driver).move_to_element_with_offset(place, round(x) - 1, round(y)).move_by_offset(
        1, 0
    ).perform()
    opened.wait("!document.getElementById('tip').hidden")
    assert f"node {node}" in opened.text("tip") or EVIL in opened.text("tip")
    assert "degree" in opened.text("tip")
    ActionChains(opened.driver).click().perform()
    opened.wait(f"nafs.state.selected === {node}")


def test_colour_by_a_column(opened):
    opened.choose("colour", "age")
    assert opened.text("legendtitle") == "age"
    assert "118" in opened.text("legend")
    numbers = opened.picture()
    opened.choose("colour", "city")
    assert [name in opened.text("legend") for name in ("Oslo", "Rome", EVIL)] == [True] * 3
    assert opened.picture() != numbers
    opened.choose("colour", "joined")
    assert "2020-01-01" in opened.text("legend")
    options = opened.run("return [...document.querySelectorAll('#colour option')].map(e => e.text)")
    assert "degree" in options
    assert "mean smoothing hop" in options
    assert EVIL not in options, "text has no colours"


def test_filters_combine(opened):
    index = {title: i for i, title in enumerate(opened.run("return nafs.data.columns.map(c => c.title)"))}
    opened.choose(f"filter{index['city']}", "Oslo")
    assert kept(opened) == 40
    opened.click("#tab-filter")
    opened.run(SET_VALUE, f"filter{index['age']}-from", "60")
    assert kept(opened) == 20
    opened.enter(f"filter{index[EVIL]}", "apples")
    assert kept(opened) == 10
    opened.run(SET_VALUE, f"filter{index['joined']}-to", "2020-03-31")
    assert kept(opened) == 5
    assert opened.text("kept") == "5 of 120 nodes"
    opened.click("#clear")
    assert kept(opened) == N
    assert opened.run("return document.getElementById('chip').hidden")


def exported(browser):
    for old in browser.downloads.iterdir():
        old.unlink()
    browser.click("#export")
    end = time.monotonic() + 30
    while not (files := list(browser.downloads.glob("*.csv"))):
        assert time.monotonic() < end
        time.sleep(0.05)
    with files[0].open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_cluster_alone_and_its_export(opened):
    sizes = opened.run("return nafs.data.clusters.list.map(c => c.size)")
    assert sum(sizes) == N
    assert sizes == sorted(sizes, reverse=True)
    opened.click("#clusterlist button")
    assert kept(opened) == sizes[0]
    listed = opened.text("clusterlist")
    for word in ("cohesion", "agreement", "Typical nodes"):
        assert word in listed
    rows = exported(opened)
    assert len(rows) == sizes[0]
    name = opened.run("return nafs.data.clusters.list[0].name")
    assert {row["cluster"] for row in rows} == {name}
    assert set(rows[0]) == {
        "id",
        "label",
        "city",
        "age",
        "joined",
        EVIL,
        "cluster",
        "degree",
        "mean smoothing hop",
    }
    opened.click("#clusterlist button")
    assert kept(opened) == N


def test_a_lasso_selects_what_lies_inside(opened):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    opened.click("#lassomode")
    surface = opened.driver.find_element(By.ID, "lasso")
    corners = [(-150, -200), (300, -200), (300, 200), (-150, 200)]
    actions = ActionChains(opened.driver).move_to_element_with_offset(surface, *corners[0]).click_and_hold()
    for corner in corners[1:]:
        actions.move_to_element_with_offset(surface, *corner)
    actions.release().perform()
    inside = opened.run(
        "const m = nafs.map, w = m.holder.clientWidth / 2, h = m.holder.clientHeight / 2;"
        "return [...Array(nafs.data.n).keys()].filter(i => { const [x, y] = m.onScreen(m.placeOf(i));"
        "return x - w > -150 && x - w < 300 && y - h > -200 && y - h < 200; }).map(i => nafs.data.ids[i])"
    )
    assert 0 < len(inside) < N
    assert kept(opened) == len(inside)
    assert {row["id"] for row in exported(opened)} == set(inside)
    assert opened.run("return document.getElementById('lassomode').ariaPressed") == "false"
    opened.click("#unselect")
    assert kept(opened) == N


def test_the_replay_starts_at_the_hops_of_the_embedding_and_moves(opened):
    opened.find("node 7")
    opened.click("#over")
    assert opened.text("hopvalue") == "K = 6"
    assert "Plain smoothing" in opened.text("captions")
    before = opened.picture()
    opened.run(
        "const e = document.getElementById('hop'); e.value = e.max; e.dispatchEvent(new Event('input'))"
    )
    assert "K = 200" in opened.text("captions")
    assert opened.picture() != before
    x, y, width, height = opened.run(
        "const m = nafs.map; return [...m.onScreen(m.placeOf(7)), ...m.paneSize()]"
    )
    assert 0 <= x <= width
    assert 0 <= y <= height, "the selected node stays in view"
    opened.click("#over")
    assert opened.text("captions") == ""


def test_keys_themes_and_names(opened):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    place = opened.driver.find_element(By.ID, "map")
    before = opened.picture()
    place.send_keys("+", Keys.ARROW_LEFT)
    assert opened.picture() != before
    place.send_keys(Keys.ENTER)
    opened.wait("nafs.state.selected >= 0")
    back = "return getComputedStyle(document.body).backgroundColor"
    light = opened.run(back)
    opened.click("#theme")
    assert opened.run(back) != light
    unnamed = opened.run(
        "return [...document.querySelectorAll('button, input, select')].filter(e => e.checkVisibility()"
        " && !(e.textContent.trim() || e.ariaLabel || e.labels?.length)).map(e => e.id)"
    )
    assert unnamed == [], "everything that can be used has a name for screen readers"


@pytest.mark.parametrize(("width", "height"), [(400, 800), (1920, 1080)])
def test_other_sizes(opened, width, height):
    opened.resize(width, height)
    opened.wait(f"innerWidth === {width}")
    opened.picture()
    assert opened.run("return document.documentElement.scrollWidth") <= width
    places = opened.run(
        "const m = nafs.map; return [...Array(nafs.data.n).keys()].map(i => m.onScreen(m.placeOf(i)))"
    )
    room = opened.run("return [nafs.map.holder.clientWidth, nafs.map.holder.clientHeight]")
    assert (np.array(places) >= 0).all()
    assert (np.array(places) <= room).all(), "the whole map is in sight"


def test_the_policy_allows_one_script_and_no_connection(page):
    content = page.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', content)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "connect" not in policy
    assert content.count("<script") == content.count("</script") == 2
    assert EVIL not in content
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", content)


def synthetic(n, columns=True):
    """Contents of a page of many nodes without the work of a layout."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(12, 2)) * 6
    codes = rng.integers(0, 12, n)
    codes = np.argsort(np.argsort(-np.bincount(codes)))[codes]
    from nafs.pictures.layout import quantised
    from nafs.report.columns import Column

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
            "agreement": None,
        }
        for i, name in enumerate(names)
    ]
    return {
        "title": "many", "subtitle": f"{n:,} nodes", "n": n, "ids": [f"user{i}" for i in range(n)],
        "positions": quantised(centres[codes] + rng.normal(size=(n, 2))), "server": False, "detailsNote": "",
        "clusters": {"column": 0, "note": "", "list": listed}, "cards": [], "colour": 0,
        "columns": [column.for_page() for column in shown],
    }  # fmt: skip


def test_a_hundred_thousand_nodes_are_small_and_open_quickly(browser, tmp_path, request):
    n, rng = 100_000, np.random.default_rng(0)
    data = synthetic(n)
    data["nearest"] = {
        "k": 10,
        "rows": rng.integers(0, n, (n, 10)).astype(np.int32),
        "scores": rng.integers(0, 65535, (n, 10)).astype(np.uint16),
    }
    data["linked"] = {
        "offsets": (np.arange(n + 1) * 8).astype(np.int32),
        "rows": rng.integers(0, n, 8 * n).astype(np.int32),
        "degrees": np.full(n, 8, np.int32),
    }
    data["suggested"] = {
        "k": 5,
        "rows": rng.integers(0, n, (n, 5)).astype(np.int32),
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
    assert kept(browser) == browser.run("return nafs.data.clusters.list[0].size")
    # The page's own work per move must leave room for 60 frames a second; drawing is the graphics card's.
    work = browser.run(
        "const start = performance.now(); for (let i = 0; i < 50; i++) nafs.map.panBy(3, 2);"
        "return (performance.now() - start) / 50"
    )
    assert work < 8, f"{work:.1f} ms per move"
    assert browser.errors() == []
