"""Pipes are read once, completely, and reading reacts to signals; devices are refused."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from command import run

from nafs import Embedding, Graph, read_graph
from nafs._support.errors import InputError
from nafs.model import Model
from nafs.model.new_rows import Files, update_from_files
from nafs.readers.tables import Table, TableOptions
from nafs.report.columns import read_columns
from nafs.smoothing import Method


class TestPipes:
    def through_fifo(self, tmp_path, content):
        path = tmp_path / "fifo"
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
        return path

    def test_edges(self, tmp_path):
        rows = "".join(f"a{i},b{i % 977}\n" for i in range(50_000))
        graph = read_graph(self.through_fifo(tmp_path, f"source,target\n{rows}".encode()))
        assert graph.n_edges == 50_000

    def test_features_in_parquet(self, tmp_path):
        (tmp_path / "e.csv").write_text("a,b\nb,c\n")
        content = io.BytesIO()
        pa.parquet.write_table(pa.table({"id": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]}), content)
        graph = read_graph(tmp_path / "e.csv", self.through_fifo(tmp_path, content.getvalue()))
        assert graph.features.dense.ravel().tolist() == [1, 2, 3]

    def test_errors_name_the_pipe(self, tmp_path):
        with pytest.raises(InputError, match=r"fifo, line 2: 1 instead of 2 columns"):
            read_graph(self.through_fifo(tmp_path, b"a,b\nc\n"))

    def test_notes_name_the_pipe(self, tmp_path):
        path = self.through_fifo(tmp_path, b"# by hand\na,b\nb,c\n")
        notes = read_graph(path).notes
        assert all(note.startswith(f"{path}: ") for note in notes), notes
        assert any("1 line skipped as comments" in note for note in notes)

    def test_an_embedding(self, tmp_path):
        rows = "".join(f"a{i},{i},0.5\n" for i in range(20_000))
        embedding = Embedding.load(self.through_fifo(tmp_path, f"id,e0,e1\n{rows}".encode()))
        assert embedding.matrix[:, 0].tolist() == list(range(20_000))

    def test_columns_of_a_page(self, tmp_path):
        rows = "".join(f"a{i},{i % 7}\n" for i in range(20_000))
        path = self.through_fifo(tmp_path, f"id,size\n{rows}".encode())
        columns = read_columns(path, pa.array([f"a{i}" for i in range(20_000)]))
        assert [column.title for column in columns] == ["size"]

    def test_features_of_answers_in_a_file(self, tmp_path, capsys):
        nodes = "".join(f"n{i},{i % 3},{'AB'[i % 2] if i < 12 else ''}\n" for i in range(24))
        edges = "".join(f"n{i},n{(i + 2) % 24}\n" for i in range(24))
        (tmp_path / "e.csv").write_text("source,target\n" + edges)
        features = self.through_fifo(tmp_path, f"id,x,kind\n{nodes}".encode())
        words = ["classify", tmp_path / "e.csv", "-f", features, "--label", "kind", "--hops", "1"]
        assert run(*words, "-o", tmp_path / "out.csv") == 0
        assert "came from a pipe, so their columns are not repeated" in capsys.readouterr().err
        assert (tmp_path / "out.csv").read_text().count("\n") == 25

    def test_an_update(self, tmp_path):
        model = Model.build(Graph(1 - np.eye(3), np.eye(3), ids=["a", "b", "c"]), Method(1, (0.5,)))
        rows = "".join(f"a,x{i}\n" for i in range(20_000))
        path = self.through_fifo(tmp_path, f"source,target\n{rows}".encode())
        report, notes = update_from_files(model, Files(edges=str(path)), {"missing": "zeros"})
        assert report.new == 20_000
        assert str(path) in notes[0]

    def test_what_reads_twice_refuses_pipes(self, tmp_path):
        with pytest.raises(InputError, match="is a pipe"):
            Table(str(self.through_fifo(tmp_path, b"a,b\n")), TableOptions())

    def test_devices_are_refused(self):
        with pytest.raises(InputError, match="/dev/zero is a device"):
            read_graph("/dev/zero")


def test_reading_hears_signals_while_it_waits_for_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    code = f"import nafs; print('ready', flush=True); nafs.read_graph({str(tmp_path / 'fifo')!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    process.stdout.readline()
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
