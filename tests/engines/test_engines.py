"""All engines agree with the oracle, are deterministic, and stay within their memory limit."""

import itertools
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from closeness import COMBINATIONS, assert_close
from panel_runs import R, in_memory, on_disk, problem_of
from random_graphs import random_graph

from nafs import NAFS, Graph, embed
from nafs.engines.disk import DiskEngine
from nafs.engines.panels import list_tasks, results_of
from nafs.engines.work import WorkFolder
from nafs.graph import read_adjacency, read_features
from nafs.smoothing import Method, _kernel

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="files are reserved as on Linux"
)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_panels_on_disk_agree_with_the_oracle(tmp_path, narrow, sparse, weighted):
    A, X = random_graph(2, weighted=weighted, n_features=21, sparse=sparse)
    graph, features = read_adjacency(A), read_features(sp.csr_array(X) if sparse else X)
    for number, (ensemble, weighting, distance) in enumerate(COMBINATIONS):
        method = Method(5, R, ensemble, weighting, distance)
        limit = narrow(graph, method)
        embedding = on_disk(tmp_path / str(number), graph, features, limit, method)
        problem = problem_of(graph, features, method, memory_limit=limit)
        assert len(DiskEngine().plan(problem).widths) == 3
        assert_close(embedding, oracle.embedding(A.toarray(), X, 5, R, ensemble, weighting, distance))


def test_mapped_features_and_hop_zero(tmp_path, narrow):
    A, X = random_graph(2, n_features=30)
    Graph(A, X).save(tmp_path / "graph")
    graph = Graph.load(tmp_path / "graph")
    for hops in (0, 1, 6):
        embedding = on_disk(
            tmp_path / f"work{hops}",
            graph.adjacency,
            graph.features,
            narrow(graph.adjacency),
            Method(hops, R),
        )
        assert_close(embedding, oracle.embedding(A.toarray(), X, hops, R, "mean", "adaptive", "cosine"))


def test_the_same_bits_again_for_any_number_of_threads(tmp_path, narrow):
    A, X = random_graph(3, n=500, n_features=40)
    graph, features = read_adjacency(A), read_features(X)
    outputs = [
        on_disk(
            tmp_path / str(run), graph, features, narrow(graph), Method(4, R), n_threads=threads
        ).tobytes()
        for run, threads in enumerate((1, 2, 4, 1))
    ]
    assert len(set(outputs)) == 1


def test_float16_states_and_embeddings(tmp_path, narrow):
    A, X = random_graph(4, n=200, n_features=40)
    graph, features = read_adjacency(A), read_features(X)
    expected = in_memory(graph, features, Method(4, R), state_dtype="float16")
    limit = narrow(graph, state_dtype="float16")
    embedding = on_disk(tmp_path / "a", graph, features, limit, Method(4, R), state_dtype="float16")
    np.testing.assert_allclose(embedding, expected, atol=2e-3 * np.abs(expected).max())
    half = on_disk(tmp_path / "b", graph, features, narrow(graph), Method(4, R), dtype="float16")
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
def test_tasks_come_after_their_inputs_and_few_parts_wait(n_panels):
    tasks = list_tasks(Method(3, R), n_panels)
    written, uses = set(), [name for task in tasks for name in task.needs]
    waiting = most = 0
    for task in tasks:
        assert set(task.needs) <= written
        written.add(task.output)
        waiting += task.kind == "measure"
        waiting -= task.kind == "add"
        waiting -= task.kind == "smooth" and task.panel == n_panels - 1
        most = max(most, waiting)
    assert written == set(uses) | set(results_of(Method(3, R), n_panels))
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
        method = Method(2, (0.5,))
        embedding = on_disk(tmp_path / "work", graph, features, narrow(graph, method, columns=512), method)
    finally:
        WorkFolder.making = original
    np.testing.assert_allclose(embedding, in_memory(graph, features, Method(2, (0.5,))), rtol=1e-4, atol=1e-7)
    values = sum(size for name, size in shapes if name.startswith("x-") and name.endswith("values"))
    assert values == features.sparse.nnz
    assert len(embedding) * 5000 > 10 * max(size for name, size in shapes if name.startswith("x-"))


def test_a_limit_that_is_too_small_names_the_smallest_that_works(tmp_path):
    A, X = random_graph(6, n=2000, density=0.005, n_features=64)
    graph = Graph(A, X)
    with pytest.raises(MemoryError, match="smallest limit that works is") as caught:
        embed(graph, engine="disk", memory_limit=1000)
    smallest = int(str(caught.value).split("works is ")[1].split(" bytes")[0])
    with pytest.raises(MemoryError):
        embed(graph, engine="disk", memory_limit=smallest - 1)
    result = embed(graph, engine="disk", memory_limit=smallest, n_hops=2)
    np.testing.assert_allclose(result.matrix, embed(graph, n_hops=2).matrix, rtol=1e-4, atol=1e-6)


def test_auto_is_memory_if_that_fits_and_disk_otherwise():
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
    on_disk(tmp_path / "work", graph, features, narrow(graph), progress=seen.append)
    assert [at.done for at in seen] == sorted(at.done for at in seen)
    assert seen[-1].done == seen[-1].total == 60 * 4 * 3 * 3 * 2  # nodes, hops, panels, r's, passes
    assert {at.step for at in seen} == {"measure", "smooth"}
    assert {(at.panel, at.hop) for at in seen} == set(itertools.product(range(3), range(4)))


def nafs(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "nafs", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def anonymous_peak(process):
    """Peak anonymous resident memory of a process, sampled until it ends."""
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


def test_the_command_line_reports_memory_and_disk_of_a_run_on_disk(saved, tmp_path):
    out = tmp_path / "out.parquet"
    run = nafs("embed", saved, "-o", out, "--hops", 2, "--memory-limit", "140MB")
    assert run.returncode == 0, run.stderr
    assert "disk engine, 1 panel of up to 64 columns: " in run.stderr
    assert "of disk in" in run.stderr
    run = nafs("embed", saved, "-o", out, "--force", "--hops", 2, "--engine=disk", "--memory-limit=101MB")
    assert run.returncode == 2
    assert "smallest limit that works" in run.stderr
    run = nafs("embed", saved, "-o", out, "--scheduler", "tcp://127.0.0.1:1", "--engine", "disk", "--force")
    assert "--scheduler is for --engine dask" in run.stderr


def test_many_panels_need_few_files_at_a_time(tmp_path, narrow, monkeypatch):
    import resource

    A, X = random_graph(16, n_features=800)
    graph, features = read_adjacency(A), read_features(X)
    method = Method(1, R, "concat", "average")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    try:
        embedding = on_disk(tmp_path / "work", graph, features, narrow(graph, method), method)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    np.testing.assert_allclose(embedding, in_memory(graph, features, method), rtol=1e-4, atol=1e-6)


def test_padding_is_planned_for():
    graph = read_adjacency(sp.csr_array((1_000_000, 1_000_000)))
    for limit in (560, 590, 600, 620, 650, 700):
        plan = DiskEngine().plan(problem_of(graph, 65, Method(), memory_limit=limit * 10**6))
        assert plan.nbytes <= limit * 10**6


def test_the_embedding_can_be_changed_in_place(tmp_path, narrow):
    A, X = random_graph(17, n_features=20)
    result = embed(Graph(A, X), engine="disk", n_hops=1)
    result.matrix[:] -= result.matrix.mean(axis=0)
    assert abs(float(result.matrix.mean())) < 1e-6
