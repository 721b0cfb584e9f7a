"""Whole-number ids get the same numbers whether they lie close together or far apart."""

import numpy as np
import pytest

from nafs import from_edges
from nafs.readers import edges as module
from nafs.readers.numbering import DenseNumbers, is_dense


@pytest.mark.parametrize("low", [0, -50, 10**15])
@pytest.mark.parametrize("weighted", [False, True])
def test_dense_and_sparse_ids_are_numbered_alike(monkeypatch, low, weighted):
    rng = np.random.default_rng(0)
    sources, targets = low + rng.integers(0, 60, (2, 300))
    columns = (sources, targets, rng.random(300) + 0.5) if weighted else (sources, targets)
    graphs = []
    for dense in (True, False):
        monkeypatch.setattr(module, "is_dense", lambda *_, dense=dense: dense)
        graphs.append(from_edges(columns))
    assert graphs[0].ids.tolist() == graphs[1].ids.tolist()
    assert graphs[0].ids[:2].tolist() == [sources[0], targets[0]]
    for name in ("indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(graphs[0].adjacency, name), getattr(graphs[1].adjacency, name))


def test_batches_continue_the_numbers():
    rng = np.random.default_rng(1)
    pairs = rng.integers(5, 40, (2, 500))
    whole, parts = DenseNumbers(5, 39), DenseNumbers(5, 39)
    expected = whole.of_pairs(*pairs)
    got = [parts.of_pairs(*pairs[:, begin : begin + 7]) for begin in range(0, 500, 7)]
    for end in (0, 1):
        np.testing.assert_array_equal(np.concatenate([one[end] for one in got]), expected[end])
    np.testing.assert_array_equal(parts.ids, whole.ids)


def test_a_table_of_numbers_stays_small_beside_the_edges():
    assert is_dense(0, 1000, 1)
    assert is_dense(10**12, 10**12 + 4_000_000, 1_000_001)
    assert not is_dense(0, 10**9, 1_000_000)
