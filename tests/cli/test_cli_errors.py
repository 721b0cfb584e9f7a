"""Bad input is one clear line and exit code 2."""

import gzip
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from command import run, spawn

from nafs import Graph


def parquet_cut_short(path):
    pq.write_table(pa.table({"source": ["a"] * 500, "target": ["b"] * 500}), path)
    path.write_bytes(path.read_bytes()[:-20])


BAD_EDGES = {
    "ragged": ("e.csv", "a,b\nb,c\nc\n", "line 3: 1 instead of 2 columns"),
    "too long": ("e.csv", "a,b\nb,c,d\n", "line 2: 3 instead of 2 columns"),
    "words for weights": (
        "e.csv",
        "s,t,weight\na,b,1\nb,c,heavy\n",
        "line 3: 'heavy' in column 'weight' is not a number",
    ),
    "negative weight": ("e.csv", "s,t,weight\na,b,1\nb,c,-2\n", "line 3 ('b' → 'c'): the weight is -2.0"),
    "missing weight": ("e.csv", "s,t,weight\na,b,1\nb,c,\n", "line 3 ('b' → 'c'): the weight is missing"),
    "missing id": ("e.csv", "source,target\na,b\n,c\n", "e.csv, line 3: the source id is missing"),
    "cut Parquet": ("e.parquet", parquet_cut_short, "damaged or incomplete Parquet file"),
    "no Parquet": ("e.parquet", b"hello", "damaged or incomplete Parquet file"),
    "garbage": ("e.csv", bytes(range(128, 256)) * 20, "not UTF-8"),
    "Latin-1": ("e.csv", "a,b\ncafé,b\n".encode("latin-1"), "line 2: this is not UTF-8"),
    "empty": ("e.csv", "", "the file is empty"),
    "comments only": ("e.csv", "# nothing\n# here\n", "all of its lines start with a comment sign"),
    "header only": ("e.csv", "source,target\n", "there are no edges in it"),
    "header twice": ("e.csv", "source,target\na,b\nsource,target\nb,c\n", "data row 2 repeats the header"),
    "names twice": ("e.csv", "source,source\na,b\n", "names the column 'source' twice"),
    "one column": ("e.csv", "a\nb\n", "found one column where an edge list needs two"),
    "open quote": ("e.csv", 'a,b\n"c,d\n', "e.csv"),
    "no matrix": ("e.npz", b"PK nonsense", "is not a complete .npz archive"),
    "no MatrixMarket": (
        "e.mtx",
        "%%MatrixMarket nonsense\n",
        "line 1 is not the header of a MatrixMarket matrix",
    ),
    "cut GraphML": ("e.graphml.gz", gzip.compress(b"<graphml>" * 999)[:40], "cannot be read as GraphML"),
    "no GraphML": ("e.graphml", "<graphml><node", "cannot be read as GraphML"),
    "not square": (
        "e.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 1.0\n",
        "must be square",
    ),
}


