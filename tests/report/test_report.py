"""The report page, in a real browser: it works from a file, and names from the data stay text."""

import base64
import json
import re
import shutil
import time

import numpy as np
import pytest
import scipy.sparse as sp
from command import run
from random_graphs import random_graph

from nafs import Embedding, Graph, embed, smoothing_weights
from nafs.pictures.layout import tsne, turned_like
from nafs.report import collect, render, write_page
from nafs.report.contents import _classes

pytest.importorskip("openTSNE")
EVIL = "<img src=x onerror=\"document.title='broken in'\">"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page of 120 nodes, one of which has a wicked name."""
    A, X = random_graph(5, n=120, density=0.06, n_features=12)
    names = [f"node {i}" for i in range(119)] + [EVIL]
    labels = [["red </script>", "blue"][i % 2] for i in range(120)]
    graph = Graph(A, X, ids=names, labels=labels)
    path = tmp_path_factory.mktemp("report") / "report.html"
    found = collect(embed(graph, n_hops=6), graph, title="A <b>title</b>", n_threads=2)
    write_page(found, path)
    return path


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="pip install selenium")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("a browser is needed: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1280,900")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def open_page(browser, path):
    browser.get(path.as_uri())
    end = time.monotonic() + 10
    while browser.execute_script("return document.documentElement.dataset.ready") != "yes":
        assert time.monotonic() < end, browser.get_log("browser")
        time.sleep(0.02)


def errors(browser):
    return [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def pixels(browser, which=0):
    """A picture of a map, as text that changes when the map does."""
    return browser.execute_script(f"return document.querySelectorAll('canvas')[{which}].toDataURL()")


def text_of(browser, identity):
    return browser.execute_script(f"return document.getElementById('{identity}').textContent")


def type_and_enter(browser, text):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    field = browser.find_element(By.ID, "search")
    field.clear()
    field.send_keys(text, Keys.ENTER)


def choose(browser, identity, value):
    browser.execute_script(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('change')); e.dispatchEvent(new Event('input'));",
        identity,
        value,
    )


def test_the_page_opens_without_errors_and_searches(browser, page):
    open_page(browser, page)
    assert text_of(browser, "title") == "A <b>title</b>"
    assert "120 nodes" in text_of(browser, "subtitle")
    empty = pixels(browser)
    type_and_enter(browser, "node 7")
    assert text_of(browser, "chosen") == "node 7"
    assert pixels(browser) != empty, "the node is marked on the map"
    panel = text_of(browser, "panel")
    for heading in ("Smoothing weight of each hop", "Nearest in the embedding", "Neighbours in the graph"):
        assert heading in panel
    assert browser.execute_script("return document.querySelectorAll('#panel svg rect').length") == 7
    type_and_enter(browser, "nobody")
    assert "No node" in text_of(browser, "status")
    assert errors(browser) == []


def test_a_click_fills_the_panel_and_a_neighbour_leads_on(browser, page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    open_page(browser, page)
    canvas = browser.find_element(By.TAG_NAME, "canvas")
    # Where the page itself draws its first node.
    x, y = browser.execute_script(
        "const c = canvases[0], p = c.map.steps[0], [x, y] = project(c.canvas, p[0], p[1]);"
        "const d = c.canvas.width / c.canvas.clientWidth;"
        "return [x / d - c.canvas.clientWidth / 2, y / d - c.canvas.clientHeight / 2]"
    )
    ActionChains(browser).move_to_element_with_offset(canvas, round(x), round(y)).perform()
    assert (
        browser.execute_script("return getComputedStyle(document.getElementById('tip')).display") == "block"
    )
    assert "degree: " in text_of(browser, "tip")
    ActionChains(browser).click().perform()
    first = text_of(browser, "chosen")
    browser.find_element(By.CSS_SELECTOR, "#panel ul.nodes button").click()
    assert text_of(browser, "chosen") != first
    assert errors(browser) == []


def test_the_slider_changes_both_maps_and_colours_change_the_legend(browser, page):
    open_page(browser, page)
    choose(browser, "view", "1")
    assert browser.execute_script("return document.querySelectorAll('canvas').length") == 2
    choose(browser, "hop", "0")
    before = pixels(browser, 0), pixels(browser, 1)
    choose(browser, "hop", "6")
    assert pixels(browser, 0) != before[0]
    assert pixels(browser, 1) != before[1]
    assert "200" in text_of(browser, "hopvalue")
    legends = []
    for column in range(4):
        choose(browser, "colour", str(column))
        legends.append(text_of(browser, "legend"))
    assert legends[0].startswith("blue")
    assert "cluster 1" in legends[1]
    assert "degree" in legends[2]
    assert "mean smoothing hop" in legends[3]
    assert errors(browser) == []


def test_names_are_text(browser, page):
    open_page(browser, page)
    type_and_enter(browser, EVIL)
    assert text_of(browser, "chosen") == EVIL
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    assert "broken in" not in browser.title
    assert errors(browser) == []


def test_keys_and_themes(browser, page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    open_page(browser, page)
    canvas = browser.find_element(By.TAG_NAME, "canvas")
    before = pixels(browser)
    canvas.send_keys("+", Keys.ARROW_LEFT)
    assert pixels(browser) != before
    canvas.send_keys(Keys.ENTER)
    assert text_of(browser, "chosen")
    background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    browser.find_element(By.ID, "theme").click()
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") != background
    assert errors(browser) == []


def test_two_fingers_zoom(browser, page):
    open_page(browser, page)
    found = browser.execute_script(
        "const c = document.querySelector('canvas'), b = c.getBoundingClientRect(), y = b.top + b.height / 2;"
        "c.setPointerCapture = () => {};"
        "const send = (kind, id, x) => c.dispatchEvent(new PointerEvent(kind, {pointerId: id, button: 0,"
        " pointerType: 'touch', clientX: b.left + b.width / 2 + x, clientY: y}));"
        "send('pointerdown', 7, 100); send('pointermove', 7, -40);"
        "const panned = state.x;"
        "send('pointerdown', 8, 40); send('pointermove', 7, -80); send('pointermove', 8, 80);"
        "send('pointerup', 7, -80); const pinched = state.x;"
        "send('pointermove', 8, 20); send('pointerup', 8, 20);"
        "return [state.zoom, panned, pinched, state.x]"
    )
    zoom, panned, pinched, last = found
    assert zoom == pytest.approx(2), "from where the fingers were when the second one came"
    assert panned > 0.5
    assert last > pinched, "the finger that stays goes on moving the map"
    assert text_of(browser, "panel").startswith("No node"), "the second finger is no click"
    assert errors(browser) == []


def test_thirty_two_classes_look_different(browser, tmp_path):
    places = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
    graph = Graph(np.zeros((100, 100)), labels=[f"class {i % 50:02}" for i in range(100)])
    write_page(collect(Embedding(places, graph.id_array, graph.labels)), tmp_path / "many.html")
    open_page(browser, tmp_path / "many.html")
    looks = browser.execute_script(
        "return Array.from(document.querySelectorAll('#legend .swatch'),"
        " e => e.className + getComputedStyle(e).backgroundColor)"
    )
    assert len(set(looks)) == len(looks) == 32
    assert text_of(browser, "legend").endswith("and 18 more")
    assert errors(browser) == []


def test_twenty_thousand_nodes_are_quick_and_small(browser, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    n = 20_000
    ring = sp.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    graph = Graph(ring, rng.normal(size=(n, 16)).astype(np.float32), directed=False)
    # The layout is not what is measured.
    monkeypatch.setattr("nafs.report.contents.tsne", lambda rows, **_: rng.normal(size=(len(rows), 2)))
    found = collect(embed(graph, n_hops=20), graph, n_threads=2)
    assert write_page(found, tmp_path / "large.html") < 15e6
    start = time.monotonic()
    open_page(browser, tmp_path / "large.html")
    assert time.monotonic() - start < 3
    assert errors(browser) == []


def test_nothing_in_the_data_can_end_the_script(page):
    content = page.read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', content, re.S)[1]
    assert "<" not in data
    assert json.loads(data)["ids"][-1] == EVIL
    assert "http://" not in content.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in content


def test_an_embedding_alone_has_a_page_too(tmp_path):
    rng = np.random.default_rng(0)
    made = Embedding(rng.normal(size=(40, 5)).astype(np.float32), Graph(np.zeros((40, 40))).id_array)
    data = collect(made)
    assert [column["title"] for column in data["columns"]] == ["cluster"]
    assert "weights" not in data
    assert len(data["views"]) == 1
    assert "not known" in json.dumps(data["cards"])
    assert render(data).startswith("<!doctype html>")


def test_many_nodes_are_sampled_and_that_is_said(monkeypatch):
    monkeypatch.setattr("nafs.report.contents.MOST_NODES", 50)
    A, X = random_graph(6, n=90)
    graph = Graph(A, X)
    data = collect(embed(graph, n_hops=2), graph, replay=False)
    assert data["nodes"] == len(data["ids"]) == 50
    assert "shows 50 of them" in data["subtitle"]


def test_maps_are_turned_like_the_one_before():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(50, 2))
    turn = np.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(
        turned_like(places @ turn + 3, places), places - places.mean(axis=0), atol=1e-9
    )
    for n in (1, 3, 4, 10):
        assert tsne(rng.normal(size=(n, 3))).shape == (n, 2)


def test_the_command(tmp_path, capsys):
    A, X = random_graph(7, n=60)
    graph = Graph(A, X, ids=[f"n{i}" for i in range(60)])
    graph.save(tmp_path / "graph")
    embed(graph, n_hops=3).write(tmp_path / "e.parquet")
    page = tmp_path / "r.html"
    assert run("report", tmp_path / "e.parquet", "-o", page, "-q") == 0
    assert (
        run("report", tmp_path / "e.parquet", "--graph", tmp_path / "graph", "-o", page, "-q", "--force") == 0
    )
    assert (
        run("report", tmp_path / "graph", "-o", page, "--no-replay", "--hops", "2", "--force", "--json") == 0
    )
    assert json.loads(capsys.readouterr().out)["shown"] == 60
    for arguments, message in (
        (["report", tmp_path / "graph", "-o", page], "exists already"),
        (["report", tmp_path / "graph", "-o", tmp_path / "r.pdf"], "name it .html"),
        (["report", tmp_path / "none.csv", "-o", tmp_path / "x.html"], "no such file"),
    ):
        assert run(*arguments) == 2
        assert message in " ".join(capsys.readouterr().err.split())
    other = Graph(*random_graph(8, n=50), ids=[f"m{i}" for i in range(50)])
    other.save(tmp_path / "other")
    assert (
        run("report", tmp_path / "e.parquet", "--graph", tmp_path / "other", "-o", tmp_path / "x.html") == 2
    )
    assert "nodes are not in it" in " ".join(capsys.readouterr().err.split())


def test_pages_of_odd_graphs():
    alike = Graph(np.ones((20, 20)), np.ones((20, 2)))
    collect(embed(alike, n_hops=3), alike)
    empty = Graph(np.zeros((12, 12)), np.eye(12))
    assert collect(embed(empty, n_hops=3, r=1), empty, replay=False)["weights"]["hops"] == 3
    A, X = random_graph(9, n=40)
    graph = Graph(A, X)
    made = embed(graph, n_hops=3, r=0.0)
    packed = collect(made, graph, replay=False)["weights"]["values"]["data"]
    weights = np.frombuffer(base64.b64decode(packed), "u2").reshape(40, 4) / 65535
    np.testing.assert_allclose(weights, smoothing_weights(X, A, 3, 0.0), atol=1e-4)
    unknown = Embedding(made.matrix, made.id_array)
    data = collect(unknown, graph, replay=False)
    assert "weights" not in data, "nobody knows the number of hops"


def test_an_embedding_in_text_is_not_taken_for_edges(tmp_path):
    A, X = random_graph(10, n=40)
    graph = Graph(A, X, ids=[f"n{i}" for i in range(40)], labels=["a", "b"] * 20)
    made = embed(graph, n_hops=3)
    page = tmp_path / "r.html"
    for name in ("e.csv", "e.tsv.gz"):
        made.write(tmp_path / name)
        assert run("report", tmp_path / name, "-o", page, "-q", "--force") == 0
        assert "40 nodes, 10 dimensions" in page.read_text(encoding="utf-8")
    bare = tmp_path / "bare"
    Graph(A, X, ids=graph.id_array).save(bare)
    assert run("report", tmp_path / "e.csv", "--graph", bare, "-o", page, "-q", "--force") == 0
    assert '"title":"label"' in page.read_text(encoding="utf-8"), "its labels are kept"


def test_more_classes_than_sixteen_bits_number():
    codes = np.array([70_000, -1, 3, 65_535, 70_000])
    column = _classes("label", codes, [f"class {i}" for i in range(70_001)])
    values = np.frombuffer(base64.b64decode(column["values"]["data"]), np.uint16)
    names = [None if value == 65535 else column["names"][value] for value in values]
    assert names == ["class 70000", None, "class 3", "class 65535", "class 70000"]
