"""One contract for all engines: what each makes is the oracle's, the same bits again, within its memory."""

import errno
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from conftest import random_graph
from test_exactness import COMBINATIONS, assert_close

from nafs import NAFS, Graph, embed
from nafs.engines import disk, memory
from nafs.engines.panels import list_tasks, missing, results_of
from nafs.engines.work import WorkFolder, fingerprint
from nafs.graph import Features, read_adjacency, read_features
from nafs.smoothing import Method, _kernel

R = (0.0, 0.3, 1.0)
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="files are reserved as on Linux"
)


@pytest.fixture
def narrow(monkeypatch):
    """Panels of eight columns, however small the graph is."""
    monkeypatch.setattr(disk, "_FIXED", 0)
    monkeypatch.setattr(disk, "PROCESS", 0)

    def limit(graph, method=None, columns=8, state_dtype="float32"):
        return disk.plan(
            graph, (columns, 0), method or Method(3, R), state_dtype=state_dtype, memory_limit=10**12
        ).nbytes

    return limit


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_panels_on_disk_agree_with_the_oracle(tmp_path, narrow, sparse, weighted):
    A, X = random_graph(2, weighted=weighted, n_features=21, sparse=sparse)
    graph, features = read_adjacency(A), read_features(sp.csr_array(X) if sparse else X)
    for number, (ensemble, weighting, distance) in enumerate(COMBINATIONS):
        method = Method(5, R, ensemble, weighting, distance)
        found = disk.embed(
            graph, features, method, folder=tmp_path / str(number), memory_limit=narrow(graph, method)
        )
        assert len(disk.plan(graph, (21, 0), method, memory_limit=narrow(graph, method)).widths) == 3
        assert_close(found, oracle.embedding(A.toarray(), X, 5, R, ensemble, weighting, distance))


def test_mapped_features_and_hop_zero(tmp_path, narrow):
    A, X = random_graph(2, n_features=30)
    Graph(A, X).save(tmp_path / "graph")
    graph = Graph.load(tmp_path / "graph")
    for hops in (0, 1, 6):
        found = disk.embed(
            graph.adjacency,
            graph.features,
            Method(hops, R),
            folder=tmp_path / f"work{hops}",
            memory_limit=narrow(graph.adjacency),
        )
        assert_close(found, oracle.embedding(A.toarray(), X, hops, R, "mean", "adaptive", "cosine"))


def test_the_same_bits_again_for_any_number_of_threads(tmp_path, narrow):
    A, X = random_graph(3, n=500, n_features=40)
    graph, features = read_adjacency(A), read_features(X)
    found = [
        disk.embed(
            graph,
            features,
            Method(4, R),
            folder=tmp_path / str(run),
            n_threads=threads,
            memory_limit=narrow(graph),
        ).tobytes()
        for run, threads in enumerate((1, 2, 4, 1))
    ]
    assert len(set(found)) == 1


def test_float16_states_and_embeddings(tmp_path, narrow):
    A, X = random_graph(4, n=200, n_features=40)
    graph, features = read_adjacency(A), read_features(X)
    expected = memory.embed(graph, features, Method(4, R), state_dtype="float16")
    found = disk.embed(
        graph,
        features,
        Method(4, R),
        folder=tmp_path / "a",
        state_dtype="float16",
        memory_limit=narrow(graph, state_dtype="float16"),
    )
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())
    half = disk.embed(
        graph, features, Method(4, R), folder=tmp_path / "b", dtype="float16", memory_limit=narrow(graph)
    )
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, expected, atol=3e-3 * np.abs(expected).max())
    assert embed(Graph(A, X), dtype="float16").matrix.dtype == np.float16


def test_components_are_numbered_by_their_first_node():
    for seed in range(20):
        A, _ = random_graph(seed, density=0.02)
        graph = read_adjacency(A)
        label = np.empty(graph.n_nodes, np.int32)
        count = _kernel.components(graph.indptr, graph.indices, label)
        expected = oracle.components(A.toarray())
        assert count == len(set(expected)) == label.max() + 1
        _, place = np.unique(expected, return_inverse=True)
        assert label.tolist() == place.tolist()


@pytest.mark.parametrize("n_panels", [1, 2, 3, 4, 7, 8])
def test_tasks_find_what_they_need_and_few_parts_wait(n_panels):
    tasks = list_tasks(Method(3, R), n_panels)
    made, uses = set(), [name for task in tasks for name in task.needs]
    waiting = most = 0
    for task in tasks:
        assert set(task.needs) <= made
        made.add(task.output)
        waiting += task.kind == "measure"
        waiting -= task.kind == "add"
        waiting -= task.kind == "smooth" and task.panel == n_panels - 1
        most = max(most, waiting)
    assert made == set(uses) | set(results_of(Method(3, R), n_panels))
    assert n_panels == 1 or most <= n_panels.bit_length() + 1
    assert any(task.kind == "measure" for task in tasks) == (n_panels > 1)
    assert sum(task.kind == "smooth" for task in tasks) == len(R) * n_panels


