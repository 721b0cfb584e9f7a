"""Ids, names and notes are printed without control characters: none of them can drive a terminal."""

import io
import json
import os
import pty
import subprocess
import sys
import time

import pytest
from command import run
from rich.console import Console

from nafs._support.printable import printable
from nafs.cli import console

HOSTILE = [
    "\x1b[2Jclear",
    "\x1b]0;title\x07",
    "\x9b31mred",
    "line\x0bfeed",
    "abc\u202edcba",
    "del\x7f",
    "cr\rx",
]
ENDS = ["\x1b", "\x9b", "\x07", "\x0b", "\u202e", "\x7f"]


def clean(text):
    return not any(sign in text for sign in ENDS)


@pytest.mark.parametrize("text", HOSTILE)
def test_control_characters_are_spelled_out(text):
    assert printable(text).isprintable()
    assert printable(text).encode().decode("unicode_escape") == text
    assert printable("plain café 水 👩‍👩‍👧") == "plain café 水 👩‍👩‍👧"


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """An edge table with hostile ids, and node features whose columns and classes are hostile too."""
    monkeypatch.chdir(tmp_path)
    ids = [*HOSTILE[:3], *HOSTILE[4:6], *(f"n{i}" for i in range(7))]
    edges = [f'"{a}","{b}"' for i, a in enumerate(ids) for b in ids[i + 1 : i + 4]]
    (tmp_path / "e.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    rows = [f'"{name}",{i},{i % 3},{"AB"[i % 2]}\x1b[31m' for i, name in enumerate(ids)]
    (tmp_path / "f.csv").write_text("id,x,\x1b[1my,label\n" + "\n".join(rows) + "\n")
    return tmp_path


COMMANDS = {
    "describe": ["describe", "e.csv", "-f", "f.csv"],
    "embed": ["embed", "e.csv", "-f", "f.csv", "--hops", "2", "-o", "z.parquet", "--force"],
    "similar": ["similar", "z.parquet", "n1"],
    "suggest-links": ["suggest-links", "e.csv", "--embedding", "z.parquet", "-k", "5", "--score", "cosine"],
    "cluster": ["cluster", "e.csv", "-f", "f.csv", "--clusters", "2", "--hops", "2"],
    "unknown column": ["describe", "e.csv", "-f", "f.csv", "--id", "\x1b[5m"],
    "unknown file": ["describe", "\x1b[5m.csv"],
    "unknown id": ["similar", "z.parquet", "\x1b[5m"],
    "bad weight": ["describe", "e.csv", "--weight", "target"],
}


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]])
def test_commands_print_no_control_characters(hostile, capsys, form):
    run("embed", "e.csv", "-f", "f.csv", "--hops", "2", "-o", "z.parquet")
    capsys.readouterr()
    for name, words in COMMANDS.items():
        run(*words, *form)
        output, errors = capsys.readouterr()
        assert clean(errors), (name, errors)
        assert clean(output) or form == ["--csv"], (name, output)
        if form == ["--json"] and output:
            json.loads(output)


def test_tables_on_a_terminal(monkeypatch):
    file = io.StringIO()
    terminal = Console(file=file, force_terminal=True, color_system=None)
    monkeypatch.setattr(console, "results", terminal)
    console.print_table([[text, "1"] for text in HOSTILE], ["\x1b[2Jid", "n"], on=terminal)
    console.print_csv([{"id": text} for text in HOSTILE])
    assert clean(file.getvalue())
    assert "\\x1b[2Jclear" in file.getvalue()


def test_csv_in_a_pipe_keeps_ids_as_they_are(hostile, capsys):
    run("embed", "e.csv", "-f", "f.csv", "--hops", "2", "-o", "z.parquet")
    capsys.readouterr()
    run("similar", "z.parquet", "n0", "--csv", "-k", "11")
    assert "\x1b[2Jclear" in capsys.readouterr().out


def test_a_real_terminal(hostile):
    main, end = pty.openpty()
    command = [sys.executable, "-m", "nafs", "describe", "e.csv", "--weight", "target"]
    with subprocess.Popen(command, stdout=end, stderr=end, env=os.environ | {"NO_COLOR": "1"}) as process:
        os.close(end)
        shown = b""
        while True:
            try:
                shown += os.read(main, 4096)
            except OSError:  # the terminal was hung up
                break
    os.close(main)
    assert process.returncode == 2
    assert b"error:" in shown
    assert b"]0;title" in shown
    assert b"\x1b]0;title" not in shown


def test_long_work_without_a_terminal_says_what_is_known_and_what_is_running(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(console, "messages", Console(file=file, force_terminal=False))
    run = console.Run()
    with run.stage("read"):
        pass
    assert file.getvalue() == ""  # quick
    run.notes.append("two columns were left aside")
    monkeypatch.setattr(console, "LONG", 0.01)
    with run.stage("smooth"):
        deadline = time.monotonic() + 30
        while "smooth ..." not in file.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert file.getvalue() == "note: two columns were left aside\nsmooth ...\n"
    run.say_notes()
    assert file.getvalue().count("note:") == 1
    silent = console.Run(quiet=True, notes=["unread"])
    with silent.stage("smooth"):
        time.sleep(0.05)
    assert "unread" not in file.getvalue()
