"""Panels in rounds of two hops give the bits of two passes, whether or not workers keep their states."""

import os
import signal

import numpy as np
import pytest
from panel_runs import in_memory, problem_of, run_engine
from random_graphs import random_graph

from nafs.engines import panel_engine, panels
from nafs.engines.columns import ColumnPanels, write_norms
from nafs.engines.panels import Panels, list_tasks, results_of, rounds, takes_rounds
from nafs.engines.work import WorkFolder
from nafs.graph import read_adjacency, read_features
from nafs.smoothing import Method

WIDTHS = (16, 16, 8)
R = (0.0, 0.5)


def smoothed(folder, graph, features, method, *, workers, **how):
    """The embedding by these tasks, and how many times each worker started from the features."""
    folder.mkdir()
    work = WorkFolder(folder)
    write_norms(features, work)
    columns = ColumnPanels(work, WIDTHS, features.largest, False, graph.n_nodes, features.matrix)
    of_worker = [Panels(graph, columns, method, work) for _ in range(workers)]
    starts = []
    for worker in of_worker:
        original = worker._hops
        worker._hops = lambda task, original=original, **kw: starts.append(task) or original(task, **kw)
    for task in list_tasks(method, len(WIDTHS), **how):
        of_worker[task.panel % workers].run(task)
    return np.hstack([work.open(name) for name in results_of(method, len(WIDTHS))]), len(starts)


@pytest.mark.parametrize("n_hops", [0, 1, 2, 5])
@pytest.mark.parametrize(
    "options", [("mean", "adaptive", "cosine"), ("max", "linear", "cosine"), ("concat", "adaptive", "cosine")]
)
def test_the_same_bits_as_two_passes(tmp_path, n_hops, options):
    A, X = random_graph(3, weighted=True, n_features=sum(WIDTHS))
    graph, features, method = read_adjacency(A), read_features(X), Method(n_hops, R, *options)
    expected, passes = smoothed(tmp_path / "two", graph, features, method, workers=1)
    at_once, _ = smoothed(tmp_path / "one", graph, features, method, workers=1, one_worker=True)
    kept, started = smoothed(tmp_path / "kept", graph, features, method, workers=3, in_rounds=True)
    lost, restarted = smoothed(tmp_path / "lost", graph, features, method, workers=2, in_rounds=True)
    assert passes == 2 * len(WIDTHS) * len(R)
    assert started == len(WIDTHS) * len(R)  # every panel once for each r
    assert restarted > started
    for embedding in (at_once, kept, lost):
        assert embedding.tobytes() == expected.tobytes()
    whole = in_memory(graph, features, method)
    np.testing.assert_allclose(expected, whole, atol=1e-5 * np.abs(whole).max())


def test_rounds_cover_all_hops_once_and_two_states_suffice():
    for n_hops in range(12):
        parts = rounds(n_hops)
        assert [k for part in parts for k in part] == list(range(n_hops + 1))
        assert max(map(len, parts)) <= 2


def test_rounds_need_a_worker_for_each_panel_and_enough_work(monkeypatch):
    graph, method = read_adjacency(random_graph(3)[0]), Method(3, R)
    assert not takes_rounds(graph, method, (8, 8), 2, "float32")  # two passes are over sooner
    monkeypatch.setattr(panels, "ROUND_VALUES", 0)
    assert takes_rounds(graph, method, (8, 8), 2, "float32")
    assert not takes_rounds(graph, method, (8, 8, 8), 2, "float32")
    assert not takes_rounds(graph, method, (8,), 2, "float32")  # one panel holds whole rows
    assert not takes_rounds(graph, method, (8, 8), 2, "float16")  # weighed before they are rounded
    assert not takes_rounds(graph, Method(3, R, weighting="average"), (8, 8), 2, "float32")
    assert not takes_rounds(graph, Method(3, R, distance="euclidean"), (8, 8), 2, "float32")


@pytest.fixture(scope="module")
def panels_of_two():
    A, X = random_graph(8, n=2000, density=0.004, n_features=48)
    return read_adjacency(A), read_features(X), Method(5, R)


def test_a_panel_for_each_worker_whatever_the_number_of_columns(panels_of_two):
    from nafs.engines.dask import DaskEngine

    class Cluster(DaskEngine):
        def workers(self, problem):
            return self.count, False

    graph, _, method = panels_of_two
    engine = Cluster()
    for columns in (9, 50, 100, 300, 1433):
        for engine.count in (2, 3, 5):
            widths = engine.plan(problem_of(graph, columns, method)).widths
            assert sum(widths) == columns
            assert len(widths) <= engine.count


@pytest.mark.parametrize("lost", ["none", "killed", "for good", "one process"])
def test_workers_with_a_panel_each(tmp_path, monkeypatch, caplog, panels_of_two, lost):
    distributed = pytest.importorskip("distributed")
    from nafs.engines import dask
    from nafs.engines.dask import DaskEngine

    monkeypatch.setattr(panels, "ROUND_VALUES", 0)
    monkeypatch.setattr(dask, "COMEBACK", 0.5 if lost == "for good" else 20.0)

    def count_starts():  # on a worker: how often a panel is smoothed from the features on
        original = Panels._hops

        def counted(self, task, **options):
            Panels.starts = getattr(Panels, "starts", 0) + 1
            return original(self, task, **options)

        Panels._hops = counted

    graph, features, method = panels_of_two
    steps = []
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            **({"processes": False} if lost == "one process" else {"host": "127.0.0.1"}),
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):

        def follow(progress):
            steps.append(progress)
            if len(steps) == 5 and lost == "killed":
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            if len(steps) == 5 and lost == "for good":
                cluster.scale(1)

        def run(folder, progress):
            options = {"work_dir": tmp_path / folder, "client": client, "progress": progress}
            return run_engine(DaskEngine(), graph, features, method, **options).tobytes()

        client.run(count_starts)
        in_rounds = run("rounds", follow)
        starts = sum(client.run(lambda: getattr(Panels, "starts", 0)).values())
        assert not list((tmp_path / "rounds").glob("parts-*"))
        cluster.scale(2)
        client.wait_for_workers(2)  # as many as before, for panels of the same widths
        monkeypatch.setattr(panel_engine, "takes_rounds", lambda *_: False)
        assert run("passes", None) == in_rounds
    assert ("measure" in {step.step for step in steps}) == (lost in ("for good", "one process"))
    assert steps[-1].done == steps[-1].total
    assert ("takes two passes" in caplog.text) == (lost == "for good")
    if lost == "none":
        assert starts == 2 * len(R)  # every panel once for each r
