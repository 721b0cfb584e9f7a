"""More hops than usual, where clusters get better with every hop."""

import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from nafs import Graph, embed
from nafs.clustering import ClusterSearch
from nafs.clustering.candidates import Candidates, choose_hops, is_rising, rate_hops
from nafs.clustering.edges import Edges
from nafs.clustering.measures import mutual_information
from nafs.clustering.own_features import OwnFeatures
from nafs.datasets import contextual_sbm
from nafs.graph import read_features
from nafs.pipeline import Job, Settings, search_clusters


def trees(seed=0, n_groups=4, size=250, words=2000):
    """Hierarchies joined by a few edges. A node has half of its parent's words, and three of its own."""
    rng = np.random.default_rng(seed)
    n = n_groups * size
    labels, at = np.repeat(np.arange(n_groups), size), np.tile(np.arange(size), n_groups)
    parents = np.arange(n) - rng.integers(1, np.maximum(at, 1) + 1)
    features = np.zeros((n, words), bool)
    for node in range(n):
        new = rng.integers(0, words, rng.poisson(3))
        typical = rng.random(len(new)) < 0.1  # of the group
        new[typical] = new[typical] // n_groups * n_groups + labels[node]
        features[node, new] = True
        if at[node]:
            features[node] |= features[parents[node]] & (rng.random(words) < 0.5)
    children = np.flatnonzero(at)
    first = np.concatenate([children, rng.integers(0, n, 6)])
    second = np.concatenate([parents[children], rng.integers(0, n, 6)])
    edges = sp.csr_array((np.ones(len(first)), (first, second)), shape=(n, n))
    return Graph((edges + edges.T).astype(bool), features.astype(np.float32), labels=labels, directed=False)


def search_of(graph, count=4):
    return search_clusters(
        Job.of(graph, Settings.of(n_hops="auto", n_clusters=count, structure="none", n_threads=1))
    )


def test_trees_get_more_hops_and_better_clusters():
    indices = []
    for seed in range(4):
        graph = trees(seed)
        search = search_of(graph)
        more = search.consensus(4)
        assert max(more.curve) > 20
        assert "hops were used instead of 1 to 20" in more.explain()
        fewer = search_of(graph)
        fewer._rest = iter(())
        usual = fewer.consensus(4)
        assert list(usual.curve) == [1, 2, 3, 4, 6, 8, 11, 15, 20]
        indices.append([adjusted_rand_score(graph.labels.codes, each.labels) for each in (more, usual)])
    assert np.diff(indices).max() < 0  # better with each seed
    assert np.mean(indices, axis=0)[0] > np.mean(indices, axis=0)[1] + 0.2


def test_the_result_does_not_depend_on_earlier_ones():
    graph = trees()
    search = search_of(graph)
    first, numbers = search.consensus(4, seed=1), search.number_curve()
    again = search_of(graph)
    assert again.number_curve() == numbers
    again.consensus(3)
    np.testing.assert_array_equal(again.consensus(4, seed=1).labels, first.labels)


def test_the_embedding_has_the_hops_that_were_chosen():
    embedding = embed(trees(), n_hops="auto", n_clusters=4, structure="none")
    assert embedding.choice.n_hops in embedding.choice.curve
    assert embedding.choice.n_hops > 20


def test_the_sweep_is_continued_once_and_without_a_copy_of_the_features(monkeypatch):
    search = search_clusters(
        Job.of(trees(), Settings.of(n_hops="auto", n_clusters=4, structure="none")), sample=900
    )
    copies, hops, take = [], [], ClusterSearch._sampled_features

    def remembered(searched):
        own = take(searched)
        copies.append(weakref.ref(own))
        return own

    def rest(sweep=search._rest):
        assert all(copy() is None for copy in copies)
        for hop, embedding in sweep:
            hops.append(hop)
            yield hop, embedding

    monkeypatch.setattr(ClusterSearch, "_sampled_features", remembered)
    search._rest = rest()
    for seed in range(2):
        assert max(search.consensus(4, seed).curve) > 20
    assert hops == [30, 45, 60]


