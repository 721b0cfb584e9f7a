"""The page in a real browser: it works from a file, and everything from the data stays text."""

import csv
import datetime
import re
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
from random_graphs import random_graph

from nafs import Graph, embed
from nafs.report import collect, write_page
from nafs.report.columns import columns_of_table
from nafs.report.server import PageServer

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
    """One column of each kind, with malicious values in all of them."""
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
def graph():
    A, X = random_graph(5, n=N, density=0.06, n_features=12)
    ids = [f"node {i}" for i in range(N - 1)] + [EVIL]
    labels = [["red </script>", "blue"][i % 2] for i in range(N)]
    return Graph(A, X, ids=ids, labels=labels)


@pytest.fixture(scope="module")
def page(tmp_path_factory, graph):
    columns = columns_of_table(facts(graph.id_array.to_pylist()), graph.id_array)
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
        "Weights over hops",
        "Suggested links",
        "Nearest in the embedding",
        "Neighbours in the graph",
    ):
        assert heading in panel
    assert re.search(r"This node listens .*; half of the weight lies within \d+ hops?\.", opened.text("hops"))
    assert re.search("shared neighbour.*(same|similar|both) ", panel), "and columns that are alike"
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
    assert opened.run("return document.activeElement.id") == "map", "and keys move the map"


def test_colour_by_a_column(opened):
    opened.choose("colour", "age")
    assert opened.run("return document.getElementById('colour').selectedOptions[0].text") == "age"
    assert "118" in opened.text("legendbody")
    numbers = opened.picture()
    opened.choose("colour", "city")
    assert [name in opened.text("legendbody") for name in ("Oslo", "Rome", EVIL)] == [True] * 3
    assert opened.run("return document.querySelectorAll('#clusterlist .mix').length") == 4
    assert opened.picture() != numbers
    opened.choose("colour", "joined")
    assert "2020-01-01" in opened.text("legendbody")
    options = opened.run("return [...document.querySelectorAll('#colour option')].map(e => e.text)")
    assert "degree" in options
    assert "mean smoothing hop" in options
    assert EVIL not in options, "text has no colours"


def test_filters_combine(opened):
    index = {title: i for i, title in enumerate(opened.run("return nafs.data.columns.map(c => c.title)"))}
    opened.click("#tab-filter")
    opened.choose(f"filter{index['city']}", "Oslo")
    assert opened.kept() == 40
    opened.run(SET_VALUE, f"filter{index['age']}-from", "60")
    assert opened.kept() == 20
    opened.enter(f"filter{index[EVIL]}", "apples")
    assert opened.kept() == 10
    opened.run(SET_VALUE, f"filter{index['joined']}-to", "2020-03-31")
    assert opened.kept() == 5
    assert opened.text("kept") == "5 of 120 nodes"
    opened.click("#clear")
    assert opened.kept() == N
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
    assert "of 32 trial clusterings agree" in opened.text("sure")
    opened.click("#clusterlist button")
    assert opened.kept() == sizes[0]
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
    assert opened.kept() == N


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
    assert opened.kept() == len(inside)
    assert {row["id"] for row in exported(opened)} == set(inside)
    assert opened.run("return document.getElementById('lassomode').ariaPressed") == "false"
    opened.click("#unselect")
    assert opened.kept() == N


def test_the_replay_starts_at_the_hops_of_the_embedding_and_moves(opened):
    opened.find("node 7")
    opened.click("#over")
    assert opened.text("hopvalue") == "K = 6"
    assert opened.run("return document.getElementById('hopnote').hidden"), "the node is on these maps"
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


