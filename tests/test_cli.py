"""The command line as a person meets it: results, summaries, one clear line and exit code 2 for bad input."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from nafs import Graph, embed, read_graph
from nafs.cli.main import main

EDGES = "source,target,weight\nann,bob,1\nbob,cy,2\ncy,dee,0.5\n"
FEATURES = "id,a,b,label\nann,1,0,red\nbob,0,1,blue\ncy,1,1,red\ndee,2,0,\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text(EDGES)
    (tmp_path / "f.csv").write_text(FEATURES)
    return tmp_path


def run(*words):
    """Exit code of a command in this process."""
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code


def spawn(*words, **options):
    return subprocess.run([sys.executable, "-m", "nafs", *words], capture_output=True, check=False, **options)


def expected():
    return embed(read_graph("e.csv", "f.csv"))


# --- embed ------------------------------------------------------------------------------------------------


def test_parquet_has_ids_labels_and_vectors(place, capsys):
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.parquet") == 0
    table = pq.read_table("z.parquet")
    assert table.column_names == ["id", "label", "embedding"]
    assert table.schema.field("embedding").type == pa.list_(pa.float32(), 2)
    assert table["id"].to_pylist() == ["ann", "bob", "cy", "dee"]
    assert table["label"].to_pylist() == ["red", "blue", "red", None]
    np.testing.assert_array_equal(np.array(table["embedding"].to_pylist(), np.float32), expected().matrix)
    shown = capsys.readouterr().err
    for word in (
        "nodes",
        "4",
        "edges",
        "3",
        "dimensions",
        "z.parquet",
        "read",
        "smooth",
        "write",
        "peak memory",
    ):
        assert word in shown
    assert "weights come from column 'weight'" in shown


def test_other_forms_of_output(place):
    want = expected().matrix
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z2.parquet", "--layout", "columns", "-q") == 0
    columns = pq.read_table("z2.parquet")
    assert columns.column_names == ["id", "label", "e0", "e1"]
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.csv", "-q") == 0
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.tsv.gz", "-q") == 0
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.npy", "-q") == 0
    text = pyarrow.csv.read_csv("z.csv")
    tabs = pyarrow.csv.read_csv(
        io.BytesIO(gzip.decompress(Path("z.tsv.gz").read_bytes())),
        parse_options=pyarrow.csv.ParseOptions(delimiter="\t"),
    )
    for table in (columns, text, tabs):
        assert table["id"].to_pylist() == ["ann", "bob", "cy", "dee"]
        found = np.column_stack([table["e0"].to_numpy(), table["e1"].to_numpy()]).astype(np.float32)
        np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(np.load("z.npy"), want)
    assert Path("z.ids.csv").read_text().splitlines()[:2] == ['"id","label"', '"ann","red"']


def test_settings_reach_the_method(place):
    words = (
        "--hops 3 --r 0.5 --ensemble concat --weighting average --threads 1 --memory-limit 1GB --float16 -q"
    )
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.npy", *words.split()) == 0
    want = embed(
        read_graph("e.csv", "f.csv"),
        n_hops=3,
        r=0.5,
        ensemble="concat",
        weighting="average",
        state_dtype="float16",
    )
    np.testing.assert_array_equal(np.load("z.npy"), want.matrix)


def test_a_graph_without_features_gets_structural_ones(place, capsys):
    assert run("embed", "e.csv", "-o", "z.npy", "--columns", "8") == 0
    assert np.load("z.npy").shape == (4, 8)
    assert "8 structural features" in capsys.readouterr().err


def test_json_summary_is_all_there_is_on_stdout(place, capsys):
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.npy", "--json") == 0
    shown = capsys.readouterr()
    facts = json.loads(shown.out)
    assert (facts["nodes"], facts["edges"], facts["dimensions"]) == (4, 3, 2)
    assert set(facts["seconds"]) == {"read", "smooth", "write"}
    assert facts["peak_memory"] > 0
    assert shown.err == ""


def test_nodes_without_features_can_have_zeros(place, capsys):
    Path("f.csv").write_text("id,a\nann,1\nbob,2\ncy,3\n")
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.npy", "--missing", "zeros") == 0
    assert np.load("z.npy").shape == (4, 1)
    assert "1 of 4 nodes have no features and get zeros ('dee')" in capsys.readouterr().err


def test_quiet_is_quiet(place, capsys):
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.npy", "--quiet") == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_a_pipeline_reads_stdin_and_writes_stdout(place):
    done = spawn("embed", "-", "-f", "f.csv", "-o", "-", input=EDGES.encode())
    assert done.returncode == 0
    table = pyarrow.csv.read_csv(io.BytesIO(done.stdout))
    assert table["id"].to_pylist() == ["ann", "bob", "cy", "dee"]
    assert b"nodes" in done.stderr
    packed = spawn("describe", "-", "--json", input=gzip.compress(EDGES.encode()))
    assert json.loads(packed.stdout)["edges"] == 3
    sink = io.BytesIO()
    pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), sink)
    assert json.loads(spawn("describe", "-", "--json", input=sink.getvalue()).stdout)["nodes"] == 2


def test_a_reader_that_goes_away_is_no_traceback(place):
    many = "source,target\n" + "".join(f"a{i},b{i}\n" for i in range(3000))
    process = subprocess.Popen(
        [sys.executable, "-m", "nafs", "embed", "-", "-o", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(many.encode())
    process.stdin.close()
    process.stdout.read(10)
    process.stdout.close()
    shown = process.stderr.read().decode()
    process.stderr.close()
    process.wait()
    assert "Traceback" not in shown


# --- what must not be lost --------------------------------------------------------------------------------


def test_nothing_is_overwritten_unless_told(place, capsys):
    Path("z.csv").write_text("precious")
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.csv") == 2
    assert "exists already" in capsys.readouterr().err
    assert Path("z.csv").read_text() == "precious"
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.csv", "--force", "-q") == 0
    assert "ann" in Path("z.csv").read_text()


def test_a_file_that_appears_meanwhile_is_left_alone(place):
    from nafs.atomic import whole_file

    def write():
        with whole_file(place / "late.csv", force=False) as part:
            part.write_text("ours")
            (place / "late.csv").write_text("theirs")

    with pytest.raises(FileExistsError, match="appeared meanwhile"):
        write()
    assert (place / "late.csv").read_text() == "theirs"
    (place / "link.csv").symlink_to(place / "late.csv")
    with whole_file(place / "link.csv", force=True) as part:
        part.write_text("through the link")
    assert (place / "late.csv").read_text() == "through the link"
    assert (place / "link.csv").is_symlink()
    assert not list(place.glob(".*.part"))


def test_a_full_disk_leaves_nothing_behind(place, capsys, monkeypatch):
    class Full(pyarrow.csv.CSVWriter):
        def write_table(self, *_):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(pyarrow.csv, "CSVWriter", Full)
    before = sorted(os.listdir())
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.csv") == 2
    assert "No space left on device" in capsys.readouterr().err
    assert sorted(os.listdir()) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_behind_stdout(place):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "nafs", "embed", "e.csv", "-o", "-"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_interrupt_leaves_no_half_written_output(place):
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 60_000, (600_000, 2))
    np.savetxt("big.csv", ends, fmt="%d", delimiter=",")
    before = sorted(os.listdir())
    process = subprocess.Popen(
        [sys.executable, "-m", "nafs", "embed", "big.csv", "-o", "z.csv", "--hops", "2000"],
        stderr=subprocess.PIPE,
    )
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    start = time.perf_counter()
    shown = process.communicate(timeout=60)[1].decode()
    assert time.perf_counter() - start < 20
    assert process.returncode == 130
    assert "interrupted" in shown
    assert "Traceback" not in shown
    assert sorted(os.listdir()) == before


# --- bad input ----------------------------------------------------------------------------------------------


def parquet_cut_short(path):
    pq.write_table(pa.table({"source": ["a"] * 500, "target": ["b"] * 500}), path)
    path.write_bytes(path.read_bytes()[:-20])


BAD_EDGES = {
    "ragged": ("e.csv", "a,b\nb,c\nc\n", "line 3: 1 column(s) where 2 are expected"),
    "too long": ("e.csv", "a,b\nb,c,d\n", "line 2: 3 column(s) where 2 are expected"),
    "words for weights": (
        "e.csv",
        "s,t,weight\na,b,1\nb,c,heavy\n",
        "line 3: 'heavy' in column 'weight' is not a number",
    ),
    "negative weight": ("e.csv", "s,t,weight\na,b,1\nb,c,-2\n", "the weight of edge 2 is -2.0"),
    "missing weight": ("e.csv", "s,t,weight\na,b,1\nb,c,\n", "the weight of edge 2 is missing"),
    "missing id": ("e.csv", "source,target\na,b\n,c\n", "the source id of edge 2 is missing"),
    "cut Parquet": ("e.parquet", parquet_cut_short, "not a whole Parquet file"),
    "no Parquet": ("e.parquet", b"hello", "not a whole Parquet file"),
    "garbage": ("e.csv", bytes(range(128, 256)) * 20, "not UTF-8"),
    "Latin-1": ("e.csv", "a,b\ncafé,b\n".encode("latin-1"), "line 2: this is not UTF-8"),
    "empty": ("e.csv", "", "the file is empty"),
    "comments only": ("e.csv", "# nothing\n# here\n", "the file is empty but for comments"),
    "header only": ("e.csv", "source,target\n", "there are no edges in it"),
    "header twice": ("e.csv", "source,target\na,b\nsource,target\nb,c\n", "data row 2 repeats the header"),
    "names twice": ("e.csv", "source,source\na,b\n", "names the column 'source' twice"),
    "one column": ("e.csv", "a\nb\n", "found one column where an edge list needs two"),
    "open quote": ("e.csv", 'a,b\n"c,d\n', "e.csv"),
    "no matrix": ("e.npz", b"PK nonsense", "cannot be read as a matrix"),
    "no MatrixMarket": ("e.mtx", "%%MatrixMarket nonsense\n", "cannot be read as a matrix"),
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
    "strangers": ("f.csv", "id,a\nx,1\ny,2\n", "none of its ids ('x', 'y') is among the edges' ids"),
    "words": ("f.csv", "id,a\nann,1\nbob,many\n", "line 3: 'many' in column 'a' is not a number"),
    "missing": ("f.csv", "id,a\nann,1\nbob,\n", "the feature 'a' in data row 2 is missing or infinite"),
    "twice": ("f.csv", "id,a\nann,1\nbob,1\nann,2\n", "id 'ann' comes 2 times (rows 1 and 3)"),
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
        ("embed e.csv -o z.csv --hops -1", "--hops must be"),
        ("embed e.csv -o z.csv --r 0,x", "--r takes numbers"),
        ("embed e.csv -o z.csv --r 2", "r must lie in [0, 1]"),
        ("embed e.csv -o z.csv --ensemble sum", "ensemble must be"),
        ("embed e.csv -o z.csv --memory-limit lots", "--memory-limit must look like"),
        ("embed e.csv -o z.csv --memory-limit 1kB", "more than the --memory-limit"),
        ("embed e.csv -o z.csv --layout heap", "layout must be"),
        ("embed e.csv -o z.csv --source nope", "no column 'nope' for the source"),
        ("embed - -f - -o z.csv", "only one of"),
        ("embed e.csv -o - --json", "cannot both go to stdout"),
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
    "words", ["nonsense", "embed e.csv", "embed e.csv -o z.csv --hops many", "embed --nope"]
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


# --- the other commands -------------------------------------------------------------------------------------


def test_describe(place, capsys):
    assert run("describe", "e.csv", "-f", "f.csv") == 0
    shown = capsys.readouterr().out
    for word in ("nodes", "components", "degree", "homophily", "classes"):
        assert word in shown
    assert run("describe", "e.csv", "-f", "f.csv", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["nodes"], facts["edges"], facts["classes"], facts["weighted"]) == (4, 3, 2, True)


def test_plan(place, capsys):
    assert run("plan", "e.csv", "-f", "f.csv") == 0
    assert "memory engine" in capsys.readouterr().out
    assert run("plan", "e.csv", "--json", "--memory-limit", "1kB") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["engine"] is None
    assert facts["features"] == 128
    assert facts["engines"]["memory"]["bytes"] > 1000
    assert facts["seconds"] > 0


@pytest.mark.parametrize("target", ["g", "g.csv", "g.parquet", "g.mtx", "g.npz", "g.graphml"])
def test_convert_keeps_the_graph(place, target):
    assert run("convert", "e.csv", target, "-f", "f.csv", "--nodes-out", "n.parquet", "-q") == 0
    want = read_graph("e.csv", "f.csv")
    nodes = None if target in ("g", "g.graphml", "g.mtx", "g.npz") else "n.parquet"
    back = read_graph(target, nodes)
    np.testing.assert_array_equal(back.adjacency.indices, want.adjacency.indices)
    np.testing.assert_array_equal(back.adjacency.weights, want.adjacency.weights)
    if target == "g":
        assert back.labels.to_arrow().to_pylist() == want.labels.to_arrow().to_pylist()
    assert pq.read_table("n.parquet").column_names == ["id", "label", "a", "b"]


def test_convert_says_what_it_leaves_out(place, capsys):
    assert run("convert", "e.csv", "g.npz", "-f", "f.csv") == 0
    assert "no place for features and labels and ids" in " ".join(capsys.readouterr().err.split())


def test_convert_to_stdout_and_into_one_place_only(place):
    done = spawn("convert", "e.csv", "-", "-q")
    assert done.stdout.decode().splitlines()[:2] == ['"source","target","weight"', '"ann","bob",1']
    done = spawn("convert", "e.csv", "out.csv", "--nodes-out", "out.csv")
    assert done.returncode == 2
    assert b"are the same file" in done.stderr
    assert not Path("out.csv").exists()


def test_names_are_text_and_not_markup(place, capsys):
    assert run("embed", "e.csv", "-o", "z[bold].csv") == 0
    assert "z[bold].csv" in capsys.readouterr().err


def test_the_two_files_of_an_npy_come_together(place, monkeypatch):
    assert run("embed", "e.csv", "-o", "z.npy", "-q") == 0
    before = {name: Path(name).read_bytes() for name in ("z.npy", "z.ids.csv")}
    Path("e.csv").write_text("source,target\nnew,nodes\n")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    assert run("embed", "e.csv", "-o", "z.npy", "-q", "--force") == 2
    assert {name: Path(name).read_bytes() for name in before} == before


def test_an_interrupt_while_reading(place):
    with Path("big.csv").open("w") as file:
        file.write(
            "".join(f"name-{i * 7919 % 2000003},name-{i * 104729 % 2000003}\n" for i in range(2_000_000))
        )
    before = sorted(os.listdir())
    for wait in (0.2, 1.2, 2.0):
        process = subprocess.Popen(
            [sys.executable, "-m", "nafs", "embed", "big.csv", "-o", "z.csv"], stderr=subprocess.PIPE
        )
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        shown = process.communicate(timeout=60)[1].decode()
        if wait > 1:  # before that Python itself may still be starting
            assert process.returncode == 130, shown
            assert "interrupted" in shown
            assert "Traceback" not in shown
        assert sorted(os.listdir()) == before


def test_demo_writes_what_it_says(place, capsys):
    assert run("demo", "-o", "out") == 0
    shown = capsys.readouterr()
    assert "raw pixels" in shown.out
    assert sorted(os.listdir("out")) == ["digits.png", "embedding.parquet", "graph"]
    assert pq.read_table("out/embedding.parquet").num_rows == 1797
    assert Graph.load("out/graph").n_nodes == 1797
    assert run("demo", "-o", "out") == 2


def test_help_names_every_command_and_version_is_there(capsys):
    assert run("--help") == 0
    shown = capsys.readouterr().out
    assert all(
        name in shown for name in ("embed", "plan", "describe", "convert", "evaluate", "datasets", "demo")
    )
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("nafs ")