def test_an_interrupted_search_is_not_continued_with_fewer_hops():
    search = search_of(trees())
    hops = search._rest

    def rest():
        yield next(hops)
        raise KeyboardInterrupt

    search._rest = rest()
    with pytest.raises(KeyboardInterrupt):
        search.consensus(4)
    with pytest.raises(RuntimeError, match="interrupted"):
        search.consensus(4)


def test_features_hold_back_hops_that_edges_alone_would_take():
    """On a ring with topics that come again and again, long arcs have more edges inside than topics have."""
    rng = np.random.default_rng(0)
    n, topics = 1200, np.arange(1200) // 10 % 4
    ring = sum(sp.eye_array(n, k=k) + sp.eye_array(n, k=k - n) for k in (1, 2, 3, 4))
    frequent = np.where(np.arange(40) % 4 == topics[:, None], 0.3, 0.1)
    words = (rng.random((n, 40)) < frequent).astype(np.float32)
    graph = Graph(ring + ring.T, words, labels=topics, directed=False)
    search = search_of(graph)
    clustering = search.consensus(4)
    assert max(clustering.curve) == 20
    without = search_of(graph)
    without._own = None
    assert max(without.consensus(4).curve) > 20
    assert "say more about the edges" in without.consensus(4).explain()


def test_without_features_edges_have_to_say_something():
    assert not is_rising({8: 0.01, 11: 0.01, 15: 0.1, 20: 0.1}, with_features=False)
    assert is_rising({8: 0.01, 11: 0.01, 15: 0.1, 20: 0.1})
    assert is_rising({8: 0.1, 11: 0.1, 15: 0.3, 20: 0.3}, with_features=False)


def test_more_hops_are_not_even_computed_where_clusters_do_not_get_better():
    search = search_of(contextual_sbm(600, n_classes=4, average_degree=12, signal=2.0, seed=0))

    def rest():
        raise AssertionError("the sweep was continued")
        yield

    search._rest = rest()
    assert max(search.consensus(4).curve) == 20


def test_larger_graphs_assign_all_nodes_with_more_hops():
    graph = trees()
    job = Job.of(graph, Settings.of(n_hops="auto", n_clusters=4, structure="none", n_threads=1))
    search = search_clusters(job, sample=900)
    clustering = search.consensus(4)
    assert max(clustering.curve) > 20
    assert len(clustering.labels) == 1000
    assert adjusted_rand_score(graph.labels.codes, clustering.labels) > 0.5


def test_ratings_are_mutual_information_of_edges_and_features():
    graph = contextual_sbm(120, n_classes=3, seed=1)
    edges = Edges.among(graph.adjacency)
    words = OwnFeatures(read_features(np.abs(graph.features.matrix)))
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (4, 120))
    heads = np.array(["mixture", "absorbed", "spherical", "mixture"])
    candidates = Candidates(labels, np.array([1, 1, 1, 2]), heads)
    edge, word = (
        [value(each) for each in labels]
        for value in (lambda x: mutual_information(edges.table(x, 3)), lambda x: words.information(x, 3))
    )
    assert rate_hops(candidates, 3, edges, None) == pytest.approx({1: (edge[0] + edge[2]) / 2, 2: edge[3]})
    both = rate_hops(candidates, 3, edges, words)
    assert both == pytest.approx({1: (edge[0] * word[0] + edge[2] * word[2]) / 2, 2: edge[3] * word[3]})
    only = candidates.where(candidates.heads == "absorbed")
    assert rate_hops(only, 3, edges, None) == {1: 0}
    assert len(only.concatenated(candidates).hops) == 5


def test_hops_are_chosen_by_ratings():
    assert not is_rising({1: 1.0, 2: 2.0, 3: 3.0})  # too few to tell
    assert not is_rising({1: 1.0, 2: 1.0, 3: 1.0, 4: 1.05})
    assert is_rising({1: 1.0, 2: 1.0, 3: 1.05, 4: 1.05})
    assert choose_hops({8: 1.0, 20: 1.0, 30: 1.01, 45: 0.5}, 20) == [8, 20]  # hardly better
    assert choose_hops({8: 0.5, 20: 0.7, 30: 0.8, 45: 1.0, 60: 0.6}, 20) == [20, 30, 45]  # at least three
    assert choose_hops({8: 0.91, 20: 0.92, 30: 0.95, 45: 1.0, 60: 0.2}, 20) == [8, 20, 30, 45]
