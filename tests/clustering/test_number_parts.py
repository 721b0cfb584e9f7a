"""The number of clusters of many rows: parts of the sample are rated, whatever the order of the rows."""

import numpy as np

from nafs.clustering import ClusterSearch


def search(*, shuffled, sample):
    rng = np.random.default_rng(0)
    rows = np.repeat(np.eye(5), 1200, axis=0) + 0.02 * rng.normal(size=(6000, 5))
    rows = rng.permutation(rows) if shuffled else rows
    return ClusterSearch([(1, rows.astype(np.float32))], 24, sample=sample)


def test_rows_in_the_order_of_their_clusters():
    for shuffled in (False, True):
        assert search(shuffled=shuffled, sample=5000).cluster("auto").n_clusters == 5


def test_all_nodes_of_a_graph_that_is_not_sampled():
    for shuffled in (False, True):
        assert search(shuffled=shuffled, sample=20_000).cluster("auto").n_clusters == 5


def test_samples_smaller_than_a_part():
    curve = search(shuffled=False, sample=500).number_curve()
    assert curve[5] > 0.99 > curve[7]
