"""Every option agrees with the float64 oracle, and the bits do not depend on threads or strategy."""

import itertools
import os
from pathlib import Path

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from closeness import COMBINATIONS, assert_close
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import hub_graph, random_graph

from nafs import NAFS, oversmoothing_distances, smoothed_features, smoothing_weights
from nafs.datasets import load_planetoid
from nafs.smoothing import _kernel, normalized_adjacency, stationary_state
from nafs.smoothing.method import DISTANCES, ENSEMBLES, WEIGHTINGS


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(("ensemble", "weighting", "distance"), COMBINATIONS)
def test_every_combination_agrees_with_the_oracle(ensemble, weighting, distance, weighted):
    A, X = random_graph(1, weighted=weighted)
    r = (0.0, 0.3, 1.0)
    embedding = NAFS(7, r, ensemble, weighting, distance).fit_transform(X, adjacency=A)
    assert_close(embedding, oracle.embedding(A.toarray(), X, 7, r, ensemble, weighting, distance))


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    density=st.floats(0, 0.5),
    n_features=st.integers(1, 70),
    n_hops=st.integers(0, 12),
    weighted=st.booleans(),
    sparse=st.booleans(),
    r=st.lists(st.floats(0, 1), min_size=1, max_size=4).map(tuple),
    options=st.sampled_from(COMBINATIONS),
)
def test_random_graphs_agree_with_the_oracle(
    seed, n, density, n_features, n_hops, weighted, sparse, r, options
):
    A, X = random_graph(seed, n, density, weighted=weighted, n_features=n_features, sparse=sparse)
    embedding = NAFS(n_hops, r, *options).fit_transform(X, adjacency=A)
    assert_close(embedding, oracle.embedding(A.toarray(), X, n_hops, r, *options))


@given(
    seed=st.integers(0, 2**32 - 1),
    n_hops=st.integers(0, 10),
    r=st.floats(0, 1),
    distance=st.sampled_from(DISTANCES),
    weighted=st.booleans(),
)
def test_inspection_agrees_with_the_oracle(seed, n_hops, r, distance, weighted):
    A, X = random_graph(seed, 30, 0.1, weighted=weighted, n_features=5)
    dense = A.toarray()
    D = oracle.distances(dense, X, n_hops, r, distance)
    np.testing.assert_allclose(oversmoothing_distances(X, A, n_hops, r, distance), D, rtol=1e-4, atol=2e-6)
    for weighting in WEIGHTINGS:
        np.testing.assert_allclose(
            smoothing_weights(X, A, n_hops, r, distance, weighting),
            oracle.weights(D, weighting, distance),
            rtol=1e-4,
            atol=2e-5,
        )
    np.testing.assert_allclose(normalized_adjacency(A, r).toarray(), oracle.normalized(dense, r), rtol=1e-6)
    np.testing.assert_allclose(
        stationary_state(X, A, r), oracle.stationary(dense, X, r), rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(
        smoothed_features(X, A, n_hops, r),
        oracle.hops(dense, X, n_hops, r)[-1],
        rtol=1e-5,
        atol=2e-6,
    )


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1.0, 1e12, 1e28])
def test_the_scale_of_features_does_not_matter(scale):
    A, X = random_graph(4, n_features=33)
    expected = oracle.embedding(A.toarray(), X, 6, (0.5,), "mean", "adaptive", "cosine")
    embedding = NAFS(6, 0.5).fit_transform(X * scale, adjacency=A)
    assert_close(embedding / np.float32(scale), expected)


def test_rows_of_very_different_size():
    A, X = random_graph(5, n_features=20)
    X *= np.logspace(-25, 10, len(X))[:, None]
    assert_close(
        NAFS(5, 0.5).fit_transform(X, adjacency=A),
        oracle.embedding(A.toarray(), X, 5, (0.5,), "mean", "adaptive", "cosine"),
    )


def test_a_large_euclidean_distance_does_not_overflow():
    A, X = random_graph(6)
    X = X * 300  # exp(D) alone would overflow float32
    embedding = NAFS(6, 0.2, distance="euclidean").fit_transform(X, adjacency=A)
    expected = oracle.embedding(A.toarray(), X, 6, (0.2,), "mean", "adaptive", "euclidean")
    # D itself is known to 1e-7 of its size, and the weights see that error times D.
    assert np.abs(embedding - expected).max() < 1e-3 * np.abs(expected).max()


