"""The width of an embedding: features are reduced before smoothing, and the loss is reported."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from command import run
from random_graphs import random_graph
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from nafs import NAFS, Graph, NodeEmbedder, embed
from nafs.graph import read_features
from nafs.pipeline import Job, Settings, decide, features_again
from nafs.selection import reduction
from nafs.selection.reduction import leading_directions, reduce


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    A, _ = random_graph(3, n=400)
    spread = np.exp(-np.arange(600) / 40)  # hardly anything beyond 256 directions
    return Graph(A, rng.normal(size=(400, 600)) * spread)


def test_auto_keeps_at_most_256_columns_and_says_what_is_lost(wide):
    embedding = embed(wide, n_hops=3)
    assert embedding.matrix.shape == (400, 256)
    assert embedding.settings["dim"] == 256
    _, reason = embedding.choice.reasons
    assert reason.startswith("600 features reduced to 256 by svd (")
    assert "% of the sum of squares lost" in reason
    assert embed(wide, n_hops=3, dim="full").matrix.shape == (400, 600)
    assert embed(wide, n_hops=3, dim=10).matrix.shape == (400, 10)
    assert embed(wide, n_hops=3, dim=10, ensemble="concat").matrix.shape == (400, 60)


def test_narrow_features_stay_as_they_are():
    A, X = random_graph(4, n=50, n_features=256)
    graph = Graph(A, X)
    np.testing.assert_array_equal(
        embed(graph, n_hops=3).matrix, NAFS(3).fit_transform(X, adjacency=graph.adjacency)
    )
    assert embed(graph, n_hops=3, dim=1000).matrix.shape == (50, 256)


@pytest.mark.parametrize("ensemble", ["mean", "concat"])
def test_reducing_before_smoothing_is_reducing_the_embedding(wide, ensemble):
    full = embed(wide, n_hops=4, dim="full", ensemble=ensemble).matrix
    narrow = embed(wide, n_hops=4, ensemble=ensemble).matrix
    products = full @ full.T
    assert np.abs(narrow @ narrow.T - products).max() < 1e-3 * np.abs(products).max()


def test_max_depends_on_the_columns_and_keeps_them(wide):
    assert embed(wide, n_hops=3, ensemble="max").matrix.shape == (400, 600)
    assert embed(wide, n_hops=3, ensemble="max", dim=20).matrix.shape == (400, 20)


def test_the_paper_keeps_all_columns(wide):
    assert NAFS(3).fit_transform(wide).shape == (400, 600)
    assert NAFS(3, dim="auto").fit_transform(wide).shape == (400, 256)
    assert NodeEmbedder(wide, n_hops=3).fit_transform(np.arange(5)).shape == (5, 256)


def test_structural_features_have_the_width_that_is_asked_for():
    graph = Graph(random_graph(5, n=60)[0])
    widths = [embed(graph, n_hops=2, dim=dim).matrix.shape[1] for dim in ("auto", "full", 7, 200)]
    assert widths == [128, 128, 7, 200]
    beside = Graph(graph.adjacency, np.ones((60, 3)))
    assert embed(beside, n_hops=2, structure=10).matrix.shape[1] == 13
    assert embed(beside, n_hops=2, structure=10, dim=5).matrix.shape[1] == 5


def test_the_same_bits_for_any_number_of_blas_threads(wide):
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            results.append(embed(wide, n_hops=2, n_threads=threads).matrix)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("sample", [1 << 17, 500])
def test_leading_directions_are_those_of_the_svd(monkeypatch, sparse, sample):
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(900, 12)) * np.arange(12, 0, -1)) @ rng.normal(size=(12, 80))
    X *= rng.random((900, 80)) < 0.3 if sparse else 1
    monkeypatch.setattr(reduction, "_SAMPLE", sample)
    axes = leading_directions(read_features(sp.csr_array(X) if sparse else X), 6)
    np.testing.assert_allclose(axes.T @ axes, np.eye(6), atol=1e-5)
    _, _, right = randomized_svd(X, 6, n_iter=20, random_state=0)
    kept, best = (np.sum((X @ directions) ** 2) for directions in (axes, right.T))
    assert kept > (0.999 if sample > 900 else 0.98) * best


def test_directions_of_falling_size_are_all_found():
    """Without columns that are kept apart in every step, the small ones would be lost in rounding."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((size, 300)))[0] for size in (500, 300))
    matrix = ((left * 10.0 ** (-np.arange(300) / 20)) @ right.T).astype(np.float32)
    axes = leading_directions(read_features(matrix), 64).astype(np.float64)
    kept = ((matrix @ axes) ** 2).sum(axis=0)
    best = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)[:64] ** 2
    np.testing.assert_allclose(np.sort(kept)[::-1][:40], best[:40], rtol=1e-3)
    np.testing.assert_allclose(axes.T @ axes, np.eye(64), atol=1e-5)


