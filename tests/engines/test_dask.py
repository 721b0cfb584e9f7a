"""The Dask engine: bit-identical to the disk engine, even if workers die."""

import os
import re
import signal
import threading
import time
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from panel_runs import on_disk, run_engine
from random_graphs import random_graph

from nafs import Graph, embed
from nafs.engines import dask as engine
from nafs.graph import read_adjacency, read_features
from nafs.smoothing import Method

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("default")
R = (0.0, 0.5)


@contextmanager
def two_workers():
    """A client of two worker processes with one thread each."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def on_cluster(graph, features, method, **options):
    return run_engine(engine.DaskEngine(), graph, features, method, **options)


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        ("mean", "adaptive", "cosine"),
        ("max", "linear", "euclidean"),
        ("concat", "adaptive", "stationary_cosine"),
        ("mean", "average", "cosine"),
        ("max", "last", "cosine"),
    ],
)
def test_the_same_bits_as_on_disk(client, tmp_path, narrow, options, sparse):
    A, X = random_graph(1, weighted=True, n_features=40, sparse=sparse)
    graph, features = read_adjacency(A), read_features(X)
    method = Method(4, R, *options)
    limit = narrow(graph, method)
    expected = on_disk(tmp_path / "disk", graph, features, limit, method)
    embedding = on_cluster(
        graph, features, method, work_dir=tmp_path / "dask", client=client, memory_limit=limit
    )
    assert embedding.tobytes() == expected.tobytes()


def test_a_worker_that_is_killed_changes_nothing(tmp_path):
    from nafs.datasets import power_law

    graph = power_law(60_000, average_degree=8, n_features=64, seed=1)
    method = Method(8, R)
    with two_workers() as client:
        options = {"client": client, "memory_limit": 45_000_000}
        expected = on_cluster(
            graph.adjacency, graph.features, method, work_dir=tmp_path / "calm", **options
        ).tobytes()
        pids = list(client.run(os.getpid).values())
        killed = []

        def kill(_):
            if not killed:
                killed.append(pids[0])
                os.kill(pids[0], signal.SIGKILL)

        embedding = on_cluster(
            graph.adjacency, graph.features, method, work_dir=tmp_path / "killed", progress=kill, **options
        ).tobytes()
        assert killed
        assert pids[0] not in client.run(os.getpid).values()
        assert embedding == expected


def test_embed_accepts_a_client_and_does_not_copy_a_saved_graph(client, tmp_path):
    A, X = random_graph(2, n_features=30)
    Graph(A, X).save(tmp_path / "graph")
    graph = Graph.load(tmp_path / "graph")
    work = tmp_path / "work"
    seen = []

    def progress(at):
        seen.append(at)
        assert not list(work.glob("graph-*.npy"))

    result = embed(graph, n_hops=3, engine="dask", client=client, work_dir=str(work), progress=progress)
    assert result.settings["engine"] == "dask"
    np.testing.assert_allclose(result.matrix, embed(graph, n_hops=3).matrix, rtol=1e-4, atol=1e-6)
    assert seen[-1].done == seen[-1].total
    assert not work.exists()


def test_missing_scheduler_missing_workers_and_other_versions_are_reported(tmp_path, monkeypatch):
    A, X = random_graph(3)
    graph = Graph(A, X)
    monkeypatch.setattr(engine, "_SECONDS", 1)
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        embed(graph, engine="dask", client="tcp://127.0.0.1:9")
    with distributed.Client(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        set_as_default=False,
    ) as local:
        monkeypatch.setattr(engine, "_version_and_missing_file", lambda job: ("0.0.9", "", "1"))
        with pytest.raises(ConnectionError, match=r"has nafs 0\.0\.9, but this process has"):
            embed(graph, engine="dask", client=local)
        from nafs import __version__

        monkeypatch.setattr(
            engine, "_version_and_missing_file", lambda job: (__version__, "/somewhere/about.json", "1")
        )
        with pytest.raises(ConnectionError, match=r"does not see /somewhere/about\.json"):
            embed(graph, engine="dask", client=local)


def test_the_error_of_a_failed_task_names_it(client, tmp_path):
    A, X = random_graph(4, n_features=30)
    graph, features = read_adjacency(A), read_features(X)
    work = tmp_path / "work"

    def spoil():
        while not (work / "x-0.npy").exists():
            time.sleep(0.001)
        for path in work.glob("x-*.npy"):
            path.write_bytes(b"nothing")

    thread = threading.Thread(target=spoil)
    thread.start()
    with pytest.raises(RuntimeError, match=r"panel \d .* failed on a worker"):
        on_cluster(graph, features, Method(20_000, R), work_dir=work, client=client)
    thread.join()


def test_threads_of_one_worker_do_not_share_states(tmp_path, narrow):
    A, X = random_graph(5, n=3000, density=0.003, n_features=64)
    graph, features = read_adjacency(A), read_features(X)
    method = Method(6, R)
    limit = narrow(graph, method)
    expected = on_disk(tmp_path / "disk", graph, features, limit, method)
    with distributed.Client(
        processes=False,
        n_workers=2,
        threads_per_worker=4,
        dashboard_address="127.0.0.1:0",
        set_as_default=False,
    ) as local:
        for run in range(2):
            embedding = on_cluster(
                graph, features, method, work_dir=tmp_path / f"dask{run}", client=local, memory_limit=limit
            )
            assert embedding.tobytes() == expected.tobytes()


def test_another_graph_in_the_same_folder_is_not_mistaken_for_the_first(client, tmp_path, narrow):
    work = tmp_path / "work"
    for seed in (6, 7):
        A, X = random_graph(seed, n_features=30)
        result = embed(Graph(A, (X > 0).astype(float)), n_hops=3, engine="dask", client=client, work_dir=work)
        expected = embed(Graph(A, (X > 0).astype(float)), n_hops=3).matrix
        np.testing.assert_allclose(result.matrix, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("after", [4, 12, 20, 30])
def test_a_worker_killed_late_changes_nothing(tmp_path, narrow, after):
    A, X = random_graph(8, n=2000, density=0.004, n_features=48)
    graph, features = read_adjacency(A), read_features(X)
    method = Method(3, (0.0, 0.3, 0.5))
    limit = narrow(graph, method)
    expected = on_disk(tmp_path / "disk", graph, features, limit, method)
    with two_workers() as own:
        calls = 0

        def kill(_):
            nonlocal calls
            calls += 1
            if calls == after:
                os.kill(next(iter(own.run(os.getpid).values())), signal.SIGKILL)

        embedding = on_cluster(
            graph,
            features,
            method,
            work_dir=tmp_path / "dask",
            client=own,
            memory_limit=limit,
            progress=kill,
        )
        assert calls >= after
        assert embedding.tobytes() == expected.tobytes()


def test_a_limit_too_small_for_a_worker_raises_before_anything_is_written(client, tmp_path):
    A, X = random_graph(9, n=400, n_features=20)
    work = tmp_path / "work"
    with pytest.raises(MemoryError, match="more than the memory_limit of 10 kB"):
        embed(Graph(A, X), n_hops=3, engine="dask", client=client, work_dir=work, memory_limit="10kB")
    assert not work.exists()


class FakeClient:
    def __init__(self, workers, busy=()):
        self.workers, self.busy = workers, busy

    def scheduler_info(self, n_workers):
        return {"workers": self.workers}

    def processing(self):
        return {name: ["task"] for name in self.busy}


def test_waiting_is_reported_and_ends(monkeypatch, caplog):
    from nafs.engines import dask_watch
    from nafs.engines.panels import Task

    monkeypatch.setattr(dask_watch, "TELL", -1.0)
    monkeypatch.setattr(dask_watch, "PATIENCE", 300.0)
    task = Task("measure", "parts-0-1", (), 0, 1)
    now = time.time()
    watch = dask_watch.Watch(FakeClient({"a": {"last_seen": now}}, ["a"]))
    watch.since -= 10_000  # a long task on a worker that is alive
    watch.look([task])
    assert "waiting for panel 2 (measure)" in caplog.text
    for client, why in (
        (FakeClient({}), "no worker is left"),
        (FakeClient({"a": {"last_seen": now - 1000}}, ["a"]), "worker a does not answer"),
    ):
        watch = dask_watch.Watch(client)
        watch.look([task])
        watch.since -= 301
        with pytest.raises(ConnectionError, match=f"{why}.*resume the run"):
            watch.look([task])


def test_a_stopped_worker_ends_the_run_with_an_error(tmp_path, narrow, monkeypatch):
    from nafs.engines import dask, dask_watch

    for module, name, seconds in (
        (dask_watch, "LOOK", 0.2),
        (dask_watch, "PATIENCE", 3.0),
        (dask, "FAREWELL", 0.5),
    ):
        monkeypatch.setattr(module, name, seconds)
    A, X = random_graph(8, n=2000, density=0.004, n_features=48)
    graph, features = read_adjacency(A), read_features(X)
    method = Method(3, (0.0, 0.3, 0.5))
    with two_workers() as own:
        pids = list(own.run(os.getpid).values())
        stopped = []

        def stop(_):
            if not stopped:
                stopped.extend(pids)
                for pid in pids:
                    os.kill(pid, signal.SIGSTOP)

        try:
            with pytest.raises(ConnectionError, match=r"does not answer.*resume the run"):
                on_cluster(
                    graph,
                    features,
                    method,
                    work_dir=tmp_path / "dask",
                    client=own,
                    memory_limit=narrow(graph, method),
                    progress=stop,
                )
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        assert stopped


@pytest.mark.parametrize("harm", ["kill", "cut", "alter"])
def test_lost_workers_and_changed_inputs_end_the_run_with_an_error(
    client, tmp_path, narrow, monkeypatch, harm
):
    from nafs.engines import dask, dask_watch

    async def stay_dead(nanny, code):
        pass

    monkeypatch.setattr(distributed.Nanny, "_on_worker_exit", stay_dead)  # which would start another worker
    monkeypatch.setattr(dask_watch, "PATIENCE", 1.0)
    for name in ("LOOK", "COMEBACK", "FAREWELL"):
        monkeypatch.setattr(dask, name, 0.2)
    A, X = random_graph(8, n=2000, density=0.004, n_features=48)
    Graph(A, X).save(tmp_path / "graph")
    graph = Graph.load(tmp_path / "graph")
    indices = tmp_path / "graph" / "indices.npy"
    harmed = []
    with nullcontext(client) if harm == "alter" else two_workers() as own:
        pids = list(own.run(os.getpid).values())

        def spoil(_):
            if harmed:
                return
            harmed.append(harm)
            if harm == "kill":
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
            elif harm == "cut":
                os.truncate(indices, 4096)
            else:
                with indices.open("r+b") as file:
                    file.seek(4096)
                    file.write(bytes(8))

        errors = {
            "kill": (ConnectionError, "no worker is left.*resume the run"),
            "cut": (ValueError, rf"{re.escape(str(indices))} was deleted or shortened during the run"),
            "alter": (ValueError, "changed during the run; delete the folder"),
        }
        with pytest.raises(errors[harm][0], match=errors[harm][1]):
            embed(
                graph,
                n_hops=4,
                r=R,
                engine="dask",
                client=own,
                work_dir=tmp_path / "work",
                memory_limit=narrow(graph.adjacency, Method(4, R)),
                progress=spoil,
            )
        assert harmed
