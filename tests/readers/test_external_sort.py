"""Neighbour lists sorted in a file equal those that are sorted in memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from nafs.graph.adjacency import merge_edges
from nafs.readers import external_sort
from nafs.readers.database import Bounds
from nafs.readers.external_sort import EdgeList, sorted_adjacency


@pytest.fixture(autouse=True)
def tiny_runs(monkeypatch):
    monkeypatch.setattr(external_sort, "_SHORTEST", 8)  # many runs and ranges even for few edges


def both(edges, n, *, memory=1000, threads=2, weighted, directed, self_loops):
    values = np.ones(len(edges), bool) if edges.weights is None else edges.weights
    ends = edges.sources, edges.targets
    if edges.places is not None:
        ends = edges.places[edges.sources], edges.places[edges.targets]
    expected = merge_edges(
        sp.coo_array((values, ends), shape=(n, n)), directed=directed, self_loops=self_loops
    )
    bounds = Bounds(memory=memory, threads=threads)
    on_disk = sorted_adjacency(edges, n, bounds, weighted=weighted, directed=directed, self_loops=self_loops)
    return on_disk, expected


def check(on_disk, expected):
    (adjacency, merging), (in_memory, merged_in_memory) = on_disk, expected
    np.testing.assert_array_equal(adjacency.indptr, in_memory.indptr)
    np.testing.assert_array_equal(adjacency.indices, in_memory.indices)
    if in_memory.weights is None:
        assert adjacency.weights is None
    else:
        np.testing.assert_allclose(adjacency.weights, in_memory.weights, rtol=1e-6)
    assert merging == merged_in_memory


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 12),
    st.lists(
        st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from([0.0, 0.5, 1.0, 3.0])), max_size=120
    ),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 3_000, 10**6]),
    st.randoms(use_true_random=False),
)
def test_it_equals_sorting_in_memory(n, rows, weighted, directed, self_loops, memory, random):
    table = np.array(rows, float).reshape(-1, 3)
    ends = (table[:, :2] % n).astype(np.int32)
    weights = table[:, 2].copy() if weighted else None
    places = np.array(random.sample(range(n), n)) if n % 2 else None
    edges = EdgeList(ends[:, 0], ends[:, 1], weights, places)
    differ = weighted and bool((weights[weights != 0] != 1).any())
    check(*both(edges, n, memory=memory, weighted=differ, directed=directed, self_loops=self_loops))


@pytest.mark.parametrize("directed", [False, True])
def test_a_hub_and_a_pair_that_is_listed_again_and_again(directed):
    rng = np.random.default_rng(0)
    hub = np.zeros(5_000, np.int32), rng.integers(0, 3_000, 5_000).astype(np.int32)
    again = np.full(5_000, 7, np.int32), np.full(5_000, 8, np.int32)
    edges = EdgeList(*(np.concatenate(parts) for parts in zip(hub, again, strict=True)))
    check(*both(edges, 3_000, memory=20_000, weighted=False, directed=directed, self_loops=False))


def test_the_largest_positions_fit_into_a_key():
    far = np.array([2**31 - 2, 0], np.int32)
    key = external_sort.Entries.sorted(far.astype(np.int64) << 32 | far[::-1].astype(np.int64) << 1 | 1, None)
    assert (key.keys > 0).all()
    assert (key.both_ways().keys >> 31).tolist() == [0, 2**31 - 2]
    assert (key.both_ways().keys & external_sort._TARGET).tolist() == [2**31 - 2, 0]


def test_threads_and_memory_do_not_change_the_bits():
    rng = np.random.default_rng(1)
    sources, targets = rng.integers(0, 200, (2, 4_000)).astype(np.int32)
    edges = EdgeList(sources, targets, rng.integers(1, 9, 4_000) / 8)
    results = [
        both(edges, 200, memory=memory, threads=threads, weighted=True, directed=False, self_loops=True)[0]
        for memory in (1, 5_000, 10**8)
        for threads in (1, 2, 5)
    ]
    for adjacency, merging in results[1:]:
        assert adjacency.weights.tobytes() == results[0][0].weights.tobytes()
        assert merging == results[0][1]