def test_hubs_are_summed_without_losing_digits():
    n = 200_000
    star = sp.coo_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))
    X = np.full((n, 1), 0.1)
    X[0] = 7.7
    hub = smoothed_features(X, star, hop=1, r=0.0, directed=False)[0, 0]
    assert abs(hub - (7.7 + 0.1 * (n - 1)) / n) < 1e-5 * 0.1


@pytest.mark.parametrize("loops", ["baseline", _kernel.in_use()])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("state_dtype", ["float32", "float16"])
@pytest.mark.parametrize("width", [1, 8, 65, 129])
@pytest.mark.parametrize("weighted", [False, True])
def test_hubs_in_every_loop(weighted, width, state_dtype, stream, loops, monkeypatch, request):
    A, X = hub_graph(width, weighted=weighted)
    monkeypatch.setattr("nafs.smoothing.hops._STREAM_BYTES", 0 if stream else 1 << 40)
    before = _kernel.in_use()
    request.addfinalizer(lambda: _kernel.use(before))
    _kernel.use(loops)
    embedding = NAFS(3, (0.5,), state_dtype=state_dtype).fit_transform(X, adjacency=A)
    expected = oracle.embedding(A, X, 3, (0.5,), "mean", "adaptive", "cosine")
    if state_dtype == "float32":
        assert_close(embedding, expected)
    else:
        assert np.abs(embedding - expected).max() < 5e-3 * np.abs(expected).max()


@given(seed=st.integers(0, 2**32 - 1), r=st.floats(0, 1), weighting=st.sampled_from(WEIGHTINGS))
def test_directed_graphs_agree_with_the_oracle(seed, r, weighting):
    rng = np.random.default_rng(seed)
    A = (rng.random((30, 30)) < 0.1) * rng.uniform(0.1, 2.0, (30, 30))
    np.fill_diagonal(A, 0)
    X = rng.normal(size=(30, 6))
    embedding = NAFS(5, r, weighting=weighting, directed=True).fit_transform(X, adjacency=A)
    assert_close(embedding, oracle.embedding(A, X, 5, (r,), "mean", weighting, "cosine"))


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0])
@pytest.mark.parametrize("distance", DISTANCES)
def test_linear_weights_do_not_depend_on_the_unit(distance, scale):
    A, X = random_graph(12)
    expected = oracle.embedding(A.toarray(), X, 6, (0.3,), "mean", "linear", distance)
    assert_close(
        NAFS(6, 0.3, "mean", "linear", distance).fit_transform(X * scale, adjacency=A) / scale, expected
    )


def test_two_python_threads_at_once():
    from concurrent.futures import ThreadPoolExecutor

    A, X = random_graph(13, 300, 0.05, n_features=70)
    expected = NAFS(8, n_threads=2).fit_transform(X, adjacency=A)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(NAFS(8, n_threads=2).fit_transform, X, adjacency=A) for _ in range(24)]
        assert all(np.array_equal(run.result(), expected) for run in runs)


@pytest.mark.parametrize("width", [1, 3, 8, 15, 64, 100, 129])
@pytest.mark.parametrize("distance", DISTANCES)
def test_the_same_bits_however_it_is_run(width, distance, monkeypatch):
    monkeypatch.setattr("nafs.engines.memory.CACHED_STATE", 0)  # so that a limit means side by side
    monkeypatch.setattr("nafs.engines.memory.WIDE_ENOUGH", 10**9)
    A, X = random_graph(7, 300, 0.05, weighted=True, n_features=width)
    r = (0.0, 0.25, 0.5)
    first = NAFS(6, r, "concat", distance=distance, n_threads=1).fit_transform(X, adjacency=A)
    for threads, limit in [(1, None), (2, None), (3, None), (7, None), (1, "1GB"), (2, "1GB")]:
        again = NAFS(6, r, "concat", distance=distance, n_threads=threads, memory_limit=limit).fit_transform(
            X, adjacency=A
        )
        assert first.tobytes() == again.tobytes()
    for column, value in enumerate(r):
        alone = NAFS(6, value, distance=distance).fit_transform(X, adjacency=A)
        assert np.array_equal(first[:, column * width : (column + 1) * width], alone)


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_a_sweep_yields_what_separate_runs_would(ensemble, weighting):
    A, X = random_graph(8)
    for distance, state_dtype in itertools.product(DISTANCES, ("float32", "float16")):
        options = ((0.0, 0.5), ensemble, weighting, distance)
        swept = dict(NAFS(9, *options, state_dtype=state_dtype).sweep(X, adjacency=A, hops=[9, 0, 4]))
        assert list(swept) == [0, 4, 9]
        for K, Z in swept.items():
            alone = NAFS(K, *options, state_dtype=state_dtype).fit_transform(X, adjacency=A)
            assert np.array_equal(Z, alone)


