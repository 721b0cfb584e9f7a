"""Columns in the cache: as exact as the usual strategy, and bit-identical for every run."""

import itertools

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from closeness import assert_close
from panel_runs import problem_of
from random_graphs import hub_graph, random_graph

from nafs import NAFS
from nafs.engines import cached
from nafs.graph import Adjacency, read_adjacency, read_features
from nafs.smoothing import Method, _kernel
from nafs.smoothing.method import ENSEMBLES

R = (0.0, 0.3, 1.0)
WIDE = 500


def wide_graph(seed, n=60, density=0.08, *, weighted=False, width=WIDE, sparse=False):
    """A random graph and its features, as dense matrices and as the package reads them."""
    A, X = random_graph(seed, n, density, weighted=weighted, n_features=width)
    if not sparse:
        return A, X, X
    X[np.random.default_rng(seed).random(X.shape) < 0.9] = 0
    features = sp.csr_array(X)
    assert read_features(features).dense is None
    return A, X, features


@pytest.fixture(params=["own", "shared"])
def used(request, monkeypatch):
    """Collects whether each embedding was computed in the cache, by threads with own or shared panels."""
    matrices, embed = [], cached.embed

    def watched(*arguments, **options):
        assert options["together"] == (request.param == "shared")
        matrices.append(embed(*arguments, **options))
        return matrices[-1]

    monkeypatch.setattr(cached, "LARGE", 0)
    if request.param == "shared":
        monkeypatch.setattr(cached, "OWN", 0)
    monkeypatch.setattr(cached, "embed", watched)
    return lambda: [matrix is not None for matrix in matrices]


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("ensemble", "weighting"), list(itertools.product(ENSEMBLES, ["adaptive", "linear", "average"]))
)
def test_every_combination_agrees_with_the_oracle(ensemble, weighting, sparse, weighted, used):
    A, X, features = wide_graph(1, 80, weighted=weighted, sparse=sparse)
    for hops in (0, 1, 6, 7):
        embedding = NAFS(hops, R, ensemble, weighting).fit_transform(features, adjacency=A)
        assert_close(embedding, oracle.embedding(A.toarray(), X, hops, R, ensemble, weighting, "cosine"))
    assert used() == [True] * 4


@pytest.mark.parametrize("width", [481, 512, 545])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_same_bits_however_it_is_run(width, sparse, used, monkeypatch):
    A, _, X = wide_graph(7, 300, 0.05, weighted=True, width=width, sparse=sparse)
    first = NAFS(6, R, "concat", n_threads=1).fit_transform(X, adjacency=A)
    for threads, limit in [(1, None), (2, None), (3, None), (7, None), (20, None), (2, "1GB")]:
        model = NAFS(6, R, "concat", n_threads=threads, memory_limit=limit)
        assert first.tobytes() == model.fit_transform(X, adjacency=A).tobytes()
    monkeypatch.setattr(cached, "BLOCK_WORK", 1 << 18)  # in many small steps
    again = NAFS(6, R, "concat", n_threads=2).fit_transform(X, adjacency=A)
    assert first.tobytes() == again.tobytes()
    assert used() == [True] * 8


@pytest.mark.parametrize("loops", ["baseline", _kernel.in_use()])
@pytest.mark.parametrize("weighted", [False, True])
def test_hubs_isolated_nodes_and_rows_without_features(weighted, loops, used, request):
    A, X = hub_graph(WIDE, weighted=weighted)
    X[[0, 5, 329]] = 0
    before = _kernel.in_use()
    request.addfinalizer(lambda: _kernel.use(before))
    _kernel.use(loops)
    embedding = NAFS(5, R).fit_transform(X, adjacency=sp.csr_array(A))
    assert_close(embedding, oracle.embedding(A, X, 5, R, "mean", "adaptive", "cosine"))
    assert used() == [True]


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e28])
def test_the_scale_of_features_does_not_matter(scale, used):
    A, X = random_graph(4, n_features=WIDE)
    expected = oracle.embedding(A.toarray(), X, 6, (0.5,), "mean", "adaptive", "cosine")
    embedding = NAFS(6, 0.5).fit_transform(X * scale, adjacency=A)
    assert_close(embedding / np.float32(scale), expected)
    assert used() == [True]


