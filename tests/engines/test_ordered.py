"""Engines over renumbered nodes: where the plan says so, within its limit, with the same bits."""

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from closeness import assert_close
from random_graphs import random_graph

from nafs import NAFS
from nafs.engines import memory, panel_engine
from nafs.engines.base import FeatureSize, Problem
from nafs.engines.disk import DiskEngine
from nafs.engines.memory import MemoryEngine
from nafs.engines.panels import Panels
from nafs.engines.resources import Resources
from nafs.graph import Adjacency, read_adjacency, read_features
from nafs.smoothing import Method, order
from nafs.smoothing.ensembles import ENSEMBLES
from nafs.smoothing.weightings import WEIGHTINGS


@pytest.fixture
def used(monkeypatch):
    """One entry for each run that renumbered its nodes; every run does so where it may."""
    calls, renumber = [], memory.community_order

    def watched(*arguments, **options):
        calls.append(1)
        return renumber(*arguments, **options)

    monkeypatch.setattr(memory, "CACHED_STATE", 0)
    monkeypatch.setattr(order, "_PAYS_FROM", 0)
    monkeypatch.setattr(memory, "community_order", watched)
    return calls


@pytest.mark.parametrize("limit", [None, "1GB"])
def test_an_embedding_agrees_with_the_oracle_and_with_the_given_order(limit, used, monkeypatch):
    A, X = random_graph(8, 200, 0.04, n_features=16)
    r = (0.0, 0.5)
    renumbered = [
        NAFS(6, r, n_threads=threads, memory_limit=limit).fit_transform(X, adjacency=A)
        for threads in (1, 2, 5)
    ]
    assert len(used) == 3
    assert_close(renumbered[0], oracle.embedding(A.toarray(), X, 6, r, "mean", "adaptive", "cosine"))
    monkeypatch.setattr(memory, "CACHED_STATE", 1 << 40)
    usual = NAFS(6, r, memory_limit=limit).fit_transform(X, adjacency=A)
    assert len(used) == 3
    assert {embedding.tobytes() for embedding in renumbered} == {usual.tobytes()}


def test_a_sweep_is_renumbered_too(used):
    A, X = random_graph(8, 200, 0.04, n_features=16)
    r = (0.0, 0.5)
    for hops, embedding in NAFS(6, r).sweep(X, adjacency=A, hops=[2, 6]):
        assert_close(embedding, oracle.embedding(A.toarray(), X, hops, r, "mean", "adaptive", "cosine"))
    assert len(used) == 1


def problem(n=50_000, columns=128, *, method=None, **resources):
    ring = np.arange(n, dtype=np.int32)
    indices = np.stack([np.roll(ring, 1), np.roll(ring, -1)], axis=1).ravel()
    graph = Adjacency(np.arange(0, 2 * n + 1, 2), indices)
    size = FeatureSize(columns, 4 * n * columns)
    return Problem(graph, size, method or Method(), Resources(n_threads=2, **resources))


def test_the_plan_says_where_nodes_are_renumbered():
    plan = MemoryEngine().plan
    default = plan(problem())
    assert default.ordered
    assert 0 < default.arranged < 50_000, "without a limit part of the features is copied"
    assert default.nbytes <= 5 * 4 * 50_000 * 128
    assert "community order" in default.strategy
    assert not plan(problem(1000)).ordered, "the states stay in the cache"
    assert not plan(problem(method=Method(2))).ordered, "two hops do not pay for it"
    assert plan(problem(memory_limit="2GB")).arranged == 50_000


def test_the_plan_keeps_every_limit():
    given_order = memory._needed(problem(), 1)
    with_order = memory._needed(problem(), 1, ordered=True)
    with_copy = memory._needed(problem(), 1, ordered=True, arranged=50_000)
    assert given_order < with_order < with_copy
    for limit, ordered, arranged in (
        (given_order, False, 0),
        (with_order - 1, False, 0),
        (with_order, True, 0),
        (with_order + 4 * 128 * 1000, True, 1000),
        (with_copy - 1, True, 49_999),
        (with_copy, True, 50_000),
    ):
        plan = MemoryEngine().plan(problem(memory_limit=limit))
        assert (plan.ordered, plan.arranged) == (ordered, arranged)
        assert plan.nbytes <= limit


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def disk(request, monkeypatch, tmp_path):
    """Run the disk engine in three panels, over renumbered nodes or as they come."""
    A, X = random_graph(9, 300, 0.03, weighted=True, n_features=40)
    if request.param:
        X[np.random.default_rng(9).random(X.shape) < 0.9] = 0
        X = sp.csr_array(X)
    graph, features = read_adjacency(A), read_features(X)
    monkeypatch.setattr(order, "_PAYS_FROM", 0)
    monkeypatch.setattr(panel_engine, "even_widths", lambda *_: (16, 16, 8))

    def run(method, *, ordered, **options):
        monkeypatch.setattr(panel_engine, "CACHED_STATE", 0 if ordered else 1 << 40)
        resources = Resources(engine="disk", n_threads=2, work_dir=tmp_path / f"work-{ordered}")
        task, engine = Problem(graph, FeatureSize.of(features), method, resources, **options), DiskEngine()
        plan = engine.plan(task)
        assert plan.ordered == ordered
        assert ("community order" in plan.strategy) == ordered
        with engine.run(task, plan, features) as result:
            assert not (tmp_path / "work-True" / "order.npy").exists(), "the order is gone when it was used"
            return np.array(result.matrix)

    return run


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_no_bit_of_a_disk_run_changes(ensemble, weighting, disk):
    method = Method(4, (0.0, 0.3), ensemble, weighting)
    assert disk(method, ordered=True).tobytes() == disk(method, ordered=False).tobytes()


def test_an_interrupted_run_over_renumbered_nodes_is_resumed(disk, monkeypatch):
    method, run_task, done = Method(4, (0.0, 0.3)), Panels.run, []

    def stopped(self, task, tick=None):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(task)
        run_task(self, task, tick)

    with monkeypatch.context() as patch:
        patch.setattr(Panels, "run", stopped)
        with pytest.raises(KeyboardInterrupt):
            disk(method, ordered=True)
    resumed = disk(method, ordered=True, resume=True)
    assert resumed.tobytes() == disk(method, ordered=False).tobytes()


def test_distances_to_the_stationary_state_keep_the_given_order_on_disk(monkeypatch):
    monkeypatch.setattr(panel_engine, "CACHED_STATE", 0)
    asked = problem(1000, method=Method(distance="euclidean"), engine="disk")
    assert not DiskEngine().plan(asked).ordered