def test_a_sweep_reuses_memory_only_when_it_is_released():
    A, X = random_graph(8)
    model = NAFS(9, 0.5)
    kept = [Z for _, Z in model.sweep(X, adjacency=A)]
    assert len({Z.ctypes.data for Z in kept}) == 9
    places, slices = set(), []
    for K, Z in model.sweep(X, adjacency=A):
        assert np.array_equal(Z, kept[K - 1])
        places.add(Z.ctypes.data)
        if K == 4:
            slices.append(Z[5:, ::2])  # a view alone keeps its memory
    assert len(places) <= 3
    assert np.array_equal(slices[0], kept[3][5:, ::2])


def test_large_states_are_streamed_past_the_cache_with_the_same_bits(monkeypatch):
    import nafs.smoothing.hops as hops_module

    A, X = random_graph(9, 200, 0.1, n_features=100)
    plain = NAFS(5).fit_transform(X, adjacency=A)
    monkeypatch.setattr(hops_module, "_STREAM_BYTES", 0)
    monkeypatch.setattr(hops_module, "BLOCK_WORK", 5_000)  # and in many small blocks
    assert np.array_equal(plain, NAFS(5).fit_transform(X, adjacency=A))


@pytest.fixture
def baseline_loops():
    before = _kernel.in_use()
    _kernel.use("baseline")
    yield
    _kernel.use(before)


@pytest.mark.parametrize("state_dtype", ["float32", "float16"])
@pytest.mark.parametrize("width", [1, 7, 70])
def test_loops_for_any_cpu_agree(width, state_dtype, request):
    A, X = random_graph(10, weighted=True, n_features=width)
    fast = NAFS(6, state_dtype=state_dtype).fit_transform(X, adjacency=A)
    request.getfixturevalue("baseline_loops")
    assert _kernel.in_use() == "baseline"
    embedding = NAFS(6, state_dtype=state_dtype).fit_transform(X, adjacency=A)
    tolerance = 1e-5 if state_dtype == "float32" else 2e-3
    assert np.abs(embedding - fast).max() <= tolerance * np.abs(fast).max()


def test_an_unavailable_instruction_set_is_rejected():
    with pytest.raises(ValueError, match="cannot run the loops for 'v9'"):
        _kernel.use("v9")


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_float16_states_keep_three_digits(distance, scale):
    A, X = random_graph(11, n_features=40)
    X = X * scale
    if distance == "euclidean" and scale > 1:
        X /= 1e5
    full = NAFS(10, distance=distance).fit_transform(X, adjacency=A)
    half = NAFS(10, distance=distance, state_dtype="float16").fit_transform(X, adjacency=A)
    assert np.abs(half - full).max() < 2e-3 * np.abs(full).max()
    assert not np.array_equal(half, full)


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_golden_embeddings(name, planetoid_home):
    golden = golden_values()
    X, A, _ = load_planetoid(name, planetoid_home)
    check_golden(golden, name, X, A)


def test_golden_wiki(data_home):
    from scipy.io import loadmat

    path = data_home / "wiki" / "wiki.mat"
    if not path.exists():
        pytest.skip(f"{path} is missing")
    content = loadmat(path)
    check_golden(golden_values(), "wiki", content["fea"], content["W"] != 0)


def golden_values():
    path = Path(os.environ.get("NAFS_DATA_HOME", "")).parent / "golden" / "nafs_golden.npz"
    if not path.exists():
        pytest.skip("golden/nafs_golden.npz is missing beside NAFS_DATA_HOME")
    return np.load(path, allow_pickle=False)


def check_golden(golden, name, X, A):
    rows, n_hops = golden[f"{name}_rows"], int(golden[f"{name}_n_hops"])
    for r in (0, 0.1, 0.2, 0.3, 0.4, 0.5):
        Z = NAFS(n_hops, r, directed=False).fit_transform(X, adjacency=A)
        assert_close(Z[rows], golden[f"{name}_r{r:g}_embedding"])
        W = smoothing_weights(X, A, n_hops, r, directed=False)
        np.testing.assert_allclose(W[rows], golden[f"{name}_r{r:g}_weights"], rtol=1e-5)
