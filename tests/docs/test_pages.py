"""What the documentation shows works: its Python runs, its commands exist, and the tutorial's end well."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from command import run

import nafs

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BUILT = ("_build", "examples_built", "api")
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(page for page in DOCS.rglob("*.md") if not set(BUILT) & set(page.relative_to(DOCS).parts)),
]
KINDS = ("python", "console", "text", "{toctree}", "{eval-rst}", "{include}")  # text: output and drawings
OPTIONAL = ("distributed", "duckdb", "networkx", "pandas", "lancedb", "torch", "torch_geometric")
SLOW = ("docs/gallery.md",)  # python tools/gallery.py runs it as well


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)


def commands(page):
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    assert all(line.startswith("$ ") for line in lines), f"{name_of(page)}: not a command"
    for line in lines:
        words = shlex.split(line.removeprefix("$ "), comments=True)
        while "&&" in words:
            yield words[: words.index("&&")]
            words = words[words.index("&&") + 1 :]
        yield words


def with_blocks(kind, only=lambda name: True):
    return [
        pytest.param(page, id=name_of(page), marks=[pytest.mark.slow] if name_of(page) in SLOW else [])
        for page in PAGES
        if blocks(page, kind) and only(name_of(page))
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_kind_that_is_tested(page):
    fences = re.findall(r"^`{3,4}(\S*)", page.read_text(encoding="utf-8"), re.M)
    assert all(kind in KINDS for kind in fences[::2]), fences[::2]
    assert not any(fences[1::2]), "a block is not closed"


@pytest.mark.parametrize("page", with_blocks("python"))
def test_python_blocks_run(page, tmp_path, monkeypatch):
    pytest.importorskip("skrub")
    code = blocks(page, "python")
    for module in OPTIONAL:
        if re.search(rf"^(?:import|from) {module}\b", "\n".join(code), re.M):
            pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in code:
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("page", with_blocks("console"))
def test_commands_exist_with_the_options_shown(page):
    import typer

    from nafs.cli.app import app

    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    for words in commands(page):
        program, *arguments = words
        if program == "make":
            assert arguments[0] in targets, words
        elif program in ("python", ".venv/bin/python"):
            assert (ROOT / arguments[0]).exists(), words
        elif program == "nafs":
            command = typer.main.get_command(app)
            while hasattr(command, "commands"):
                command = command.commands[arguments.pop(0)]
            command.make_context(words[1], arguments, resilient_parsing=False).close()
        else:
            assert program in ("pip", "cd", "chromium", ".venv/bin/pre-commit"), words


def runs_nafs(name):
    return any(words[0] == "nafs" for words in commands(ROOT / name))


def prepare_files():
    """Files that commands of the documentation take for granted."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    graph = nafs.datasets.power_law(300, average_degree=4, n_features=8, seed=0)
    graph.save("graph")
    for name in ("edges.parquet", "edges.csv"):
        nafs.writers.write_graph(graph, name)
    np.save("features.npy", graph.features.toarray())
    nafs.embed(graph, n_hops=2).write("embedding.parquet")
    pq.write_table(pa.table({"id": range(300), "city": ["Oslo", "Rome"] * 150}), "people.parquet")


@pytest.fixture
def scheduler():
    """The address of a cluster, by the name that the documentation gives it."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield {"tcp://10.0.0.1:8786": cluster.scheduler_address, "/shared/work": "work"}


@pytest.mark.parametrize("page", with_blocks("console", runs_nafs))
def test_commands_end_well(page, tmp_path, monkeypatch, capsys, request):
    pytest.importorskip("skrub")
    monkeypatch.chdir(tmp_path)
    prepare_files()
    stands_for = request.getfixturevalue("scheduler") if page.name == "dask.md" else {}
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    monkeypatch.setattr("nafs.report.server.PageServer.serve_forever", lambda self: None)
    for words in commands(page):
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
        elif words[0] == "nafs":
            arguments = [stands_for.get(word, word) for word in words[1:]]
            assert run(*arguments) == 0, f"{words}: {capsys.readouterr().err}"
            output = words[words.index("-o") + 1] if "-o" in words else "."
            assert Path(output).exists(), words


def test_the_reference_has_every_public_name():
    sys.path.insert(0, str(DOCS))
    try:
        import generated_pages as pages
    finally:
        sys.path.remove(str(DOCS))
    listed = re.findall(r"^   (\w+)$", (DOCS / "reference" / "api.md").read_text(), re.M)
    assert sorted(listed) == sorted(nafs.__all__)
    text = pages.packages()
    for package in ("datasets", "model", "links", "pictures"):
        module = getattr(nafs, package, None) or __import__(f"nafs.{package}", fromlist=["x"])
        for name in pages.public_names(module):
            assert re.search(rf"(^   {name}$|`{name}`)", text, re.M), f"nafs.{package}.{name}"
    options = pages.commands()
    assert all(f"## nafs {name}\n" in options for name in ("embed", "plan", "cluster", "datasets list"))
    assert "`--memory-limit`" in options
    pytest.importorskip("numpydoc")
    assert "| `memory_limit` |" in pages.settings()