@pytest.mark.parametrize("name", BAD_EDGES)
def test_bad_edges_get_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    file, content, message = BAD_EDGES[name]
    if callable(content):
        content(tmp_path / file)
    else:
        (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert run("embed", file, "-o", "z.csv") == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert file in shown
    assert shown.count("\n") == 1
    assert os.listdir() == [file]


BAD_FEATURES = {
    "ids missing": ("f.csv", "id,a\nann,1\nbob,2\ncy,3\n", "1 of 4 nodes have no row in it ('dee')"),
    "unknown ids": ("f.csv", "id,a\nx,1\ny,2\n", "none of its ids ('x', 'y') is among the edges' ids"),
    "words": (
        "f.csv",
        "id,a\nann,1\nbob,many\ncy,3\ndee,4\n",
        "'many' in column 'a' is not a number, but most",
    ),
    "infinite": (
        "f.csv",
        "id,a\nann,1\nbob,inf\ncy,3\ndee,4\n",
        "line 3: the feature 'a' is missing, infinite",
    ),
    "twice": ("f.csv", "id,a\nann,1\nbob,1\nann,2\n", "id 'ann' occurs 2 times (rows 1 and 3)"),
    "no rows": ("f.csv", "id,a\n", "the table has no rows"),
    "matrix for named nodes": ("f.npy", np.eye(4), "rows are nodes 0..3, but e.csv names 'ann'"),
    "pickle": ("f.npy", np.array([{"a": 1}], dtype=object), "pickled objects, which are not opened"),
}


@pytest.mark.parametrize("name", BAD_FEATURES)
def test_bad_features_get_one_line_and_exit_code_2(place, capsys, name):
    file, content, message = BAD_FEATURES[name]
    if isinstance(content, str):
        Path(file).write_text(content)
    else:
        np.save(file, content, allow_pickle=True)
    assert run("embed", "e.csv", "-f", file, "-o", "z.csv") == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
    assert not Path("z.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("embed nowhere.csv -o z.csv", "no such file: nowhere.csv"),
        ("embed part-*.csv -o z.csv", "no file matches part-*.csv"),
        ("embed e.csv -f nowhere.csv -o z.csv", "no such file: nowhere.csv"),
        ("embed e.csv -o z.xlsx", "embeddings are written as"),
        ("embed e.csv -o nowhere/z.csv", "does not exist; create it first"),
        ("embed . -o z.csv", "is a folder but not a saved graph"),
        ("embed e.csv -o z.csv --hops x", "--hops must be a whole number or auto; got 'x'"),
        ("embed e.csv -o z.csv --hops -1", "--hops must be 0 or more; got -1"),
        ("embed e.csv -o z.csv --r 0,x", "--r must be numbers separated by commas"),
        ("embed e.csv -o z.csv --r 2", "r must lie in [0, 1]"),
        ("embed e.csv -o z.csv --threads 0", "--threads must lie in 1..1024"),
        ("embed e.csv -o z.csv --ensemble sum", "--ensemble must be one of"),
        ("embed e.csv -o z.csv --memory-limit lots", "--memory-limit must look like"),
        ("embed e.csv -o z.csv --memory-limit 1kB", "than the --memory-limit of 1 kB"),
        ("embed e.csv -o z.csv --layout heap", "--layout must be one of"),
        ("embed e.csv -o z.csv --source nope", "no column 'nope' for the source"),
        ("describe e.csv --source memory_limit", "no column 'memory_limit' for the source"),
        ("embed e.csv -o e.csv", "e.csv exists already; choose another name, or overwrite it with --force"),
        ("embed e.csv -o z.csv --distance euclidean --directed", "with no --directed, or, for an embedding"),
        ("suggest-links e.csv --directed", "with no --directed"),
        ("embed e.csv -o z.csv --half-output", "--half-output is for .npy, .parquet and .feather files"),
        ("embed e.csv -o z.npy --scheduler x --engine disk", "--scheduler is for --engine dask; got disk"),
        ("similar e.csv", "name at least one node, or use --all"),
        ("similar e.csv --all", "name a file with --output"),
        ("describe e.csv --csv --json", "choose one of --json and --csv"),
        ("datasets info nope", "unknown data set 'nope'"),
        (
            "suggest-links e.csv --embedding z.npy --hops 3",
            "--hops has no effect: the vectors",
        ),
        ("suggest-links e.csv --resume", "--resume needs the folder of the interrupted run: --work-dir"),
        (
            "report e.csv --graph e.csv --ensemble max",
            "--ensemble has no effect: e.csv is",
        ),
        ("evaluate digits --source a", "--source has no effect: digits is a data set"),
        ("embed - -f - -o z.csv", "only one of EDGES, --features and --labels"),
        ("embed e.csv -o - --json", "--json and the embedding cannot both go to stdout"),
        ("convert e.csv z.docx", "graphs are written as"),
    ],
)
def test_bad_requests_get_one_line_and_exit_code_2(place, capsys, words, message):
    before = sorted(os.listdir())
    assert run(*words.split()) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    "words", ["nonsense", "embed e.csv", "embed e.csv -o z.csv --threads many", "embed --nope"]
)
def test_usage_errors_are_exit_code_2(place, capsys, words):
    assert run(*words.split()) == 2
    assert "Error" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_no_permission(place, capsys):
    Path("e.csv").chmod(0)
    assert run("embed", "e.csv", "-o", "z.csv") == 2
    assert "ermission" in capsys.readouterr().err
    Path("closed").mkdir(mode=0o500)
    assert run("embed", "f.csv", "-o", "closed/z.csv") == 2
    assert "no permission to write" in capsys.readouterr().err