def test_the_replay_follows_nodes_beyond_its_sample(browser, tmp_path, graph, monkeypatch):
    monkeypatch.setattr("nafs.report.hops.REPLAYED", 60)
    embedding = embed(graph, n_hops=6)
    data = collect(embedding, graph, n_clusters=4)
    other, further = sorted(set(range(N - 1)) - set(data["replay"]["nodes"].tolist()))[:2]
    write_page(data, tmp_path / "sampled.html")
    browser.resize(1280, 800)
    browser.open(tmp_path / "sampled.html")
    browser.click("#over")
    for node in (other, further):
        browser.find(f"node {node}")
        browser.wait(f"document.documentElement.dataset.selected === 'node {node}'")
        assert browser.run("return document.getElementById('hopnote').hidden")
        lines = browser.run("return nafs.map.lines.filter(line => !nafs.map.placeOf(line.node)).length")
        assert lines == 0, "and the nodes around it are on the maps"
        for step in (0, len(data["replay"]["steps"]) - 1):
            browser.run(
                "const e = document.getElementById('hop'); e.value = arguments[0];"
                "e.dispatchEvent(new Event('input'))",
                step,
            )
            browser.wait("!nafs.map.moving")
            x, y, width, height = browser.run(
                f"const m = nafs.map; return [...m.onScreen(m.placeOf({node})), ...m.paneSize()]"
            )
            assert 0 <= x <= width
            assert 0 <= y <= height
    assert browser.errors() == []
    del data["replay"]["others"]
    write_page(data, tmp_path / "sampled.html", force=True)
    browser.open(tmp_path / "sampled.html")
    browser.click("#over")
    browser.find(f"node {other}")
    browser.wait("!document.getElementById('hopnote').hidden")
    assert "is not among the 60 nodes" in browser.text("hopnote")


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


def test_every_term_about_the_embedding_is_explained(opened):
    opened.click("#tab-about")
    terms, glossary = opened.run(
        "const text = query => [...document.querySelectorAll(query)].map(e => e.textContent.toLowerCase());"
        "const cards = [...document.querySelectorAll('#about section')].filter(e => e.querySelector('table')"
        " && !e.textContent.startsWith('Time'));"
        "return [cards.flatMap(e => [...e.querySelectorAll('th')].map(th => th.textContent.toLowerCase())),"
        " text('#about dt').join(', ')]"
    )
    assert {"n hops", "ensemble", "weighting", "modularity", "nmi", "input"} <= set(terms)
    assert [term for term in terms if term not in glossary] == []


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


def test_a_served_page_asks_for_texts_and_neighbours(browser, graph):
    columns = columns_of_table(facts(graph.id_array.to_pylist()), graph.id_array)
    embedding = embed(graph, n_hops=6)
    data = collect(embedding, graph, columns=columns, title=EVIL, n_clusters=4, details=False, replay=False)
    with PageServer(data, embedding, graph) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.open(server.address)
        note = next(i for i, column in enumerate(data["columns"]) if column["kind"] == "text")
        assert browser.run(f"return nafs.data.columns[{note}].values === undefined")
        browser.enter("search", "number 42")
        browser.wait("document.querySelectorAll('#results li').length === 1")
        browser.find("number 42")
        browser.wait("document.documentElement.dataset.selected === 'node 42'")
        panel = browser.text("node")
        assert f"{EVIL} note 42, about pears number 42" in panel
        assert "Nearest in the embedding" in panel
        browser.click("#tab-filter")
        browser.enter(f"filter{note}", "apples")
        browser.wait("nafs.state.kept === 60")
        browser.click("#clear")
        assert browser.errors() == []
        server.shutdown()


def test_the_page_works_inside_a_notebook(browser, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cell = nbformat.v4.new_code_cell(
        "from nafs import embed\nfrom nafs.datasets import contextual_sbm\n"
        "graph = contextual_sbm(60, n_classes=2, seed=0)\n"
        "embed(graph, n_hops=3).explore(graph, {'id': list(range(60)), 'age': list(range(60))}, height=500)"
    )
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbclient.NotebookClient(notebook, timeout=300).execute()
    (output,) = [item for item in notebook.cells[0].outputs if item.output_type == "execute_result"]
    lines = [item.data["text/plain"] for item in notebook.cells[0].outputs if item is not output]
    assert re.fullmatch(r"page: done in \d+\.\d s", lines[0]), "one line told of the progress"
    saved = tmp_path / "notebook.html"
    saved.write_text(
        f"<!doctype html><meta charset=utf-8><title>notebook</title>{output.data['text/html']}",
        encoding="utf-8",
    )
    browser.driver.get(saved.as_uri())
    browser.driver.switch_to.frame(0)
    try:
        browser.wait("document.documentElement.dataset.ready === 'yes'")
        assert "60 nodes" in browser.text("subtitle")
        browser.find("17")
        browser.wait("document.documentElement.dataset.selected === '17'")
        assert (
            browser.run("try { parent.document.title; return 'open' } catch { return 'closed' }") == "closed"
        )
    finally:
        browser.driver.switch_to.default_content()
    assert browser.errors() == []


def test_the_policy_allows_one_script_and_no_connection(page):
    content = page.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', content)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "connect" not in policy
    assert content.count("<script") == content.count("</script") == 2
    assert EVIL not in content
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", content)
