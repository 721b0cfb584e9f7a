"""Clusters that many partitions agree on, and their number."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score, mutual_info_score

from nafs import Graph, embed
from nafs.clustering import ClusterSearch, agreement
from nafs.clustering.agreement import pairwise_agreement, rand_index, vote
from nafs.clustering.candidates import FEWEST
from nafs.clustering.chance import cloud_like
from nafs.clustering.directions import Directions
from nafs.clustering.edges import Edges, assortativity_of, merge_clusters, modularity_of
from nafs.clustering.heads import ALL_HEADS, HEADS, partitions
from nafs.clustering.joint_mixture import fit_joint_mixture
from nafs.clustering.measures import modularity, mutual_information
from nafs.clustering.number import choose_number
from nafs.datasets import contextual_sbm, erdos_renyi, load_dataset
from nafs.graph import read_adjacency
from nafs.pipeline import Job, Settings, search_clusters


@pytest.fixture(scope="module")
def graph():
    return contextual_sbm(600, n_classes=4, average_degree=12, homophily=0.85, signal=2.0, seed=0)


@pytest.fixture(scope="module")
def search(graph):
    return search_clusters(Job.of(graph, Settings.of(n_hops="auto", n_threads=1)))


def test_the_rand_index_is_scikit_learns():
    rng = np.random.default_rng(0)
    partitions = rng.integers(0, 4, (5, 60))
    partitions[4] = 2  # one cluster only
    ours = pairwise_agreement(partitions, 4)
    for i in range(5):
        for j in range(5):
            theirs = adjusted_rand_score(partitions[i], partitions[j])
            assert ours[i, j] == pytest.approx(theirs)
            assert rand_index(partitions[i], partitions[j], 4) == pytest.approx(theirs)


def test_a_vote_renames_clusters_and_outvotes_mistakes():
    truth = np.repeat([0, 1, 2], 20)
    rng = np.random.default_rng(1)
    partitions = []
    for _ in range(7):
        wrong = truth.copy()
        wrong[rng.choice(60, 15, replace=False)] = rng.integers(0, 3, 15)
        partitions.append(rng.permutation(3)[wrong])
    winner = vote(np.array(partitions), np.ones(7), partitions[0], 3).argmax(axis=1)
    assert rand_index(winner, truth, 3) > max(rand_index(partition, truth, 3) for partition in partitions)


def test_divided_votes_are_settled_by_the_embeddings_that_count():
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], 100)
    clear = np.eye(3, 8)[truth] + 0.2 * rng.standard_normal((300, 8))
    noise = rng.standard_normal((300, 8))
    shares = np.eye(3)[truth]
    divided = rng.choice(300, 60, replace=False)
    shares[divided] = 1 / 3
    embeddings = [rows.astype(np.float32) for rows in (clear, noise)]
    mixture, scores = fit_joint_mixture(embeddings, [1, 0], shares)
    assert (scores.argmax(axis=0) == truth).mean() > 0.99
    assert (mixture.scores(embeddings).argmax(axis=1) == truth).mean() > 0.99
    misled = fit_joint_mixture(embeddings, [0, 1], shares)[1].argmax(axis=0)
    certain = np.setdiff1d(np.arange(300), divided)
    assert (misled[certain] == truth[certain]).mean() > 0.99  # the votes hold where they are not divided
    assert (misled[divided] == truth[divided]).mean() < 0.6


@pytest.mark.parametrize("head", ALL_HEADS)
def test_every_head_finds_separated_groups(head):
    rng = np.random.default_rng(2)
    truth = np.repeat(np.arange(4), 50)
    points = np.eye(4, 12)[truth] * 3 + 0.1 * rng.standard_normal((200, 12))
    ring = np.kron(np.eye(4), np.roll(np.eye(50), 1, axis=1) + np.roll(np.eye(50), 7, axis=1))
    edges = Edges.among(read_adjacency(ring + ring.T))
    best = 0.0
    for seed in range(3):
        ((_, labels),) = partitions(Directions.of(points, 32), 4, (seed,), edges, names=(head,))
        best = max(best, rand_index(truth, labels, 4))
    assert best == 1


def test_what_a_head_finds_does_not_depend_on_the_others(graph):
    directions, edges = Directions.of(graph.features.matrix, 16), Edges.among(graph.adjacency)
    together = dict(partitions(directions, 4, (0, 1), edges))
    assert list(together) == list(ALL_HEADS)
    for head, labels in together.items():
        ((_, alone),) = partitions(directions, 4, (0, 1), edges, names=(head,))
        np.testing.assert_array_equal(alone, labels)


def test_tables_of_edges_give_modularity(graph):
    labels = graph.labels.codes.astype(np.int64)
    table = Edges.among(graph.adjacency).table(labels, 4)
    assert modularity_of(table) == pytest.approx(modularity(graph.adjacency, labels))
    nodes = np.arange(0, 600, 2)
    inside = read_adjacency(graph.adjacency.to_scipy()[nodes][:, nodes])
    some = Edges.among(graph.adjacency, nodes)
    assert modularity_of(some.table(labels[nodes], 4)) == pytest.approx(modularity(inside, labels[nodes]))
    rows = np.arange(100)
    again = some.among_rows(rows, 300).table(labels[nodes][rows], 4)
    fewer = read_adjacency(inside.to_scipy()[rows][:, rows])
    assert modularity_of(again) == pytest.approx(modularity(fewer, labels[nodes][rows]))


def test_directions_of_edges_are_ignored():
    arrow = read_adjacency(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), directed=True)
    table = Edges.among(arrow).table(np.array([0, 0, 1]), 2)
    np.testing.assert_array_equal(table, table.T)
    assert Edges.among(read_adjacency(np.eye(3), self_loops=True)) is None


def test_merging_leaves_a_large_group_whole():
    # Four parts of one group, and two small groups.
    parts = np.full((6, 6), 0.001)
    parts[:4, :4] = 0.05
    parts[4, 4] = parts[5, 5] = 0.04
    for absorb in (False, True):
        merged = merge_clusters(parts, 3, absorb=absorb)
        assert len(set(merged[:4])) == 1
        assert len(set(merged)) == 3
    assert assortativity_of(np.diag([0.8, 0.2])) == pytest.approx(1)
    assert assortativity_of(np.full((2, 2), 0.25)) == pytest.approx(0)
    assert assortativity_of(np.ones((1, 1))) == 0


def test_mutual_information_is_that_of_scikit_learn():
    rng = np.random.default_rng(8)
    rows, columns = rng.integers(0, 4, 200), rng.integers(0, 3, 200)
    table = np.zeros((5, 3))
    np.add.at(table, (rows, columns), 1)
    expected = mutual_info_score(rows, columns)
    assert mutual_information(table) == pytest.approx(expected)
    assert mutual_information(table / 200) == pytest.approx(expected)
    assert mutual_information(np.zeros((2, 2))) == 0


def test_a_group_of_half_of_the_graph_stays_whole():
    graph = uneven_graph()
    settings = Settings.of(n_hops="auto", n_clusters=6, structure="none", n_threads=1)
    search = search_clusters(Job.of(graph, settings))

    def quality():
        labels = [search.consensus(6, seed).labels for seed in range(3)]
        return np.array([agreement(graph.labels.codes, each)["ARI"] for each in labels])

    with_edges = quality()
    search.heads, search.weigh_by_edges = tuple(HEADS), False
    assert with_edges.min() > 0.82
    assert with_edges.mean() > quality().mean() + 0.05


def test_one_embedding_has_no_vote_of_uneven_clusters(graph):
    alone = ClusterSearch([(5, embed(graph, n_hops=5).matrix)], 4, graph=graph.adjacency)
    _, _, heads = alone.candidates(4)
    assert len(heads) >= FEWEST
    assert set(heads) == {*ALL_HEADS} - {"absorbed"}


@pytest.mark.parametrize("heads", [(), ("absorbed",), ("merged", "absorbed")])
@pytest.mark.parametrize("n_hops", [1, 3])
def test_heads_that_make_no_candidates_are_refused(heads, n_hops):
    rows = np.random.default_rng(0).random((20, 4))
    search = ClusterSearch([(hop, rows) for hop in range(n_hops)], 2)
    search.heads = heads
    with pytest.raises(ValueError, match="one of mixture, spherical, projection_mixture; got"):
        search.consensus(2)


def test_merging_alone_needs_edges(graph):
    rows = embed(graph, n_hops=5).matrix
    search = ClusterSearch([(hop, rows) for hop in range(3)], 4, graph=graph.adjacency)
    search.heads = ("absorbed",)
    with pytest.raises(ValueError, match="projection_mixture, merged; got absorbed"):
        search.consensus(4)
    search.heads = ("merged",)
    assert search.consensus(4).n_candidates >= FEWEST


def uneven_graph(n=1500):
    """Six groups, one of them half of the graph; four fifths of the edges stay in a group."""
    rng = np.random.default_rng(0)
    labels = np.sort(rng.choice(6, n, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]))
    first = rng.integers(0, n, 5 * n)
    begin, end = (np.searchsorted(labels, labels[first], side=side) for side in ("left", "right"))
    inside = rng.random(len(first)) < 0.8
    second = np.where(inside, rng.integers(begin, end), rng.integers(0, n, len(first)))
    adjacency = sp.coo_array((np.ones(len(first), bool), (first, second)), shape=(n, n))
    centers = rng.standard_normal((6, 32))
    centers *= 1.2 / np.linalg.norm(centers, axis=1, keepdims=True)
    features = centers[labels] + rng.standard_normal((n, 32))
    return Graph(adjacency, features, labels=labels, directed=False)


def test_directions_are_those_of_the_singular_value_decomposition():
    matrix = np.random.default_rng(3).standard_normal((50, 8))
    directions = Directions.of(matrix, 3)
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    np.testing.assert_allclose(np.abs(directions.rows), np.abs(left[:, :3] * sizes[:3]), atol=1e-3)
    np.testing.assert_allclose(np.abs(directions.axes), np.abs(right[:3].T), atol=1e-4)
    wide = Directions.of(np.random.default_rng(4).standard_normal((30, 1500)), 5)
    assert wide.rows.shape == (30, 5)


def test_the_consensus_finds_planted_classes_and_says_how_sure_it_is(graph, search):
    clustering = search.consensus(4)
    assert agreement(graph.labels.codes, clustering.labels)["ARI"] > 0.9
    assert clustering.agreement > 0.6
    assert not clustering.doubtful
    assert clustering.n_agreeing > clustering.n_candidates / 2
    assert set(clustering.curve) == set(search.hops)
    assert f"{clustering.n_agreeing} of them are close to it" in clustering.explain()
    np.testing.assert_array_equal(clustering.labels, search.consensus(4).labels)


def test_the_number_of_clusters_is_found(search):
    clustering = search.cluster("auto")
    assert clustering.n_clusters == 4
    assert clustering.numbers[4] >= 0.95 * max(clustering.numbers.values())
    assert "number of clusters 4: tried 2 to 24 and rated each by how well" in clustering.explain()


def test_the_largest_number_that_was_tried_may_be_too_small(search, monkeypatch):
    for best, expected in ((24, True), (20, False)):
        monkeypatch.setattr(search, "number_curve", lambda best=best: {4: 0.1, best: 1.0})
        clustering = search.cluster("auto")
        assert (
            "the largest number that was tried is the best, so there may be more" in clustering.explain()
        ) == expected


@pytest.mark.parametrize(("count", "n_features"), [(2, 16), (5, 16), (3, 0), ("auto", 100)])
def test_clusters_that_are_not_there_are_called_doubtful(count, n_features):
    noise = erdos_renyi(400, 0.02, n_features=n_features, seed=0)
    clustering = embed(noise, n_hops="auto", n_clusters=count).choice.clustering
    assert clustering.doubtful
    assert "doubtful" in clustering.explain()
    assert f"{clustering.by_chance:.2f} would be expected without any clusters" in clustering.explain()


def test_clusters_of_one_embedding_are_compared_with_chance_too(graph):
    noise = embed(erdos_renyi(300, 0.03, n_features=16, seed=1), n_hops=5)
    assert noise.cluster(4).clustering.doubtful
    assert not embed(graph, n_hops=5).cluster(4).clustering.doubtful


def test_a_cloud_has_the_shape_of_the_embeddings():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, 4000)[:, None] * 4.0
    first = groups + rng.standard_normal((4000, 3)) * [1.0, 2.0, 3.0]
    embeddings = [Directions.of(rows, 3) for rows in (first, first + 0.1 * rng.standard_normal((4000, 3)))]
    clouds = cloud_like(embeddings, 3)
    for cloud, embedding in zip(clouds, embeddings, strict=True):
        sizes, expected = (np.sqrt(np.mean(each.rows**2, axis=0)) for each in (cloud, embedding))
        np.testing.assert_allclose(sizes, expected, rtol=0.1)
    together = [np.corrcoef(rows[0].rows[:, 0], rows[1].rows[:, 0])[0, 1] for rows in (clouds, embeddings)]
    assert abs(together[0]) == pytest.approx(abs(together[1]), abs=0.02)


def test_large_graphs_are_clustered_by_a_sample(graph):
    matrix = embed(graph, n_hops=5).matrix
    some = ClusterSearch([(5, matrix)], 4, graph=graph.adjacency, sample=200)
    assert len(some.sample) == len(np.unique(some.sample)) == 200
    every = ClusterSearch([(5, matrix)], 4)
    assert rand_index(some.consensus(4).labels, every.consensus(4).labels, 4) > 0.9
    assert len(ClusterSearch([(5, matrix)], 4, sample=200).consensus(4).labels) == 600


@pytest.mark.parametrize(
    ("features", "count"),
    [(np.zeros((6, 3)), 2), (np.eye(6), 6), (np.eye(6), 1), (np.ones((6, 1)), 3), (np.eye(3), "auto")],
)
def test_small_and_empty_inputs_have_clusters(features, count):
    n = len(features)
    ring = np.roll(np.eye(n), 1, axis=1)
    clustering = embed(Graph(ring + ring.T, features), n_hops="auto", n_clusters=count).choice.clustering
    assert clustering.labels.shape == (n,)


def test_a_directed_graph_has_clusters_too():
    directed = Graph(np.triu(np.ones((12, 12)), 1), np.eye(12), directed=True)
    assert len(embed(directed, n_hops="auto", n_clusters=2).choice.clustering.labels) == 12


@pytest.mark.parametrize(
    ("name", "acc", "nmi", "ari"), [("cora", 74, 60, 52), ("acm", 92.5, 75, 80), ("citeseer", 68.5, 43, 44.5)]
)
def test_real_classes_are_found_without_labels(data_home, name, acc, nmi, ari):
    data = load_dataset(name).graph
    settings = Settings.of(n_hops="auto", n_clusters=len(data.labels.classes))
    clustering = search_clusters(Job.of(data, settings)).consensus(len(data.labels.classes))
    known = data.labels.known
    scores = agreement(data.labels.codes[known], clustering.labels[known])
    assert not clustering.doubtful
    assert 100 * scores["ACC"] > acc
    assert 100 * scores["NMI"] > nmi
    assert 100 * scores["ARI"] > ari


@pytest.mark.parametrize("n_clusters", [4, "auto"])
def test_no_cluster_is_empty(n_clusters):
    complete = Graph(1 - np.eye(30))
    clustering = search_clusters(Job.of(complete, Settings.of(n_hops="auto", n_threads=1))).cluster(
        n_clusters
    )
    sizes = np.bincount(clustering.labels, minlength=clustering.n_clusters)
    assert (sizes > 0).all()
    assert len(sizes) == len(clustering.cluster_agreement)
    assert "instead of" in clustering.explain()


def test_edges_between_clusters_do_not_choose_a_large_number():
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 100)
    odds = np.where(classes[:, None] == classes, 0.01, 0.08)
    edges = np.triu(rng.random((400, 400)) < odds, 1)
    features = 2 * rng.standard_normal((4, 8))[classes] + rng.standard_normal((400, 8))
    graph = Graph((edges | edges.T).astype(float), features)
    curve = search_clusters(Job.of(graph, Settings.of(n_hops="auto", n_threads=1))).number_curve()
    assert min(curve.values()) >= 0
    assert choose_number(curve) <= 6


def test_one_column_has_clusters():
    ages = np.concatenate([np.full(40, 20.0), np.full(30, 45.0), np.full(20, 80.0)])
    ages += np.random.default_rng(0).standard_normal(90)
    clustering = ClusterSearch([(1, ages[:, None])], 3).consensus(3)
    assert sorted(np.bincount(clustering.labels)) == [20, 30, 40]


def test_vectors_that_do_not_differ_have_no_clusters():
    clustering = ClusterSearch([(1, np.ones((50, 3)))]).cluster("auto")
    assert clustering.n_clusters == 1
    assert clustering.doubtful
    assert "doubtful" in clustering.explain()


def test_more_clusters_than_nodes_are_reported():
    path = Graph(np.eye(5, k=1) + np.eye(5, k=-1))
    choice = embed(path, n_hops="auto", n_clusters=7).choice
    assert "5 clusters instead of 7: there are only 5 nodes" in choice.clustering.explain()
    assert choice.clustering.n_clusters == 5


def test_large_graphs_are_swept_with_two_r(graph, search, monkeypatch):
    import nafs.selection.hops_for_clusters as module

    monkeypatch.setattr(module, "LARGE", 100)
    few = search_clusters(Job.of(graph, Settings.of(n_hops="auto", n_threads=1)))
    assert any(not np.array_equal(few.hops[hop].rows, search.hops[hop].rows) for hop in search.hops)
    assert adjusted_rand_score(few.consensus(4).labels, search.consensus(4).labels) > 0.95
