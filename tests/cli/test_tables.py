"""Tables in a pipe: whole lines, and CSV or JSON for programs."""

import csv
import io
import json

import numpy as np
import pytest
from command import run, spawn
from rich.console import Console

from nafs.cli import console

LONG = "a-very-long-node-id-" * 8


@pytest.fixture
def long_ids(place):
    lines = [f"{LONG}{i},{LONG}{(i + 1) % 6}" for i in range(6)]
    (place / "long.csv").write_text("\n".join(["source,target", *lines]))
    assert run("embed", "long.csv", "-o", "z.npy", "--hops", "2", "-q") == 0


def test_a_piped_table_is_never_wrapped(long_ids):
    done = spawn("similar", "z.npy", f"{LONG}0", "-k", "3")
    assert done.returncode == 0
    header, *lines = done.stdout.decode().splitlines()
    assert header.split() == ["id", "rank", "neighbor", "score"]
    assert len(lines) == 3
    for line in lines:
        node, _, neighbor, _ = line.split()
        assert node == f"{LONG}0"
        assert neighbor.startswith(LONG)
    assert all(line == line.rstrip() for line in lines)


def test_a_terminal_gets_a_table_of_its_width(capsys):
    screen = io.StringIO()
    console.print_table([(LONG, "1")], on=Console(file=screen, force_terminal=True, width=60))
    assert len(screen.getvalue().splitlines()) > 2


def test_wide_characters_keep_columns_aligned(capsys):
    console.print_table([("猫", "1"), ("abcd", "2")], ("id", "n"))
    assert capsys.readouterr().out == "id    n\n猫    1\nabcd  2\n"


TABLES = {
    "describe": ("describe", "e.csv", "-f", "f.csv"),
    "plan": ("plan", "e.csv", "-f", "f.csv", "--hops", "2"),
    "similar": ("similar", "z.npy", "ann", "-k", "2"),
    "suggest-links": ("suggest-links", "e.csv", "-f", "f.csv", "--hops", "2", "-k", "2"),
    "evaluate": ("evaluate", "g", "--task", "clustering", "--seeds", "1", "--hops", "2"),
    "datasets list": ("datasets", "list"),
    "datasets info": ("datasets", "info", "digits"),
    "reproduce list": ("reproduce", "list"),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_comes_as_text_csv_and_json(place, capsys, name):
    words = TABLES[name]
    if name == "similar":
        assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.npy", "-q") == 0
    if name == "evaluate":
        from nafs.datasets import contextual_sbm

        contextual_sbm(60, n_classes=2).save("g")
    assert run(*words, "-q") == 0
    text = capsys.readouterr()
    assert text.err == ""
    assert run(*words, "-q", "--csv") == 0
    table = capsys.readouterr()
    assert table.err == ""
    header, *lines = list(csv.reader(io.StringIO(table.out)))
    assert len(lines) >= 1
    assert {len(line) for line in lines} == {len(header)}
    assert run(*words, "--json") == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    facts = json.loads(shown.out)
    if isinstance(facts, list):
        assert [list(map(str, record.values())) for record in facts] == [
            [word or "None" for word in line] for line in lines
        ]
    else:
        assert "notes" in facts


def test_numbers_in_csv_are_exact(place, capsys):
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.npy", "-q") == 0
    assert run("similar", "z.npy", "ann", "--csv") == 0
    scores = [float(row["score"]) for row in csv.DictReader(io.StringIO(capsys.readouterr().out))]
    matrix = np.load("z.npy")
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    np.testing.assert_allclose(scores, sorted((unit @ unit[0])[1:], reverse=True), rtol=1e-6)
