"""An interrupted run resumes to the same bytes, and never from files of another run."""

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from panel_runs import R, on_disk, problem_of
from random_graphs import random_graph

from nafs._support.errors import InputError
from nafs.engines.disk import DiskEngine
from nafs.engines.panels import list_tasks, missing, results_of
from nafs.engines.work import WorkFolder, fingerprint
from nafs.graph import Features, read_adjacency, read_features
from nafs.smoothing import Method

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="files are reserved as on Linux"
)


class StopError(Exception):
    pass


def stop_after(calls):
    def progress(_):
        nonlocal calls
        calls -= 1
        if not calls:
            raise StopError

    return progress


def test_an_interrupted_run_is_resumed_where_it_stopped(tmp_path, narrow):
    A, X = random_graph(8, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    expected = on_disk(tmp_path / "whole", graph, features, narrow(graph)).tobytes()
    for calls in (1, 5, 20, 40, 60):
        folder = tmp_path / f"after{calls}"
        with pytest.raises(StopError):
            on_disk(folder, graph, features, narrow(graph), progress=stop_after(calls))
        with pytest.raises(FileExistsError, match="resume it"):
            on_disk(folder, graph, features, narrow(graph))
        seen = []
        embedding = on_disk(folder, graph, features, narrow(graph), resume=True, progress=seen.append)
        assert embedding.tobytes() == expected
        assert len(seen) <= 72 - (calls - 1) // 4 * 4  # four hops of a task are lost at most
    assert on_disk(folder, graph, features, narrow(graph), resume=True).tobytes() == expected


def test_a_run_is_resumed_only_with_the_same_inputs_and_settings(tmp_path, narrow):
    A, X = random_graph(9, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    folder = tmp_path / "work"
    with pytest.raises(StopError):
        on_disk(folder, graph, features, narrow(graph), progress=stop_after(30))
    with pytest.raises(ValueError, match="its n hops is 3, now it is 4"):
        on_disk(folder, graph, features, narrow(graph), Method(4, R), resume=True)
    with pytest.raises(ValueError, match="its features is"):
        on_disk(folder, graph, read_features(X + 1), narrow(graph), resume=True)
    with pytest.raises(ValueError, match="its edges is"):
        on_disk(folder, read_adjacency(random_graph(10)[0]), features, narrow(graph), resume=True)
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="not empty"):
        on_disk(other, graph, features, narrow(graph))
    assert [path.name for path in other.iterdir()] == ["precious.txt"]


def test_damage_in_a_work_folder_is_found(tmp_path, narrow):
    A, X = random_graph(11, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    whole = on_disk(tmp_path / "whole", graph, features, narrow(graph)).tobytes()
    with pytest.raises(StopError):
        on_disk(tmp_path / "work", graph, features, narrow(graph), progress=stop_after(30))
    arrays = sorted((tmp_path / "work").glob("*.npy"))
    assert len(arrays) >= 3
    for path in arrays:
        for harm in ("flip", "cut"):
            folder = tmp_path / f"{path.stem}-{harm}"
            shutil.copytree(tmp_path / "work", folder)
            content = bytearray((folder / path.name).read_bytes())
            content[-5] ^= 1
            (folder / path.name).write_bytes(content if harm == "flip" else content[:-20])
            with pytest.raises(ValueError, match=rf"{path.name} is damaged"):
                on_disk(folder, graph, features, narrow(graph), resume=True)
            (folder / path.name).unlink()  # as the message says
            assert on_disk(folder, graph, features, narrow(graph), resume=True).tobytes() == whole


def test_two_runs_cannot_share_a_folder(tmp_path, narrow):
    A, X = random_graph(12, n_features=20)
    graph, features = read_adjacency(A), read_features(X)

    def second(_):
        with pytest.raises(OSError, match="is in use by process"):
            on_disk(tmp_path / "work", graph, features, narrow(graph), resume=True)
        raise StopError

    with pytest.raises(StopError):
        on_disk(tmp_path / "work", graph, features, narrow(graph), progress=second)


@pytest.mark.parametrize("room", [10_000, 40_000, 70_000])
def test_a_full_disk_is_an_error_and_finished_files_are_kept(tmp_path, narrow, monkeypatch, room):
    A, X = random_graph(13, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    expected = on_disk(tmp_path / "whole", graph, features, narrow(graph)).tobytes()
    reserve = os.posix_fallocate

    used = 0

    def fallocate(fd, offset, size):
        nonlocal used
        used += size
        if used > room:
            raise OSError(errno.ENOSPC, "No space left on device")
        reserve(fd, offset, size)

    monkeypatch.setattr(os, "posix_fallocate", fallocate)
    with pytest.raises(OSError, match=r"no room for .* finished arrays are kept"):
        on_disk(tmp_path / "work", graph, features, narrow(graph))
    monkeypatch.setattr(os, "posix_fallocate", reserve)
    kept = WorkFolder(tmp_path / "work").names()
    tasks = list_tasks(Method(3, R), 3, one_worker=True)
    due = missing(tasks, results_of(Method(3, R), 3), WorkFolder(tmp_path / "work"))
    assert kept
    assert room == 10_000 or len(due) < len(tasks)
    assert on_disk(tmp_path / "work", graph, features, narrow(graph), resume=True).tobytes() == expected


def test_too_little_disk_space_is_reported_before_the_start(tmp_path, monkeypatch):
    A, X = random_graph(14, n_features=20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 10, 0))
    with pytest.raises(OSError, match=r"needs .* of disk in .*, but only 0 B are free"):
        on_disk(tmp_path / "work", read_adjacency(A), read_features(X), None)
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("r", [(0.5,), R])
@pytest.mark.parametrize("ensemble", ["mean", "concat"])
def test_the_disk_space_of_a_run_is_estimated(tmp_path, narrow, monkeypatch, r, ensemble, sparse):
    A, X = random_graph(8, n=3000, density=0.002, n_features=44)
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    matrix = sp.csr_array(X) if sparse else np.load(tmp_path / "x.npy", mmap_mode="r")
    graph, features = read_adjacency(A), read_features(matrix)
    folder, method, peak = (tmp_path / "work").resolve(), Method(6, r, ensemble=ensemble), 0

    def reserve(file, size, *_, **__):
        nonlocal peak
        os.posix_fallocate(file.fileno(), 0, size)
        lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
        spans = [line[0].split("-") for line in lines if line[-1] == "(deleted)" and str(folder) in line[-2]]
        mapped = sum(int(end, 16) - int(start, 16) for start, end in spans)
        named = sum(path.stat().st_size for path in folder.iterdir())
        peak = max(peak, mapped + named + (0 if str(file.name).startswith(str(folder)) else size))

    monkeypatch.setattr("nafs._support.scratch.take_room", reserve)
    monkeypatch.setattr("nafs.engines.work.take_room", reserve)
    limit = narrow(graph)
    planned = DiskEngine().plan(problem_of(graph, features, method, memory_limit=limit))
    assert len(planned.widths) > 4
    on_disk(folder, graph, features, limit, method)
    assert 0.6 * planned.disk_bytes < peak <= planned.disk_bytes


def test_a_run_killed_at_any_moment_resumes_to_the_same_bytes(saved, tmp_path):
    command = [sys.executable, "-m", "nafs", "embed", str(saved), "--engine", "disk", "--hops", "8"]
    command += ["--r", "0,0.5", "--memory-limit", "120MB", "-q"]
    start = time.perf_counter()
    subprocess.run([*command, "-o", str(tmp_path / "whole.npy")], check=True)
    elapsed = time.perf_counter() - start
    expected = (tmp_path / "whole.npy").read_bytes()
    assert not (tmp_path / "whole.npy.work").exists()
    rng, killed, attempt = random.Random(0), 0, 0
    # On a machine whose speed changes, some runs end before they are killed: then there are more of them.
    while killed < 3 or attempt < 3:
        attempt += 1
        assert attempt < 12
        output = tmp_path / f"{attempt}.npy"
        again = []
        for _ in range(3):
            begin = time.perf_counter()
            process = subprocess.Popen([*command, "-o", str(output), *again])
            try:
                process.wait(rng.uniform(0.3, 0.8) * elapsed)
                if not again:  # the machine has become faster
                    elapsed = min(elapsed, time.perf_counter() - begin)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
                if output.exists():  # whole, as is checked below
                    shutil.rmtree(f"{output}.work", ignore_errors=True)
                    break
            again = ["--resume"] if Path(f"{output}.work/about.json").exists() else []
        if not output.exists():
            subprocess.run([*command, "-o", str(output), *again], check=True)
        assert output.read_bytes() == expected
        assert not Path(f"{output}.work").exists()
    assert killed >= 3


def test_a_folder_with_foreign_files_is_not_touched(tmp_path, narrow):
    A, X = random_graph(15, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    for name, text in (("about.json", '{"my": "project"}'), ("film.mkv.part", "film"), ("lock", "locked")):
        (tmp_path / name).write_text(text)
    with pytest.raises(FileExistsError, match="holds no run"):
        on_disk(tmp_path, graph, features, narrow(graph), resume=True)
    assert (tmp_path / "film.mkv.part").read_text() == "film"
    assert (tmp_path / "lock").read_text() == "locked"


def test_checksums_distinguish_rows_of_sparse_features():
    first = sp.csr_array(np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 0]], float))
    second = sp.csr_array(np.array([[1, 0, 0, 0, 0], [0, 1, 1, 0, 0]], float))
    graph = read_adjacency(np.zeros((2, 2)))
    read = [Features(None, matrix.astype(np.float32)) for matrix in (first, second)]
    assert fingerprint(graph, read[0]) != fingerprint(graph, read[1])


