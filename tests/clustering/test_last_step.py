"""The last step: a mixture or the votes alone, each with the features before smoothing; then all nodes."""

import numpy as np
import pytest

from nafs.clustering import agreement
from nafs.clustering.edges import Edges
from nafs.clustering.last_step import OtherNodes, SampledNodes, settle
from nafs.clustering.own_features import OwnFeatures
from nafs.graph import read_adjacency, read_features

COUNT, EACH = 3, 100
TRUTH = np.repeat(np.arange(COUNT), EACH)


def embeddings(rng, noise):
    """Points of three groups; those of the first 20 nodes of each group look like the next one."""
    places = TRUTH.copy()
    misleading = np.arange(COUNT * EACH) % EACH < 20
    places[misleading] = (places[misleading] + 1) % COUNT
    points = 3 * np.eye(COUNT, 12)[places] + noise * rng.standard_normal((COUNT * EACH, 12))
    return points.astype(np.float32), misleading


def votes(misleading):
    """Divided for nodes whose points are misleading, and clear for the others."""
    shares = np.full((COUNT * EACH, COUNT), 0.05)
    shares[np.arange(COUNT * EACH), TRUTH] = 0.9
    shares[misleading] = 1 / COUNT
    return shares


def edges_within(labels, rng, per_node=6):
    first = np.repeat(np.arange(len(labels)), per_node)
    second = np.array([rng.choice(np.flatnonzero(labels == labels[node])) for node in first])
    matrix = np.zeros((len(labels), len(labels)))
    matrix[first, second] = matrix[second, first] = 1
    np.fill_diagonal(matrix, 0)
    return Edges.among(read_adjacency(matrix))


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    points, misleading = embeddings(rng, 0.05)
    words = read_features(np.eye(COUNT)[TRUTH] + 0.2 * rng.random((COUNT * EACH, COUNT)))
    return rng, points, misleading, OwnFeatures(words)


def right(settled):
    return agreement(TRUTH, settled.labels)["ACC"]


def test_own_features_count_beside_the_votes_alone_where_edges_and_features_say_so(case):
    rng, points, misleading, own = case
    sampled = SampledNodes(votes(misleading), [points], [1.0], edges_within(TRUTH, rng))
    without, settled = settle(sampled, None, None), settle(sampled, None, own)
    assert right(without) == pytest.approx(0.8)  # the mixture is sure of misleading points
    assert settled.reason
    assert right(settled) > 0.99
    assert settled.moved == (settled.labels != without.labels).sum()


def test_the_mixture_stays_where_edges_prefer_its_clusters(case):
    rng, points, misleading, own = case
    looks = points.argmax(axis=1)
    sampled = SampledNodes(votes(misleading), [points], [1.0], edges_within(looks, rng))
    settled = settle(sampled, None, own)
    assert not settled.reason
    np.testing.assert_array_equal(settled.labels, settle(sampled._replace(edges=None), None, own).labels)


def mostly_random_edges(labels, rng):
    """Edges that rarely stay within groups."""
    n = len(labels)
    kept, drawn = edges_within(labels, rng, 1), rng.integers(0, n, (2, 3 * n))
    matrix = np.zeros((n, n))
    matrix[kept.first, kept.second] = matrix[drawn[0], drawn[1]] = 1
    matrix = np.maximum(matrix, matrix.T)
    np.fill_diagonal(matrix, 0)
    return Edges.among(read_adjacency(matrix))


def test_own_features_come_first_where_they_tell_more_than_edges(case):
    rng, points, misleading, own = case
    shares = votes(misleading)
    shares[misleading, (TRUTH[misleading] + 1) % COUNT] += 0.5  # the votes follow the misleading points
    sampled = SampledNodes(shares / shares.sum(axis=1, keepdims=True), [points], [1.0], None)
    settled = settle(sampled._replace(edges=mostly_random_edges(TRUTH, rng)), None, own)
    assert "nodes with similar features" in settled.reason
    assert right(settled) > 0.99
    clear = settle(sampled._replace(edges=edges_within(points.argmax(axis=1), rng)), None, own)
    assert not clear.reason  # these edges tell more than features
    assert right(clear) == pytest.approx(0.8)