def test_rows_of_very_different_size_use_the_usual_strategy(used):
    A, X = random_graph(5, n_features=WIDE)
    X *= np.logspace(-25, 10, len(X))[:, None]
    assert_close(
        NAFS(5, 0.5).fit_transform(X, adjacency=A),
        oracle.embedding(A.toarray(), X, 5, (0.5,), "mean", "adaptive", "cosine"),
    )
    assert used() == [False]


def test_rows_that_cancel_use_the_usual_strategy(used):
    A = np.array([[0.0, 1.0], [1.0, 0.0]])
    X = np.ones((2, WIDE))
    X[1] = -1  # after one hop both are 0
    seen = []
    embedding = NAFS(3, 0.0).fit(X, adjacency=A, progress=seen.append).embedding_
    assert_close(embedding, oracle.embedding(A, X, 3, (0.0,), "mean", "adaptive", "cosine"))
    assert used() == [False]
    assert [step.step for step in seen] == ["measure", *["smooth"] * 4]
    done = [step.done for step in seen]
    assert done == sorted(done), "the bar never goes back"
    assert seen[-1].done == seen[-1].total


def test_directed_graphs_and_self_loops(used):
    rng = np.random.default_rng(6)
    A = (rng.random((40, 40)) < 0.1) * rng.uniform(0.1, 2.0, (40, 40))
    X = rng.normal(size=(40, WIDE))
    embedding = NAFS(5, 0.3, directed=True, self_loops=True).fit_transform(X, adjacency=A)
    assert_close(embedding, oracle.embedding(A, X, 5, (0.3,), "mean", "adaptive", "cosine"))
    assert used() == [True]


@pytest.mark.parametrize("value", [0.0, 2.5])
def test_a_single_node_and_all_zero_features(value, used):
    X = np.full((1, WIDE), value)
    assert np.array_equal(NAFS(3).fit_transform(X, adjacency=sp.csr_array((1, 1))), X)
    assert used() == [True]


def test_the_strategy_is_used_only_for_methods_that_it_supports():
    def pays(n=4000, width=1000, method=None, state_dtype="float32"):
        graph = read_adjacency(sp.csr_array((n, n)))
        return cached.pays(problem_of(graph, width, method or Method(6), state_dtype=state_dtype))

    assert pays()
    assert not pays(state_dtype="float16")
    assert not pays(method=Method(6, weighting="last"))
    assert not pays(method=Method(6, distance="euclidean"))
    assert not pays(method=Method(1000)), "the distances of all hops take more than states would"
    assert not pays(n=500), "states stay in the cache anyway"
    assert not pays(n=1_000_000, width=100), "no panel stays in the cache"
    assert not pays(n=40_000, width=100), "too few columns for threads to share a panel"
    assert pays(n=40_000, width=256)


def test_threads_share_a_panel_where_their_own_would_be_too_large():
    def planned(n, hops, width=500):
        indptr = np.arange(0, n + 1)
        graph = Adjacency(indptr, ((np.arange(n) + 1) % n).astype(np.int32), directed=True)
        problem = problem_of(graph, width, Method(hops))
        return cached.pays(problem), cached.shares_panels(problem)

    assert planned(19_000, 10) == (True, False)
    assert planned(19_000, 56) == (True, True)  # because of memory
    assert planned(60_000, 10) == (True, True)
    assert not planned(70_000, 10)[0]


def test_progress_counts_both_passes(used):
    A, X = random_graph(3, 60, n_features=WIDE)
    seen = []
    NAFS(4, R).fit(X, adjacency=A, progress=seen.append)
    assert used() == [True]
    assert [step.step for step in seen] == ["measure", "smooth"] * 3
    assert [step.r for step in seen[::2]] == [(r,) for r in R]
    assert seen[-1].done == seen[-1].total == 6 * 60 * 5
    assert seen[-1].hop == 4


def test_an_interrupt_is_raised(used):
    A, X = random_graph(3, 60, n_features=WIDE)

    def stop(step):
        assert step.step == "measure"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        NAFS(4, R).fit(X, adjacency=A, progress=stop)