@pytest.mark.parametrize("scale", [1e-28, 1e28])
def test_very_small_and_very_large_features_can_be_reduced(scale):
    X = np.random.default_rng(0).normal(size=(100, 3)) @ np.random.default_rng(1).normal(size=(3, 40))
    reduced, lost = reduce(read_features(X * scale), 3)
    assert lost < 1e-5
    assert np.isfinite(reduced.toarray()).all()


def test_features_are_made_again_as_they_were(wide):
    A, _ = random_graph(6, n=300, density=0.05)
    graph = Graph(A, wide.features.toarray()[:300])
    for options in ({"preprocessing": "standardize", "center": "mean"}, {"structure": 8, "dim": 40}):
        settings = Settings.of(n_hops=2, **options)
        embedding = embed(graph, n_hops=2, **options)
        again = features_again(graph, embedding.settings)
        expected = NAFS(2).fit_transform(again.toarray(), adjacency=graph.adjacency)
        np.testing.assert_allclose(embedding.matrix, expected, atol=1e-5)
        assert decide(Job.of(graph, settings)).n_columns == again.shape[1]


@pytest.mark.parametrize("dim", ["wide", 0, 2.5, None])
def test_a_width_that_is_none_is_refused(wide, dim):
    with pytest.raises((ValueError, TypeError), match="dim must be"):
        embed(wide, dim=dim)


def test_the_command_line_says_what_is_lost_and_the_plan_knows_the_width(wide, tmp_path, capsys):
    wide.save(tmp_path / "graph")
    words = (tmp_path / "graph", "--hops", "2")
    assert run("plan", *words) == 0
    assert "256, reduced from 600" in capsys.readouterr().out
    assert run("embed", *words, "-o", tmp_path / "z.npy") == 0
    assert "600 features reduced to 256 by svd" in capsys.readouterr().err
    assert run("embed", *words, "--dim", "full", "-o", tmp_path / "all.npy", "--json") == 0
    assert json.loads(capsys.readouterr().out)["dimensions"] == 600
    assert run("embed", *words, "--dim", "some", "-o", tmp_path / "no.npy") == 2
    assert "--dim must be a whole number, auto or full; got 'some'" in capsys.readouterr().err


def test_the_memory_of_a_reduction_is_planned():
    import tracemalloc

    from nafs.pipeline import execute

    X = sp.random_array((20_000, 3000), density=0.01, format="csr", rng=np.random.default_rng(0))
    graph = Graph(sp.csr_array((20_000, 20_000)), X)
    decision = decide(Job.of(graph, Settings.of(n_hops=1, r=0.5, dim=64)))
    execute(decision)
    tracemalloc.start()
    execute(decide(decision.job))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.12 * decision.plan.nbytes
    with pytest.raises(MemoryError, match="preparing and reducing the features needs"):
        embed(graph, n_hops=1, dim=64, memory_limit="8MB")
