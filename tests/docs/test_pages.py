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
EXECUTED = ("README.md", "docs/start.md", "docs/guides/memory.md")  # their commands are run, not only parsed
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


@pytest.mark.parametrize("page", with_blocks("console", lambda name: name in EXECUTED))
def test_commands_end_well(page, tmp_path, monkeypatch, capsys):
    pytest.importorskip("skrub")
    monkeypatch.chdir(tmp_path)
    edges = nafs.datasets.power_law(300, average_degree=4, n_features=8, seed=0)
    nafs.writers.write_graph(edges, tmp_path / "edges.parquet")
    np.save("features.npy", edges.features.toarray())
    for words in commands(page):
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
        elif words[0] == "nafs":
            assert run(*words[1:]) == 0, f"{words}: {capsys.readouterr().err}"
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
