"""The contract of every engine, over all combinations of ensemble, weighting and distance."""

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from closeness import COMBINATIONS, assert_close
from panel_runs import R, problem_of
from random_graphs import random_graph

from nafs.engines.registry import ENGINES, find_engine
from nafs.graph import read_adjacency, read_features
from nafs.smoothing import Method

N_HOPS = 4
STRATEGIES = [*ENGINES, "cached"]  # the last one is the memory engine's way for small graphs


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        set_as_default=False,
    ) as local:
        yield local


@pytest.fixture(params=STRATEGIES)
def run(request, monkeypatch, narrow, tmp_path):
    """Runs a problem with one engine; engines with panels use eight columns each."""
    name = "memory" if request.param == "cached" else request.param
    if request.param == "cached":
        monkeypatch.setattr("nafs.engines.cached.LARGE", 0)
        monkeypatch.setattr("nafs.engines.cached._nbytes", lambda problem, slots: 0)
    engine, runs = find_engine(name), 0

    def run(graph, features, method, **options):
        nonlocal runs
        runs += 1
        if name != "memory":
            options |= {"memory_limit": narrow(graph, method), "work_dir": tmp_path / str(runs)}
        if name == "dask":
            options["client"] = request.getfixturevalue("client")
        progress = options.pop("progress", None)
        problem = problem_of(graph, features, method, **options)
        plan = engine.plan(problem)
        assert plan.engine == engine.name == name
        assert len(plan.widths) > 1 or name == "memory"
        if request.param == "cached":
            wanted = method.weighting == "average" or (method.uses_distance and method.distance == "cosine")
            assert plan.cached == wanted
        assert plan.explain().startswith(f"{name} engine, ")
        with engine.run(problem, plan, features, progress) as result:
            return np.array(result.matrix)

    return run


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_every_combination_agrees_with_the_oracle(run, sparse, weighted):
    A, X = random_graph(2, weighted=weighted, n_features=13, sparse=sparse)
    graph, features = read_adjacency(A), read_features(sp.csr_array(X) if sparse else X)
    for ensemble, weighting, distance in COMBINATIONS:
        method = Method(N_HOPS, R, ensemble, weighting, distance)
        expected = oracle.embedding(A.toarray(), X, N_HOPS, R, ensemble, weighting, distance)
        assert_close(run(graph, features, method), expected)


@pytest.mark.filterwarnings("default")
def test_threads_do_not_change_a_bit_and_progress_reaches_the_end(run):
    A, X = random_graph(3, n=300, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    seen = []
    results = [
        run(graph, features, Method(N_HOPS, R), n_threads=threads, progress=seen.append).tobytes()
        for threads in (1, 2, 3)
    ]
    assert len(set(results)) == 1
    assert seen[-1].done == seen[-1].total


@pytest.mark.filterwarnings("default")
def test_half_precision_results(run):
    A, X = random_graph(4, n_features=20)
    graph, features = read_adjacency(A), read_features(X)
    half = run(graph, features, Method(N_HOPS, R), dtype="float16")
    whole = run(graph, features, Method(N_HOPS, R))
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, whole, atol=2e-3 * np.abs(whole).max())


@pytest.mark.parametrize("name", ["memory", "disk"])
def test_a_plan_stays_within_the_limit_or_raises(name):
    graph = read_adjacency(sp.csr_array((50_000, 50_000)))
    engine = find_engine(name)
    for limit in (10**6, 10**7):
        with pytest.raises(MemoryError, match="more than the memory_limit of"):
            engine.plan(problem_of(graph, 96, Method(), memory_limit=limit))
    for limit in (9 * 10**7, 10**8, 10**9):
        assert engine.plan(problem_of(graph, 96, Method(), memory_limit=limit)).nbytes <= limit


def test_every_engine_is_in_the_registry_and_offered_by_the_settings():
    from nafs.engines.resources import Resources

    for name in ENGINES:
        assert find_engine(name).name == name
        assert Resources(engine=name).engine == name
    with pytest.raises(ValueError, match="engine must be one of 'auto', 'memory', 'disk', 'dask'; got 'gpu'"):
        Resources(engine="gpu")
