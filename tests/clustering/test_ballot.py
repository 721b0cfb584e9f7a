"""When uneven clusters are used."""

import numpy as np
import pytest

from nafs.clustering.ballot import Winner, is_more_stable, says_more, why_uneven
from nafs.clustering.own_features import OwnFeatures
from nafs.graph import read_features

TOPICS = np.repeat(np.arange(4), 25)
LUMPED = np.maximum(TOPICS, 1)  # two topics in one cluster


def winner(agreement=0.6, assortativity=0.8, modularity=0.5, *, labels=TOPICS, information=1.0):
    return Winner(np.eye(4)[labels], agreement, assortativity, modularity, information)


def words(*topics):
    return OwnFeatures(read_features(np.eye(4)[np.concatenate(topics)]))


def test_more_stable_clusters_are_used_only_if_edges_clearly_fit_them():
    even, candidates = winner(), TOPICS[None]

    def used(*measures):
        return is_more_stable(winner(*measures), even, candidates, None)

    assert used(0.7, 0.9, 0.5)
    assert not used(0.5, 0.9, 0.7)  # less agreement
    assert not used(0.7, 0.9, 0.4)  # less agreement times modularity
    assert not used(0.7, 0.7, 0.5)  # more edges between clusters
    assert not used(0.7, 0.81, 0.5)  # hardly fewer edges between clusters
    assert not is_more_stable(winner(0.2, 0.1, 0.1), winner(0.5, -0.03, -0.01), candidates, None)


def test_without_features_more_stable_clusters_must_resemble_those_of_the_other_heads():
    even = winner(1.0)
    steady = winner(1.0, 0.9, 0.6, labels=LUMPED)
    assert is_more_stable(steady, even, TOPICS[None], None)  # an adjusted Rand index of 0.71
    assert not is_more_stable(steady, even, np.arange(100)[None] % 4, None)


def test_more_stable_clusters_must_keep_what_others_say_about_features():
    even, steady = winner(1.0), winner(1.0, 0.9, 0.6, labels=LUMPED)
    candidates = TOPICS[None]
    assert not is_more_stable(steady, even, candidates, words(TOPICS))  # three quarters of it
    assert is_more_stable(steady, even, candidates, words(LUMPED))
    assert is_more_stable(steady, even, np.arange(100)[None] % 4, words(LUMPED))  # resemblance does not count
    same = OwnFeatures(read_features(np.ones((100, 4))))  # features that are the same everywhere have no say
    assert is_more_stable(steady, even, candidates, same)
    assert not is_more_stable(steady, even, np.arange(100)[None] % 4, same)


@pytest.mark.parametrize(("information", "more"), [(0.7, False), (1.3, False), (1.4, True)])
def test_clusters_that_say_more_about_edges_and_features_together_are_used(information, more):
    lumped = winner(0.1, 0.1, 0.1, labels=LUMPED, information=information)
    assert says_more(lumped, winner(), words(TOPICS)) == more  # three quarters about features
    assert why_uneven(lumped, winner(), TOPICS[None], words(TOPICS)) == (
        "they say more about edges and features together" if more else ""
    )


def test_edges_alone_do_not_prefer_uneven_clusters():
    lumped = winner(0.1, 0.1, 0.1, labels=LUMPED, information=9.0)
    assert not says_more(lumped, winner(), None)
    assert not why_uneven(lumped, winner(), TOPICS[None], None)
    assert not says_more(winner(), winner(), words(TOPICS)), "the same clusters"
