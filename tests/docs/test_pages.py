"""What the documentation shows works: its Python blocks run, and the tutorial's commands end well."""

import re
import shlex
from pathlib import Path

import pytest
from command import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]


def blocks(page, kind):
    return re.findall(rf"```{kind}\n(.*?)```", page.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.stem
)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    pytest.importorskip("skrub")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), names)


def test_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("skrub")
    monkeypatch.chdir(tmp_path)
    lines = [
        line.removeprefix("$ ")
        for block in blocks(ROOT / "docs" / "start.md", "console")
        for line in block.splitlines()
    ]
    assert len(lines) > 6
    for line in lines:
        words = shlex.split(line)
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
            continue
        assert words[0] == "nafs"
        assert run(*words[1:]) == 0, f"{line}: {capsys.readouterr().err}"
    assert Path("clusters.csv").exists()
    assert Path("clusters.clusters.csv").exists()
    assert Path("topics.csv").exists()
