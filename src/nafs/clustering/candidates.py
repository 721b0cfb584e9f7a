"""Candidates: partitions of one sample by all heads at several numbers of hops, and how many hops suit it.

Twenty hops suit most graphs: more blur the clusters. But where nodes have few edges, as in hierarchies and
networks of terms, twenty hops hardly reach from one end of a class to the other. What clusters say about the
edges rises with the hops everywhere; what they say about the features before smoothing falls once smoothing
mixes clusters. The product of both therefore peaks where smoothing should stop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.clustering.directions import Directions
from nafs.clustering.edges import Edges
from nafs.clustering.heads import HEADS, MERGED, heads_nbytes, partitions
from nafs.clustering.measures import mutual_information
from nafs.clustering.own_features import OwnFeatures

STARTS = 2  # of each head at each number of hops; three are no better
FEWEST = 30  # candidates; a single embedding is clustered from more starts
COMPARED = 4  # the largest usual numbers of hops: are the last two rated higher than the two before?
RISING = 1.03  # more hops are tried if their sum is larger by this factor
BETTER = 1.02  # factor by which the rating must be higher with more hops than usual to use them
GOOD = 0.9  # part of the best rating that a number of hops must have to be used beside larger ones than usual
INFORMED = 0.2  # nats that clusters must say about the edges to go on without features
LEAST = 3  # numbers of hops used, at least

Labels = NDArray[np.int64]
Ratings = dict[int, float]


class Candidates(NamedTuple):
    """Partitions, shape (count, nodes), with the number of hops and the head of each."""

    labels: Labels
    hops: NDArray[np.int64]
    heads: NDArray[np.str_]

    def where(self, chosen: NDArray[np.bool_]) -> Candidates:
        """Some of the candidates."""
        return Candidates(self.labels[chosen], self.hops[chosen], self.heads[chosen])

    def concatenated(self, others: Candidates) -> Candidates:
        """These candidates and others."""
        labels, hops, heads = (np.concatenate(pair) for pair in zip(self, others, strict=True))
        return Candidates(labels, hops, heads)


def find_candidates(
    embeddings: Mapping[int, Directions],
    n_clusters: int,
    seed: int,
    *,
    heads: Sequence[str],
    edges: Edges | None = None,
    starts: int | None = None,
) -> Candidates:
    """Partitions by some heads at some numbers of hops, from two starts each; from more if there are few.

    ``starts`` is their number, if it is not to depend on the number of embeddings.
    """
    working = [*HEADS, *(MERGED[:1] if edges is not None else ())]
    if not set(heads) & set(working):
        requested = ", ".join(heads) or "none"
        raise InputError(f"heads must include at least one of {', '.join(working)}; got {requested}")
    if starts is None:
        can_run = [head for head in heads if head in HEADS or edges is not None]
        starts = max(STARTS, -(-FEWEST // (len(can_run) * len(embeddings))))
    rows = [
        (labels, hop, head)
        for start in range(starts)
        for hop, directions in embeddings.items()
        for head, labels in partitions(directions, n_clusters, (seed, start, hop), edges, heads)
    ]
    labels, hops, names = (np.array(values) for values in zip(*rows, strict=True))
    return Candidates(labels, hops, names)


def candidates_nbytes(n_rows: int, n_clusters: int, n_hops: int, n_heads: int) -> int:
    """Approximate bytes of the candidates, also while they are compared, and of finding them."""
    count = max(STARTS * n_hops * n_heads, FEWEST)
    return 24 * count * (n_rows + n_clusters**2) + heads_nbytes(n_rows, n_clusters)


def rate_hops(candidates: Candidates, n_clusters: int, edges: Edges, own: OwnFeatures | None) -> Ratings:
    """For each number of hops: what clusters say about edges times what they say about features.

    Both are mutual information, averaged over all heads but ``absorbed``; without ``own``, only edges count.
    """
    ratings: Ratings = {}
    for hop in dict.fromkeys(candidates.hops.tolist()):
        values = []
        for labels in candidates.labels[(candidates.hops == hop) & (candidates.heads != "absorbed")]:
            value = mutual_information(edges.table(labels, n_clusters))
            values.append(value if own is None else value * own.information(labels, n_clusters))
        ratings[hop] = float(np.mean(values)) if values else 0.0
    return ratings


def is_rising(ratings: Ratings, with_features: bool = True) -> bool:
    """Whether the last two numbers of hops are clearly better than the two before.

    Without features nothing holds the rating back, so it has to be larger than noise.

    Examples
    --------
    >>> from nafs.clustering.candidates import is_rising
    >>> is_rising({8: 1.0, 11: 1.1, 15: 1.2, 20: 1.3}), is_rising({8: 1.3, 11: 1.2, 15: 1.2, 20: 1.3})
    (True, False)
    """
    values = list(ratings.values())
    half = COMPARED // 2
    if not with_features and max(values) < INFORMED:
        return False
    return len(values) >= COMPARED and sum(values[-half:]) > RISING * sum(values[-COMPARED:-half])


def choose_hops(ratings: Ratings, usual: int) -> list[int]:
    """The numbers of hops to use: the usual ones, unless more hops are clearly better.

    Examples
    --------
    >>> from nafs.clustering.candidates import choose_hops
    >>> choose_hops({8: 0.7, 15: 0.8, 20: 0.95, 30: 1.0, 45: 1.1, 60: 1.1}, usual=20)
    [30, 45, 60]
    >>> choose_hops({8: 0.9, 15: 1.0, 20: 1.0, 30: 1.0}, usual=20)
    [8, 15, 20]
    """
    fewer = {hop: rating for hop, rating in ratings.items() if hop <= usual}
    best = max(ratings.values())
    if best <= BETTER * max(fewer.values(), default=0.0):
        return list(fewer)
    enough = sorted(ratings.values(), reverse=True)[:LEAST][-1]
    return [hop for hop, rating in ratings.items() if rating >= min(GOOD * best, enough)]
