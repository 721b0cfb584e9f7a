"""Embeddings and tables in every format that is written, and read back."""

import json

import numpy as np
import pyarrow as pa
import pytest
from command import run
from random_graphs import random_graph

from nafs import Embedding, Graph, embed

TABLES = ("parquet", "feather", "arrow", "jsonl", "ndjson", "csv", "tsv.gz", "lance", "npy")


@pytest.fixture(scope="module")
def embedding():
    A, X = random_graph(0, n=40, n_features=6)
    ids = [f"n\u00f6de {i}" for i in range(40)]
    labels = [None, "red", "blue"] * 13 + ["red"]
    return embed(Graph(A, X, ids=ids, labels=labels), n_hops=2)


@pytest.mark.parametrize("layout", ["list", "columns"])
@pytest.mark.parametrize("suffix", TABLES)
def test_an_embedding_comes_back_as_it_was(embedding, tmp_path, suffix, layout):
    if suffix == "lance":
        pytest.importorskip("lance")
    path = tmp_path / f"z.{suffix}"
    written = []
    embedding.write(path, layout=layout, progress=written.append)
    assert sum(written) == 40
    again = Embedding.load(path)
    np.testing.assert_array_equal(again.matrix, embedding.matrix)
    assert again.ids.tolist() == embedding.ids.tolist()
    assert again.labels.to_arrow().to_pylist() == embedding.labels.to_arrow().to_pylist()
    if suffix in ("parquet", "feather", "arrow", "lance", "npy"):
        assert again.settings["n_hops"] == 2
    with pytest.raises(ValueError, match="exists"):
        embedding.write(path, layout=layout)
    embedding.write(path, layout=layout, force=True)


@pytest.mark.parametrize("layout", ["list", "columns"])
def test_text_that_looks_like_dates_stays_text(tmp_path, layout):
    days = [f"2024-01-{day:02}" for day in range(1, 11)]
    A, X = random_graph(0, n=10, n_features=3)
    for ids, labels in ((days, days[::-1]), (range(10), days), (days, range(10))):
        embedding = embed(Graph(A, X, ids=ids, labels=labels), n_hops=1)
        embedding.write(tmp_path / "z.jsonl", layout=layout, force=True)
        again = Embedding.load(tmp_path / "z.jsonl")
        assert again.ids.tolist() == list(ids)
        assert again.labels.to_arrow().to_pylist() == embedding.labels.to_arrow().to_pylist()
        np.testing.assert_array_equal(again.matrix, embedding.matrix)


def test_other_libraries_read_what_was_written(embedding, tmp_path):
    import pandas as pd

    for name in ("z.feather", "z.jsonl"):
        embedding.write(tmp_path / name)
    frame = pd.read_feather(tmp_path / "z.feather")
    np.testing.assert_array_equal(np.stack(frame.embedding), embedding.matrix)
    lines = (tmp_path / "z.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[1])["label"] == "red"
    assert len(json.loads(lines[0])["embedding"]) == embedding.matrix.shape[1]


def test_an_index_is_written_with_its_ids(embedding, tmp_path):
    index = pytest.importorskip("usearch.index")
    embedding.write(tmp_path / "z.usearch")
    opened = index.Index.restore(str(tmp_path / "z.usearch"))
    ids = pa.csv.read_csv(tmp_path / "z.ids.csv")["id"].to_pylist()
    near = opened.search(embedding.matrix[7], 3)
    assert ids[int(near.keys[0])] == embedding.ids[7]
    expected = embedding.similar(embedding.ids[7], 2)["neighbor"].to_pylist()
    assert {ids[int(key)] for key in near.keys[1:]} == set(expected)
    assert json.loads((tmp_path / "z.json").read_text())["n_hops"] == 2
    with pytest.raises(ValueError, match="is a search index"):
        Embedding.load(tmp_path / "z.usearch")


def test_an_index_that_cannot_be_written_leaves_nothing_behind(embedding, tmp_path, monkeypatch):
    index = pytest.importorskip("usearch.index")

    def fail(*_):
        raise RuntimeError("Failed to serialize into stream")  # what usearch says on a full disk

    monkeypatch.setattr(index.Index, "save", fail)
    with pytest.raises(OSError, match="is the disk full"):
        embedding.write(tmp_path / "z.usearch")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["", "{", "[1]\n", '{"id": 1}\n', '{"id": 1, "embedding": [1, 2]}\n{"id": 2, "embedding": [1]}\n']
)
@pytest.mark.parametrize("suffix", ["jsonl", "feather"])
def test_broken_files_are_named(tmp_path, suffix, text):
    path = tmp_path / f"bad.{suffix}"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"bad.{suffix}: "):
        Embedding.load(path)


def test_commands_write_and_read_the_formats(tmp_path, capsys):
    (tmp_path / "e.csv").write_text("source,target\nann,bob\nbob,cy\ncy,dee\n")
    for suffix in ("feather", "jsonl", "usearch"):
        assert run("embed", tmp_path / "e.csv", "--hops", "3", "-o", tmp_path / f"z.{suffix}") == 0
    assert run("similar", tmp_path / "z.feather", "ann", "-k", "2", "-o", tmp_path / "near.jsonl") == 0
    rows = [json.loads(line) for line in (tmp_path / "near.jsonl").read_text().splitlines()]
    assert [row["rank"] for row in rows] == [1, 2]
    assert run("similar", tmp_path / "z.jsonl", "ann", "-k", "2", "-o", tmp_path / "near.feather") == 0
    assert pa.ipc.open_file(tmp_path / "near.feather").read_all()["neighbor"].to_pylist()[0] == "bob"
    assert run("embed", tmp_path / "e.csv", "-o", tmp_path / "z.xlsx") == 2
    assert ".feather, .arrow, .jsonl" in capsys.readouterr().err
