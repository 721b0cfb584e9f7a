"""The commands as a person meets them: results, summaries, pipelines."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from command import EDGES, run, spawn

from nafs import Graph, embed, read_graph


def expected():
    return embed(read_graph("e.csv", "f.csv"))


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
    assert "source = 'source', target = 'target', weight = 'weight'" in shown


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
        vectors = np.column_stack([table["e0"].to_numpy(), table["e1"].to_numpy()]).astype(np.float32)
        np.testing.assert_array_equal(vectors, want)
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
    assert run("embed", "e.csv", "-o", "z.npy", "--dim", "8") == 0
    assert np.load("z.npy").shape == (4, 8)
    assert "8 structural features" in capsys.readouterr().err


def test_json_summary_is_all_there_is_on_stdout(place, capsys):
    assert run("embed", "e.csv", "-f", "f.csv", "-o", "z.npy", "--json") == 0
    shown = capsys.readouterr()
    facts = json.loads(shown.out)
    assert (facts["nodes"], facts["edges"], facts["dimensions"]) == (4, 3, 2)
    assert set(facts["seconds"]) == {"read", "decide", "smooth", "write"}
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
    assert run("plan", "e.csv", "--json", "--memory-limit", "200MB") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["settings"]["engine"] == facts["plan"]["engine"] == "memory"
    assert facts["features"] == 128
    assert 1000 < facts["plan"]["nbytes"] <= 200 * 10**6
    assert facts["seconds"] > 0
    assert run("plan", "e.csv", "--memory-limit", "1kB") == 2
    assert "more than the --memory-limit of 1 kB" in " ".join(capsys.readouterr().err.split())


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


def test_demo_writes_what_it_says(place, capsys):
    assert run("demo", "-o", "out") == 0
    shown = capsys.readouterr()
    assert "raw pixels" in shown.out
    assert sorted(os.listdir("out")) == ["digits.png", "embedding.parquet", "graph", "report.html"]
    assert pq.read_table("out/embedding.parquet").num_rows == 1797
    assert Graph.load("out/graph").n_nodes == 1797
    assert run("demo", "-o", "out") == 2


def test_help_names_every_command_and_version_is_there(capsys):
    assert run("--help") == 0
    shown = capsys.readouterr().out
    assert all(
        name in shown
        for name in (
            "embed",
            "plan",
            "describe",
            "convert",
            "evaluate",
            "datasets",
            "demo",
            "report",
            "similar",
        )
    )
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("nafs ")