def test_wide_sparse_features_are_never_dense_as_a_whole(tmp_path, narrow):
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 5000), density=0.002, rng=rng).astype(np.float32)
    A, _ = random_graph(5, n=300)
    graph, features = read_adjacency(A), read_features(sp.csr_array(X))
    shapes = []
    original = WorkFolder.making

    def making(self, name, shape, dtype):
        shapes.append((name, int(np.prod(shape))))
        return original(self, name, shape, dtype)

    WorkFolder.making = making
    try:
        found = disk.embed(
            graph,
            features,
            Method(2, (0.5,)),
            folder=tmp_path / "work",
            memory_limit=narrow(graph, Method(2, (0.5,)), columns=512),
        )
    finally:
        WorkFolder.making = original
    np.testing.assert_allclose(found, memory.embed(graph, features, Method(2, (0.5,))), rtol=1e-4, atol=1e-7)
    values = sum(size for name, size in shapes if name.startswith("x-") and name.endswith("values"))
    assert values == features.sparse.nnz
    assert len(found) * 5000 > 10 * max(size for name, size in shapes if name.startswith("x-"))


def test_a_limit_that_is_too_small_names_the_smallest_that_works(tmp_path):
    A, X = random_graph(6, n=2000, density=0.005, n_features=64)
    graph = Graph(A, X)
    with pytest.raises(MemoryError, match="smallest limit that works is") as caught:
        embed(graph, engine="disk", memory_limit=1000)
    smallest = int(str(caught.value).split("works is ")[1].split(" bytes")[0])
    with pytest.raises(MemoryError):
        embed(graph, engine="disk", memory_limit=smallest - 1)
    made = embed(graph, engine="disk", memory_limit=smallest, n_hops=2)
    np.testing.assert_allclose(made.matrix, embed(graph, n_hops=2).matrix, rtol=1e-4, atol=1e-6)


def test_auto_is_memory_where_that_fits_and_disk_where_not():
    rng = np.random.default_rng(0)
    n = 20_000
    ring = sp.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    graph = Graph(ring, rng.random((n, 200), dtype=np.float32), directed=False)
    assert embed(graph, n_hops=1).settings["engine"] == "memory"
    limited = embed(graph, n_hops=1, memory_limit="40MB")
    assert limited.settings["engine"] == "disk"
    np.testing.assert_allclose(limited.matrix, embed(graph, n_hops=1).matrix, rtol=1e-5, atol=1e-6)
    assert NAFS(1, memory_limit="40MB").fit_transform(graph).tobytes() == limited.matrix.tobytes()
    with pytest.raises(MemoryError, match="besides its inputs"):
        NAFS(1, memory_limit="1MB").fit(graph)
    with pytest.raises(MemoryError, match="besides its inputs"):
        NAFS(1, memory_limit="40MB", engine="memory").fit(graph)
    with pytest.raises(ValueError, match="engine must be"):
        NAFS(engine="gpu").fit(graph)


