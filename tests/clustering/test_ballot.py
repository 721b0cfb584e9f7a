"""When uneven clusters are used."""

import numpy as np

from nafs.clustering.ballot import Winner, prefers_uneven
from nafs.clustering.own_features import OwnFeatures
from nafs.graph import read_features


def test_uneven_clusters_are_used_only_if_nothing_speaks_against_them():
    def winner(agreement, assortativity, modularity):
        return Winner(np.eye(2), agreement, assortativity, modularity)

    even = winner(0.6, 0.8, 0.5)
    assert winner(0.7, 0.9, 0.5).beats(even, 0.5)
    assert not winner(0.7, 0.9, 0.4).beats(even, 0.5)  # less stable
    assert not winner(0.5, 0.9, 0.9).beats(even, 0.5)  # less agreement
    assert not winner(0.7, 0.7, 0.5).beats(even, 0.5)  # more edges between clusters
    assert not winner(0.7, 0.81, 0.5).beats(even, 0.5)  # hardly fewer edges between clusters
    assert not winner(0.7, 0.9, 0.5).beats(even, 0.3)  # unlike all other candidates
    assert not winner(0.2, 0.1, 0.1).beats(winner(0.5, -0.03, -0.01), 0.5)


def test_uneven_clusters_must_say_what_even_ones_say_about_own_features():
    topics = np.repeat(np.arange(4), 25)
    words = OwnFeatures(read_features(np.eye(4)[topics]))
    even = Winner(np.eye(4)[topics], 0.6, 0.8, 0.5)
    lumped = Winner(np.eye(4)[np.maximum(topics, 1)], 0.7, 0.9, 0.5)  # two topics in one cluster
    close = np.array([lumped.labels])
    assert not prefers_uneven(lumped, even, close, words)
    assert prefers_uneven(lumped, even, close, None)
    assert prefers_uneven(even._replace(agreement=0.7, assortativity=0.9), even, close, words)
    same = OwnFeatures(read_features(np.ones((100, 4))))  # features that are the same everywhere have no say
    assert prefers_uneven(lumped, even, close, same)
