"""One vote of candidates, and when the winner of the vote on uneven clusters is used.

Each candidate votes with a weight: its mean agreement (adjusted Rand index) with all others times its
information about the edges (see :func:`nafs.clustering.measures.mutual_information`), to the fourth power.

The winner among uneven clusters is used if its agreement times its modularity, the criterion for the number
of clusters, is higher than in the other vote, its assortativity is clearly higher, and its agreement is not
lower. It must also be close to what the other heads find: resemble it, and say nearly as much about the
features before smoothing. Candidates of one head can agree on clusters that have little to do with those of
all others, and edges can prefer them by chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.agreement import pairwise_agreement, rand_index, vote
from nafs.clustering.edges import Edges, assortativity_of, modularity_of
from nafs.clustering.last_step import NOTHING
from nafs.clustering.measures import mutual_information
from nafs.clustering.own_features import OwnFeatures

POWER = 4  # exponent of agreement and information in weights of votes, and of agreement in those of hops
UNRELATED = 0.1  # information about edges below which they are assumed to say nothing about clusters
_CLEARLY = 0.02  # rise in assortativity that uneven clusters must bring
CLOSE = 0.6  # how close uneven clusters must be to what the other heads find
_USUAL = 0.85  # part of what even clusters say about own features that uneven ones keep, if that is not known

Labels = NDArray[np.int64]


class Winner(NamedTuple):
    """The result of a vote, and how well the candidates and the edges fit it."""

    shares: NDArray[np.float64]
    agreement: float
    assortativity: float = 1.0
    modularity: float = 1.0

    @property
    def labels(self) -> Labels:
        """The cluster with the most votes at each node."""
        return np.asarray(self.shares.argmax(axis=1))

    @property
    def stability(self) -> float:
        """Agreement times modularity."""
        return self.agreement * self.modularity

    def beats(self, other: Winner) -> bool:
        """Whether it is more stable, fits the edges clearly better, and agrees as much."""
        fits = self.assortativity >= other.assortativity + _CLEARLY
        return fits and self.agreement >= other.agreement and self.stability > other.stability


def hold_vote(candidates: Labels, n_clusters: int, edges: Edges | None, *, weigh: bool = True) -> Winner:
    """The vote of some partitions, weighted by agreement and, if there are edges, by how they fit them.

    Parameters
    ----------
    candidates : ndarray of int, shape (count, nodes)
    n_clusters : int
    edges : Edges, optional
    weigh : bool
        Whether edges count in the weights.
    """
    mean = pairwise_agreement(candidates, n_clusters).sum(axis=1) - 1
    quality = np.maximum(mean / max(1, len(candidates) - 1), 1e-9)
    if edges is not None and weigh:
        tables = (edges.table(candidate, n_clusters) for candidate in candidates)
        quality *= np.maximum([mutual_information(table) for table in tables], UNRELATED)
    weights = (quality / quality.max()) ** POWER
    shares = vote(candidates, weights, candidates[int(quality.argmax())], n_clusters)
    labels = shares.argmax(axis=1)
    agreement = float(indices_with(labels, candidates, n_clusters).mean())
    if edges is None:
        return Winner(shares, agreement)
    table = edges.table(labels, n_clusters)
    return Winner(shares, agreement, assortativity_of(table), modularity_of(table))


def prefers_uneven(uneven: Winner, even: Winner, even_candidates: Labels, own: OwnFeatures | None) -> bool:
    """Whether the winner of the vote on uneven clusters is used.

    ``own`` are the features of the nodes before smoothing, if they count.
    """
    return uneven.beats(even) and closeness(uneven, even, even_candidates, own) >= CLOSE


def closeness(uneven: Winner, even: Winner, even_candidates: Labels, own: OwnFeatures | None) -> float:
    """How close uneven clusters are to what the other heads find.

    The product of two ratios: their agreement with the candidates of the even vote to that of its winner, and
    what they say about own features to what that winner says.
    """
    count = even.shares.shape[1]
    resemblance = float(indices_with(uneven.labels, even_candidates, count).mean())
    resemblance /= max(even.agreement, 1e-9)
    known, kept = (0.0 if own is None else own.information(one.labels, count) for one in (even, uneven))
    return resemblance * (kept / known if known >= NOTHING else _USUAL)


def indices_with(labels: Labels, candidates: Labels, n_clusters: int) -> NDArray[np.float64]:
    """The adjusted Rand index of each candidate with the labels."""
    return np.array([rand_index(labels, candidate, n_clusters) for candidate in candidates])