def test_progress_counts_panels_passes_and_hops(tmp_path, narrow):
    A, X = random_graph(7, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    seen = []
    disk.embed(
        graph,
        features,
        Method(3, R),
        folder=tmp_path / "work",
        memory_limit=narrow(graph),
        progress=seen.append,
    )
    assert [at.done for at in seen] == sorted(at.done for at in seen)
    assert seen[-1].done == seen[-1].total == 60 * 4 * 3 * 3 * 2  # nodes, hops, panels, r's, passes
    assert {at.step for at in seen} == {"measure", "smooth"}
    assert {(at.panel, at.hop) for at in seen} == set(itertools.product(range(3), range(4)))


class StopError(Exception):
    pass


def stop_after(calls):
    def progress(_):
        nonlocal calls
        calls -= 1
        if not calls:
            raise StopError

    return progress


def run_in(folder, graph, features, limit, method=None, **options):
    return disk.embed(graph, features, method or Method(3, R), folder=folder, memory_limit=limit, **options)


def test_a_stopped_run_goes_on_where_it_was(tmp_path, narrow):
    A, X = random_graph(8, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    expected = run_in(tmp_path / "whole", graph, features, narrow(graph)).tobytes()
    for calls in (1, 5, 20, 40, 60):
        folder = tmp_path / f"after{calls}"
        with pytest.raises(StopError):
            run_in(folder, graph, features, narrow(graph), progress=stop_after(calls))
        with pytest.raises(FileExistsError, match="go on with it"):
            run_in(folder, graph, features, narrow(graph))
        seen = []
        found = run_in(folder, graph, features, narrow(graph), resume=True, progress=seen.append)
        assert found.tobytes() == expected
        assert len(seen) <= 72 - (calls - 1) // 4 * 4  # four hops of a task are lost at most
    assert run_in(folder, graph, features, narrow(graph), resume=True).tobytes() == expected


def test_a_run_is_gone_on_with_only_by_itself(tmp_path, narrow):
    A, X = random_graph(9, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    folder = tmp_path / "work"
    with pytest.raises(StopError):
        run_in(folder, graph, features, narrow(graph), progress=stop_after(30))
    with pytest.raises(ValueError, match="its n hops is 3, now it is 4"):
        run_in(folder, graph, features, narrow(graph), Method(4, R), resume=True)
    with pytest.raises(ValueError, match="its features is"):
        run_in(folder, graph, read_features(X + 1), narrow(graph), resume=True)
    with pytest.raises(ValueError, match="its edges is"):
        run_in(folder, read_adjacency(random_graph(10)[0]), features, narrow(graph), resume=True)
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="not empty"):
        run_in(other, graph, features, narrow(graph))
    assert [path.name for path in other.iterdir()] == ["precious.txt"]


def test_damage_in_a_work_folder_is_found(tmp_path, narrow):
    A, X = random_graph(11, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    whole = run_in(tmp_path / "whole", graph, features, narrow(graph)).tobytes()
    with pytest.raises(StopError):
        run_in(tmp_path / "work", graph, features, narrow(graph), progress=stop_after(30))
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
                run_in(folder, graph, features, narrow(graph), resume=True)
            (folder / path.name).unlink()  # as the message says
            assert run_in(folder, graph, features, narrow(graph), resume=True).tobytes() == whole


def test_two_runs_cannot_share_a_folder(tmp_path, narrow):
    A, X = random_graph(12, n_features=20)
    graph, features = read_adjacency(A), read_features(X)

    def second(_):
        with pytest.raises(OSError, match="another process is at work"):
            run_in(tmp_path / "work", graph, features, narrow(graph), resume=True)
        raise StopError

    with pytest.raises(StopError):
        run_in(tmp_path / "work", graph, features, narrow(graph), progress=second)


@pytest.mark.parametrize("room", [10_000, 40_000, 80_000])
def test_a_full_disk_is_an_error_and_what_is_finished_stays(tmp_path, narrow, monkeypatch, room):
    A, X = random_graph(13, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    expected = run_in(tmp_path / "whole", graph, features, narrow(graph)).tobytes()
    reserve = os.posix_fallocate

    used = 0

    def fallocate(fd, offset, size):
        nonlocal used
        used += size
        if used > room:
            raise OSError(errno.ENOSPC, "No space left on device")
        reserve(fd, offset, size)

    monkeypatch.setattr(os, "posix_fallocate", fallocate)
    with pytest.raises(OSError, match=r"no room for .* what is finished is kept"):
        run_in(tmp_path / "work", graph, features, narrow(graph))
    monkeypatch.setattr(os, "posix_fallocate", reserve)
    kept = WorkFolder(tmp_path / "work").names()
    due = missing(list_tasks(Method(3, R), 3), results_of(Method(3, R), 3), WorkFolder(tmp_path / "work"))
    assert kept
    assert room == 10_000 or len(due) < len(list_tasks(Method(3, R), 3))
    assert run_in(tmp_path / "work", graph, features, narrow(graph), resume=True).tobytes() == expected


def test_too_little_room_is_said_before_the_start(tmp_path, monkeypatch):
    A, X = random_graph(14, n_features=20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 10, 0))
    with pytest.raises(OSError, match=r"needs .* of disk in .*, and 0 B are free"):
        run_in(tmp_path / "work", read_adjacency(A), read_features(X), None)
    assert not (tmp_path / "work").exists()


# --- the command line


def nafs(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "nafs", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """60,000 nodes x 64 features in a folder: seconds of work, a memory of its own."""
    from nafs.datasets import power_law

    folder = tmp_path_factory.mktemp("engines") / "graph"
    power_law(60_000, average_degree=8, n_features=64, seed=1).save(folder)
    return folder


def test_killed_at_any_moment_a_run_goes_on_to_the_same_bytes(saved, tmp_path):
    command = [sys.executable, "-m", "nafs", "embed", str(saved), "--engine", "disk", "--hops", "8"]
    command += ["--r", "0,0.5", "--memory-limit", "45MB", "-q"]
    start = time.perf_counter()
    subprocess.run([*command, "-o", str(tmp_path / "whole.npy")], check=True)
    taken = time.perf_counter() - start
    expected = (tmp_path / "whole.npy").read_bytes()
    assert not (tmp_path / "whole.npy.work").exists()
    rng, killed = random.Random(0), 0
    for attempt in range(3):
        output = tmp_path / f"{attempt}.npy"
        again = []
        for _ in range(3):
            process = subprocess.Popen([*command, "-o", str(output), *again])
            try:
                process.wait(rng.uniform(0.3, 0.8) * taken)
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


def anonymous_peak(process):
    """Largest anonymous resident memory of a process, looked at until it ends."""
    peak = 0
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        try:
            lines = [line for line in status.read_text().splitlines() if line.startswith("RssAnon")]
        except (FileNotFoundError, ProcessLookupError):
            break
        peak = max(peak, *(int(line.split()[1]) * 1024 for line in lines), 0)
        time.sleep(0.002)
    return peak


@pytest.mark.parametrize("megabytes", [120, 200])
def test_anonymous_memory_stays_under_the_limit(saved, tmp_path, megabytes):
    command = [sys.executable, "-m", "nafs", "embed", str(saved), "-o", str(tmp_path / "out.npy")]
    command += ["--hops", "4", "--engine", "disk", "--memory-limit", f"{megabytes}MB", "-q"]
    process = subprocess.Popen(command)
    peak = anonymous_peak(process)
    assert process.returncode == 0
    assert peak < megabytes * 1e6
    assert np.load(tmp_path / "out.npy").shape == (60_000, 64)


def test_the_command_line_says_what_a_run_through_files_takes(saved, tmp_path):
    out = tmp_path / "out.parquet"
    run = nafs("embed", saved, "-o", out, "--hops", 2, "--memory-limit", "60MB")
    assert run.returncode == 0, run.stderr
    assert "disk engine: " in run.stderr
    assert "of disk in" in run.stderr
    run = nafs("embed", saved, "-o", out, "--hops", 2, "--engine", "disk", "--memory-limit", "1MB", "--force")
    assert run.returncode != 0
    assert "smallest limit that works" in run.stderr
    run = nafs("embed", saved, "-o", out, "--scheduler", "tcp://127.0.0.1:1", "--engine", "disk", "--force")
    assert "--scheduler is for --engine dask" in run.stderr


def test_a_folder_of_someone_else_is_left_alone(tmp_path, narrow):
    A, X = random_graph(15, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    for name, text in (("about.json", '{"my": "project"}'), ("film.mkv.part", "film"), ("lock", "locked")):
        (tmp_path / name).write_text(text)
    with pytest.raises(FileExistsError, match="holds no run"):
        run_in(tmp_path, graph, features, narrow(graph), resume=True)
    assert (tmp_path / "film.mkv.part").read_text() == "film"
    assert (tmp_path / "lock").read_text() == "locked"


def test_rows_of_sparse_features_are_told_apart():
    one = sp.csr_array(np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 0]], float))
    two = sp.csr_array(np.array([[1, 0, 0, 0, 0], [0, 1, 1, 0, 0]], float))
    graph = read_adjacency(np.zeros((2, 2)))
    read = [Features(None, matrix.astype(np.float32)) for matrix in (one, two)]
    assert fingerprint(graph, read[0]) != fingerprint(graph, read[1])


def test_many_panels_need_few_files_at_a_time(tmp_path, narrow, monkeypatch):
    import resource

    A, X = random_graph(16, n_features=800)
    graph, features = read_adjacency(A), read_features(X)
    method = Method(1, R, "concat", "average")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    try:
        found = run_in(tmp_path / "work", graph, features, narrow(graph, method), method)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    np.testing.assert_allclose(found, memory.embed(graph, features, method), rtol=1e-4, atol=1e-6)


def test_padding_is_planned_for():
    graph = read_adjacency(sp.csr_array((1_000_000, 1_000_000)))
    for limit in (560, 590, 600, 620, 650, 700):
        plan = disk.plan(graph, (65, 0), Method(), memory_limit=limit * 10**6)
        assert plan.nbytes <= limit * 10**6


def test_the_embedding_can_be_changed_in_place(tmp_path, narrow):
    A, X = random_graph(17, n_features=20)
    made = embed(Graph(A, X), engine="disk", n_hops=1)
    made.matrix[:] -= made.matrix.mean(axis=0)
    assert abs(float(made.matrix.mean())) < 1e-6