class WithPairs(OwnFeatures):
    """Own features whose most similar nodes are given."""

    pairs = None

    def most_alike(self, edges):
        return self.pairs


def test_own_features_come_first_only_where_that_brings_similar_nodes_together(case):
    rng, points, misleading, own = case
    weak = mostly_random_edges(TRUTH, rng)
    sampled = SampledNodes(votes(misleading), [points], [1.0], weak)
    mixed = settle(sampled._replace(edges=None), None, own).labels
    words = WithPairs(own.features)
    for together, first in ((TRUTH, True), (mixed, False)):
        words.pairs = edges_within(together, rng)
        assert ("similar features" in settle(sampled, None, words).reason) == first


def test_own_features_decide_outside_of_the_sample_where_they_come_first(case):
    rng, _, misleading, own = case
    points, _ = embeddings(rng, 1.0)
    sample = rng.permutation(COUNT * EACH)[:200]
    weak = mostly_random_edges(TRUTH[sample], rng)
    sampled = SampledNodes(votes(misleading)[sample], [points[sample]], [1.0], weak)
    others = OtherNodes(sample, [points.astype(np.float16)], np.empty)
    outside = np.setdiff1d(np.arange(COUNT * EACH), sample)
    scores = []
    for features in (None, own):
        settled = settle(sampled, others, features)
        scores.append(agreement(TRUTH[outside], settled.labels[outside])["ACC"])
    assert "similar features" in settled.reason
    assert scores[1] > scores[0] + 0.1


def test_features_that_say_nothing_do_not_come_first_beside_random_edges(case):
    rng, points, misleading, _ = case
    noise = OwnFeatures(read_features(rng.random((COUNT * EACH, 30))))
    sampled = SampledNodes(votes(misleading), [points], [1.0], mostly_random_edges(TRUTH, rng))
    assert "nodes with similar features" not in settle(sampled, None, noise).reason


def test_features_that_are_the_same_everywhere_change_nothing(case):
    rng, points, misleading, _ = case
    same = OwnFeatures(read_features(0.5 * (1 + 1e-6 * rng.random((COUNT * EACH, 12)))))
    sampled = SampledNodes(votes(misleading), [points], [1.0], edges_within(TRUTH, rng))
    settled = settle(sampled, None, same)
    assert not settled.reason
    np.testing.assert_array_equal(settled.labels, settle(sampled, None, None).labels)


def test_nodes_outside_of_the_sample_hear_their_own_features(case):
    rng, _, misleading, own = case
    points, _ = embeddings(rng, 1.0)
    sample = rng.permutation(COUNT * EACH)[:150]
    edges = edges_within(TRUTH[sample], rng)
    sampled = SampledNodes(votes(misleading)[sample], [points[sample]], [1.0], edges)
    others = OtherNodes(sample, [points.astype(np.float16)], np.empty)
    outside = np.setdiff1d(np.arange(COUNT * EACH), sample)
    scores = {}
    for features in (None, own):
        labels = settle(sampled, others, features).labels
        assert len(labels) == COUNT * EACH
        scores[features is not None] = agreement(TRUTH[outside], labels[outside])["ACC"]
    assert scores[True] > scores[False] + 0.03


def test_scores_of_all_nodes_are_allocated_as_told(case):
    rng, points, misleading, own = case
    sample = np.arange(0, COUNT * EACH, 2)
    sampled = SampledNodes(
        votes(misleading)[sample], [points[sample]], [1.0], edges_within(TRUTH[sample], rng)
    )
    asked = []

    def allocate(shape, dtype):
        asked.append((shape, np.dtype(dtype)))
        return np.empty(shape, dtype)

    settle(sampled, OtherNodes(sample, [points.astype(np.float16)], allocate), own)
    assert asked == [((COUNT, COUNT * EACH), np.dtype(np.float32))]
