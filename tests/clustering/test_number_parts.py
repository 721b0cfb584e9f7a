"""The number of clusters of many rows: parts of the sample are rated, whatever the order of the rows."""

import numpy as np

from nafs.clustering import ClusterSearch
from nafs.graph import read_adjacency


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


def test_hops_with_other_groups_do_not_hide_those_of_the_edges():
    """Six groups in the edges; the rows of one embedding have two others, those of a column."""
    rng = np.random.default_rng(0)
    truth, column = np.arange(600) % 6, rng.integers(0, 2, 600)
    same = truth[:, None] == truth
    edges = np.triu(rng.random((600, 600)) < np.where(same, 0.1, 0.004), 1)

    def rows(groups, width):
        return np.eye(width)[groups] + 0.05 * rng.normal(size=(600, width))

    sweep = [(2, rows(column, 2)), (6, rows(truth, 6)), (15, rows(truth, 6))]
    searched = ClusterSearch(sweep, 24, graph=read_adjacency(edges | edges.T))
    assert searched.cluster("auto").n_clusters == 6


def test_samples_smaller_than_a_part():
    curve = search(shuffled=False, sample=500).number_curve()
    assert curve[5] > 0.99 > curve[7]
