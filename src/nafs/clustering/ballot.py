"""One vote of candidates, and when the winner of the vote on uneven clusters is used.

Each candidate votes with a weight: its mean agreement (adjusted Rand index) with all others times its
information about the edges (see :func:`nafs.clustering.measures.mutual_information`), to the fourth power.

There are two reasons to use the winner among uneven clusters:

- They say more about edges and features together, as the product of both. Edges alone would not do: they can
  prefer uneven clusters by chance.
- They are more stable: agreement times modularity, the criterion for the number of clusters, is higher than
  in the other vote, assortativity is clearly higher, and agreement is not lower. They must then keep most of
  what the other clusters say about features, or, where that is not known, resemble what the other heads find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.agreement import pairwise_agreement, rand_index, vote
from nafs.clustering.edges import Edges, Table, assortativity_of, modularity_of
from nafs.clustering.last_step import NOTHING
from nafs.clustering.measures import mutual_information
from nafs.clustering.own_features import OwnFeatures

POWER = 4  # exponent of agreement and information in weights of votes, and of agreement in those of hops
UNRELATED = 0.1  # information about edges below which they are assumed to say nothing about clusters
_MORE = 1.01  # factor by which uneven clusters must say more about edges and features together
_CLEARLY = 0.02  # rise in assortativity that more stable clusters must bring
_INFORMED = 0.85  # part of what even clusters say about features that more stable ones must keep
_RELATED = 0.7  # part of the agreement in the even vote that they must have with its candidates otherwise

Labels = NDArray[np.int64]


class Winner(NamedTuple):
    """The result of a vote, and how well the candidates and the edges fit it.

    ``edge_information`` is what the clusters say about the edges, their mutual information.
    """

    shares: NDArray[np.float64]
    agreement: float
    assortativity: float = 1.0
    modularity: float = 1.0
    edge_information: float = 0.0

    @property
    def labels(self) -> Labels:
        """The cluster with the most votes at each node."""
        return np.asarray(self.shares.argmax(axis=1))

    @property
    def stability(self) -> float:
        """Agreement times modularity."""
        return self.agreement * self.modularity


def elect(
    candidates: Labels,
    uneven: NDArray[np.bool_],
    n_clusters: int,
    edges: Edges | None,
    own: Callable[[], OwnFeatures | None],
    *,
    weigh: bool = True,
) -> tuple[Winner, str]:
    """The winner of the two votes, and why it is that of the vote on uneven clusters; empty if it is not.

    Parameters
    ----------
    candidates : ndarray of int, shape (count, nodes)
    uneven : ndarray of bool, shape (count,)
        The candidates that vote separately.
    n_clusters : int
    edges : Edges, optional
    own : callable
        Returns the features of the nodes before smoothing, if they count. Called only if both votes are held.
    weigh : bool
        Whether edges count in the weights.
    """
    if uneven.all():
        uneven = np.zeros_like(uneven)
    even = candidates[~uneven]
    winner = hold_vote(even, n_clusters, edges, weigh=weigh)
    if not uneven.any():
        return winner, ""
    other = hold_vote(candidates[uneven], n_clusters, edges, weigh=weigh)
    why = why_uneven(other, winner, even, own())
    return (other, why) if why else (winner, "")


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
    tables = [edges.table(each, n_clusters) for each in candidates] if edges is not None and weigh else []
    quality = qualities(pairwise_agreement(candidates, n_clusters), tables)
    weights = (quality / quality.max()) ** POWER
    shares = vote(candidates, weights, candidates[int(quality.argmax())], n_clusters)
    labels = shares.argmax(axis=1)
    agreement = float(indices_with(labels, candidates, n_clusters).mean())
    if edges is None:
        return Winner(shares, agreement)
    table = edges.table(labels, n_clusters)
    return Winner(shares, agreement, assortativity_of(table), modularity_of(table), mutual_information(table))


def qualities(agreements: NDArray[np.float64], tables: Sequence[Table]) -> NDArray[np.float64]:
    """The mean agreement of each candidate with the others times its information about the edges.

    Parameters
    ----------
    agreements : ndarray of shape (count, count)
    tables : sequence of Table
        Of the edges between clusters, one for each candidate; empty if edges do not count.
    """
    mean = (agreements.sum(axis=1) - 1) / max(1, len(agreements) - 1)
    quality = np.maximum(mean, 1e-9)
    if tables:
        quality *= np.maximum([mutual_information(table) for table in tables], UNRELATED)
    return np.asarray(quality)


def why_uneven(uneven: Winner, even: Winner, even_candidates: Labels, own: OwnFeatures | None) -> str:
    """Why the winner of the vote on uneven clusters is used; empty if it is not.

    ``own`` are the features of the nodes before smoothing, if they count.
    """
    if says_more(uneven, even, own):
        return "they say more about edges and features together"
    if is_more_stable(uneven, even, even_candidates, own):
        return "they are more stable than the others"
    return ""


def says_more(uneven: Winner, even: Winner, own: OwnFeatures | None) -> bool:
    """Whether uneven clusters say more about edges and features together."""
    known, kept = _about_features(uneven, even, own)
    return known > 0 and kept * uneven.edge_information > _MORE * known * even.edge_information


def is_more_stable(uneven: Winner, even: Winner, even_candidates: Labels, own: OwnFeatures | None) -> bool:
    """Whether uneven clusters are more stable, and not far from what the other heads find."""
    if uneven.stability <= even.stability or uneven.agreement < even.agreement:
        return False
    if uneven.assortativity < even.assortativity + _CLEARLY:
        return False
    known, kept = _about_features(uneven, even, own)
    if known:
        return kept >= _INFORMED * known
    resemblance = indices_with(uneven.labels, even_candidates, even.shares.shape[1]).mean()
    return bool(resemblance > max(_RELATED * even.agreement, 0))


def _about_features(uneven: Winner, even: Winner, own: OwnFeatures | None) -> tuple[float, float]:
    """What even and uneven clusters say about features; 0 if features say nothing about clusters."""
    if own is None:
        return 0.0, 0.0
    known, kept = (own.information(winner.labels, even.shares.shape[1]) for winner in (even, uneven))
    return (known, kept) if known >= NOTHING else (0.0, 0.0)


def indices_with(labels: Labels, candidates: Labels, n_clusters: int) -> NDArray[np.float64]:
    """The adjusted Rand index of each candidate with the labels."""
    return np.array([rand_index(labels, candidate, n_clusters) for candidate in candidates])