def test_no_permission_is_said_in_one_line(place, capsys, monkeypatch):
    real = Path.open

    def closed(self, *arguments, **options):
        if self.name == "e.csv":
            raise PermissionError(13, "Permission denied", str(self))
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", closed)
    assert run("embed", "e.csv", "-o", "z.csv") == 2
    shown = capsys.readouterr().err
    assert "Permission denied: 'e.csv'" in shown
    assert shown.count("\n") == 1


def test_debug_shows_the_traceback(place):
    done = spawn("embed", "nowhere.csv", "-o", "z.csv", "--debug")
    assert b"Traceback" in done.stderr
    assert done.returncode == 2
    assert b"Traceback" not in spawn("embed", "nowhere.csv", "-o", "z.csv").stderr


@pytest.mark.parametrize("kind", [ValueError, TypeError, KeyError, RuntimeError, AssertionError])
def test_anything_unexpected_is_a_bug_of_ours(place, capsys, monkeypatch, kind):
    def broken(self):
        raise kind("the memory_limit of the n_hops")

    monkeypatch.setattr(Graph, "describe", broken)
    assert run("describe", "e.csv", "-q") == 1
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert "bug in nafs" in text
    assert f"{kind.__name__}: " in text
    assert "the memory_limit of the n_hops" in text
    assert "--debug" in text
    assert run("--debug", "describe", "e.csv", "-q") == 1
    assert "in broken" in capsys.readouterr().err


def test_too_little_memory_is_no_bug(place, capsys, monkeypatch):
    def full(self):
        raise MemoryError

    monkeypatch.setattr(Graph, "describe", full)
    assert run("describe", "e.csv", "-q") == 2
    assert capsys.readouterr().err == "error: not enough memory\n"


def test_an_error_about_stdin_names_stdin():
    done = spawn("describe", "-", "--source", "nope", input=b"source,target\na,b\n")
    assert done.returncode == 2
    assert "error: stdin: no column 'nope'" in done.stderr.decode()


def test_labels_of_other_nodes_are_refused_by_their_own_header(place, capsys):
    Path("wrong.csv").write_text("kunde,segment\nx1,gold\nx2,tin\nx3,tin\n")
    assert run("classify", "e.csv", "-f", "f.csv", "--labels", "wrong.csv") == 2
    shown = capsys.readouterr().err
    for words in ("'kunde', 'segment'", "'ann'", "'x1'"):
        assert words in shown
    Path("wrong.csv").write_text("ann,gold\nbob,tin\nann,tin\n")  # its first line is no header
    assert run("classify", "e.csv", "-f", "f.csv", "--labels", "wrong.csv") == 2


def test_swapped_files_are_noticed(place, capsys):
    assert run("embed", "f.csv", "-f", "e.csv", "-o", "z.csv") == 2
    assert "are f.csv and e.csv swapped?" in capsys.readouterr().err
    assert run("embed", "e.csv", "-f", "e.csv", "-o", "z.csv") == 2
    assert "swapped" not in capsys.readouterr().err


def test_describe_counts_nodes_without_features(place, capsys):
    Path("few.csv").write_text("id,a\nann,1\nbob,2\n")
    assert run("describe", "e.csv", "-f", "few.csv") == 0
    shown = capsys.readouterr()
    assert "2 of 4 nodes have no features" in shown.err
    assert run("embed", "e.csv", "-f", "few.csv", "-o", "z.csv") == 2


@pytest.mark.parametrize(
    ("wrong", "likely"), [("C-42", "'C-0042'?"), ("c0042", "'C-0042'?"), ("42", "'C-0042'?"), ("Z-9", None)]
)
def test_an_id_in_another_spelling_is_suggested(tmp_path, monkeypatch, capsys, wrong, likely):
    monkeypatch.chdir(tmp_path)
    rows = [f"C-{number:04},{number % 7},1" for number in (1, 42, 420, 1042, 1492)]
    Path("z.csv").write_text("id,0,1\n" + "\n".join(rows) + "\n")
    assert run("similar", "z.csv", wrong) == 2
    shown = capsys.readouterr().err
    assert f"unknown id '{wrong}'" in shown
    assert (f"did you mean {likely}" in shown) if likely else ("did you mean" not in shown)
