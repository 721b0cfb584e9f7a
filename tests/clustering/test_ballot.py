"""When uneven clusters are used."""

import numpy as np
import pytest

from nafs.clustering.ballot import Winner, closeness, prefers_uneven
from nafs.clustering.own_features import OwnFeatures
from nafs.graph import read_features


def test_uneven_clusters_are_used_only_if_nothing_speaks_against_them():
    def winner(agreement, assortativity, modularity):
        return Winner(np.eye(2), agreement, assortativity, modularity)

    even = winner(0.6, 0.8, 0.5)
    assert winner(0.7, 0.9, 0.5).beats(even)
    assert not winner(0.7, 0.9, 0.4).beats(even)  # less stable
    assert not winner(0.5, 0.9, 0.9).beats(even)  # less agreement
    assert not winner(0.7, 0.7, 0.5).beats(even)  # more edges between clusters
    assert not winner(0.7, 0.81, 0.5).beats(even)  # hardly fewer edges between clusters
    assert not winner(0.2, 0.1, 0.1).beats(winner(0.5, -0.03, -0.01))


def test_uneven_clusters_must_resemble_those_of_the_other_heads():
    half = np.repeat([0, 1], 50)
    even = Winner(np.eye(2)[half], 1.0, 0.5, 0.4)
    uneven = Winner(np.eye(2)[np.repeat([0, 1], [40, 60])], 1.0, 0.6, 0.5)
    other = Winner(np.eye(2)[np.tile([0, 1], 50)], 1.0, 0.6, 0.5)
    candidates = np.array([half, half])
    # A tenth of the nodes are elsewhere: an adjusted Rand index of 0.64, less than 0.6 / 0.85.
    assert closeness(uneven, even, candidates, None) == pytest.approx(0.85 * 0.637, abs=0.005)
    assert not prefers_uneven(uneven, even, candidates, None)
    assert prefers_uneven(uneven._replace(shares=even.shares), even, candidates, None)
    assert not prefers_uneven(other, even, candidates, None)


def test_uneven_clusters_must_say_what_even_ones_say_about_own_features():
    topics = np.repeat(np.arange(4), 25)
    words = OwnFeatures(read_features(np.eye(4)[topics]))
    even = Winner(np.eye(4)[topics], 1.0, 0.8, 0.5)
    lumped = Winner(np.eye(4)[np.maximum(topics, 1)], 1.0, 0.9, 0.6)  # two topics in one cluster
    candidates = np.array([topics, lumped.labels])
    # Half of the agreement is with itself, and three quarters of what topics say about words remain.
    assert closeness(lumped, even, candidates, words) == pytest.approx(0.854 * 0.75, abs=0.005)
    candidates = topics[None]
    assert not prefers_uneven(lumped, even, candidates, words)
    assert prefers_uneven(lumped, even, candidates, None)
    assert prefers_uneven(even._replace(assortativity=0.9, modularity=0.6), even, candidates, words)
    same = OwnFeatures(read_features(np.ones((100, 4))))  # features that are the same everywhere have no say
    assert prefers_uneven(lumped, even, candidates, same)