def test_a_flipped_bit_in_a_header_is_noticed(tmp_path):
    folder = WorkFolder(tmp_path / "w")
    folder.path.mkdir()
    with folder.making("a", (4, 2), np.float32) as array:
        array[:] = 1.5
    folder.check("a")
    content = folder.file("a").read_bytes()
    for old, new in ((b"'<f4'", b"'<i4'"), (b"(4, 2)", b"(2, 4)"), (b"False", b"True ")):
        assert old in content
        folder.file("a").write_bytes(content.replace(old, new))
        with pytest.raises(InputError, match="is damaged"):
            folder.check("a")


def test_a_second_run_is_told_who_uses_the_folder(tmp_path):
    first, second = WorkFolder(tmp_path / "w"), WorkFolder(tmp_path / "w")
    about = {"format": "nafs-work"}
    for resume in (False, True):
        with (
            first.run(about, resume=True),
            pytest.raises(OSError, match=rf"is in use by process {os.getpid()} on \S+; wait"),
            second.run(about, resume=resume),
        ):
            pass
    first.remove()
    assert not (tmp_path / "w").exists()


def test_fragments_of_a_killed_run_are_removed(tmp_path):
    folder = WorkFolder(tmp_path / "w")
    about = {"format": "nafs-work"}
    with folder.run(about, resume=False), folder.making("parts-0-1", (3,), np.float64) as array:
        array[:] = 1
    for name in ("result-0-1.crc", "nafs-0123456789abcdef.part"):
        (folder.path / name).write_text("01234567\n")
    (folder.path / "parts-0-2.npy").write_bytes((folder.path / "parts-0-1.npy").read_bytes())
    (folder.path / "notes.crc").write_text("not a checksum")
    with folder.run(about, resume=True):
        assert folder.names() == ["parts-0-1"]
    folder.remove()
    assert [path.name for path in folder.path.iterdir()] == ["notes.crc"], "only its own files are removed"
