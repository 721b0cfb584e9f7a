"""Pages of odd data in a real browser: strange texts, extreme numbers, many columns, hardly any nodes."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from nafs import Graph, embed
from nafs.report import collect, write_page
from nafs.report.columns import columns_of_table

pytest.importorskip("openTSNE")
N = 40
LONG = "endless " * 1_250
ODD = [
    "\u202egnp.exe",
    "שלום עולם",
    "nul \x00 inside",
    "line\nbreak\ttab",
    "",
    " ",
    LONG,
    "ﷺ" * 40,
    "🧑‍🚀",
    "</style>",
]


def table():
    """Every kind of column, each with values that break careless programs."""
    ids = [f"{ODD[i % len(ODD)]}{i}" for i in range(N)]
    return pa.table(
        {
            "id": ids,
            "category": [ODD[i % 8] for i in range(N)],
            "text": [f"{ODD[i % len(ODD)]} {i}" for i in range(N)],
            "huge": [1e308, -1e308, 5e-324, float("inf"), None] * (N // 5),
            "large": [2**53 - 1, 123456789, 0, -7, None] * (N // 5),
            "fraction": [0.1, 1 / 3, 1e-9, 12345.678, None] * (N // 5),
            "old": [datetime.date(1, 1, 1), datetime.date(1850, 5, 17), datetime.date(9999, 12, 31), None]
            * (N // 4),
            "far": pa.array([0, 9 * 10**12, -9 * 10**12, None] * (N // 4), pa.timestamp("s")),
            "missing": pa.nulls(N, pa.float64()),
            "same": ["the same text"] * N,
            **{f"column {i}": np.arange(N) * i for i in range(500)},
        }
    )


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    rng = np.random.default_rng(0)
    facts = table()
    A = np.triu(rng.random((N, N)) < 0.1, 1).astype(float)
    graph = Graph(A + A.T, rng.normal(size=(N, 6)), ids=facts["id"].to_pylist())
    names = [name for name in facts.column_names[1:] if name != "missing"]
    columns = columns_of_table(facts, graph.id_array, names)
    data = collect(embed(graph, n_hops=3), graph, columns=columns, title=LONG, n_clusters=1, replay=False)
    path = tmp_path_factory.mktemp("odd") / "odd.html"
    write_page(data, path)
    browser.resize(1280, 800)
    browser.open(path)
    yield browser
    assert browser.errors() == []


def test_every_value_is_shown_as_it_is(opened):
    values = {}
    for node in range(5):
        opened.run("document.getElementById('search').value = ''")
        opened.run("nafs.map.onSelect(arguments[0])", node)
        opened.wait(f"document.documentElement.dataset.selected === nafs.data.ids[{node}]")
        rows = opened.run(
            "return [...document.querySelectorAll('#node tr')]"
            ".map(e => [...e.children].map(c => c.textContent))"
        )
        values[node] = dict(rows)
    shown = {title: [values[node][title] for node in range(5)] for title in values[0]}
    assert shown["huge"] == ["1.000e+308", "-1.000e+308", "4.94e-324", "Infinity", "unknown"]
    assert shown["large"] == ["9.007e+15", "123456789", "0", "-7", "unknown"]
    assert shown["fraction"] == ["0.1", "0.333", "1.00e-9", "12,346", "unknown"]
    assert shown["old"] == ["0001-01-01", "1850-05-17", "9999-12-31", "unknown", "0001-01-01"]
    assert shown["category"] == ODD[:5]
    assert shown["text"][:4] == [f"{ODD[i]} {i}" for i in range(4)]
    assert len(shown) > 500


def test_every_column_can_be_coloured_and_filtered(opened):
    titles = ["category", "huge", "large", "fraction", "old", "far", "same"]
    for title in titles:
        opened.choose("colour", title)
    opened.click("#tab-filter")
    assert opened.run("return document.querySelectorAll('#filters > section').length") > 500
    assert opened.run("return document.documentElement.scrollWidth") <= 1280
    index = opened.run("return nafs.data.columns.findIndex(c => c.title === 'huge')")
    opened.run(
        "const e = document.getElementById(arguments[0]);"
        "e.value = '1e300'; e.dispatchEvent(new Event('change'))",
        f"filter{index}-from",
    )
    assert opened.kept() == 16
    opened.click("#clear")
    opened.click("#clusterlist button")
    assert opened.kept() == N
    opened.click("#clear")


def test_long_names_leave_room_for_the_rest(opened):
    opened.run("nafs.map.onSelect(6)")
    opened.wait("document.documentElement.dataset.selected === nafs.data.ids[6]")
    assert opened.run("return document.getElementById('chosen').offsetHeight") < 140
    assert opened.run("return document.querySelector('header').offsetHeight") < 60
    assert opened.run("return document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize("n", [1, 2, 3])
def test_hardly_any_nodes(browser, tmp_path, n):
    graph = Graph(np.zeros((n, n)), np.eye(n, 2))
    write_page(collect(embed(graph, n_hops=2), graph), tmp_path / "few.html")
    browser.open(tmp_path / "few.html")
    browser.run("nafs.map.onSelect(0)")
    browser.wait("nafs.state.selected === 0 && document.querySelectorAll('#node .head').length")
    assert browser.errors() == []
    places = browser.run("const m = nafs.map; return m.onScreen(m.placeOf(0))")
    assert 0 <= places[0] <= 920


@pytest.mark.parametrize("name", ["\u202egnp.exe", "שלום עולם", "\u2067abc\u2069\u202e"])
def test_names_do_not_turn_the_sentences_around_them(browser, tmp_path, name):
    graph = Graph(np.zeros((4, 4)), np.eye(4, 2))
    data = collect(embed(graph, n_hops=2), graph, n_clusters=1, replay=False)
    data["clusters"]["list"][0]["words"] = f"25 % have {name} (7 %)"
    write_page(data, tmp_path / "turned.html")
    browser.resize(1280, 800)
    browser.open(tmp_path / "turned.html")
    first, percent, bracket = browser.run(
        "const text = document.querySelector('#clusterlist .explain').firstChild, range = new Range();"
        "return ['25', '7', '('].map(part => { const at = text.data.indexOf(part);"
        "range.setStart(text, at); range.setEnd(text, at + 1); return range.getBoundingClientRect().left; })"
    )
    assert first < bracket < percent, "as it would be with a plain name"
    shown = browser.text("clusterlist")
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e"), "no character that turns text"
