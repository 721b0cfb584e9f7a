"""Pipes are read once, completely, and reading reacts to signals; devices are refused."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pyarrow.parquet
import pytest

from nafs import read_graph
from nafs._support.errors import InputError


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
        with pytest.raises(InputError, match=r"fifo, line 2: 1 column"):
            read_graph(self.through_fifo(tmp_path, b"a,b\nc\n"))

    def test_notes_name_the_pipe(self, tmp_path):
        path = self.through_fifo(tmp_path, b"# by hand\na,b\nb,c\n")
        notes = read_graph(path).notes
        assert all(note.startswith(f"{path}: ") for note in notes), notes
        assert any("1 line(s) skipped as comments" in note for note in notes)

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
