"""The number of clusters: where different heads agree most with each other and with the graph.

At each number k two heads cluster a few embeddings of the sweep. Their mean agreement is high where the graph
really has k clusters, but also for a coarse split of everything. Modularity rules that out: it grows with
every further group that the edges show, and stops growing after the last. The product of both peaks at the
number of clusters. Clusterings count by their quality, which the vote on the clusters uses as well: if one of
the numbers of hops finds other groups, such as those of one column, it does not hide what the others find.
Peaks are flat, so the smallest number within 5 % of the best is chosen. For large graphs the curve is the
mean over several parts of the sample, as that of one part depends on chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nafs.clustering.agreement import pairwise_agreement
from nafs.clustering.ballot import qualities
from nafs.clustering.directions import Directions
from nafs.clustering.edges import Edges, modularity_of
from nafs.clustering.heads import partitions

NUMBERS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24)
VOTERS = ("mixture", "spherical")  # the other heads take three times as long and hardly change the choice
TOLERANCE = 0.05  # share of the best value; smaller differences are noise
ROWS = 1000  # rows of each embedding that are clustered
PARTS = 4  # of the sample of a large graph, of so many rows each


class Part(NamedTuple):
    """Some nodes: their rows of several embeddings, and the edges among them, if there is a graph."""

    embeddings: list[Directions]
    edges: Edges | None


def number_curve(parts: list[Part], most: int, seed: int = 0) -> dict[int, float]:
    """The criterion at each number of clusters: mean agreement times mean modularity, weighted by quality.

    Parameters
    ----------
    parts : list of Part
        Over which both are averaged; without edges, only the agreement counts.
    most : int
        The largest number to try.
    seed : int

    Returns
    -------
    dict
        See :func:`choose_number`.
    """
    agreements: dict[int, float] = {}
    modularities: dict[int, float] = {}

    def rate(count: int) -> None:
        agreements[count] = modularities[count] = 0.0
        for part, (embeddings, edges) in enumerate(parts):
            candidates = np.array(
                [
                    labels
                    for place, rows in enumerate(embeddings)
                    for _, labels in partitions(rows, count, (seed, part, place), names=VOTERS)
                ]
            )
            tables = [edges.table(partition, count) for partition in candidates] if edges is not None else []
            agreement = pairwise_agreement(candidates, count)
            weights = qualities(agreement, tables)
            pairs = np.triu_indices(len(candidates), 1)
            mean = np.average(agreement[pairs], weights=np.outer(weights, weights)[pairs])
            agreements[count] += float(mean) / len(parts)
            values = [modularity_of(table) for table in tables] or [1.0] * len(weights)
            modularities[count] += float(np.average(values, weights=weights)) / len(parts)

    def curve() -> dict[int, float]:
        # Edges that never stay within clusters say nothing about their number.
        by_edges = max(modularities.values()) > 0
        return {
            count: agreements[count] * (max(modularities[count], 0.0) if by_edges else 1.0)
            for count in sorted(agreements)
        }

    for count in [count for count in NUMBERS if count <= most] or [most]:
        rate(count)
    values = curve()
    best = max(values, key=lambda count: values[count])
    for count in (best - 1, best + 1):
        if 2 <= count <= min(most, NUMBERS[-1]) and count not in agreements:
            rate(count)
    return curve()


def choose_number(curve: dict[int, float]) -> int:
    """The smallest number of clusters whose criterion is within 5 % of the best.

    Examples
    --------
    >>> from nafs.clustering.number import choose_number
    >>> choose_number({2: 0.2, 3: 0.5, 4: 0.51, 5: 0.3})
    3
    """
    best = max(curve.values())
    return min(number for number, value in curve.items() if value >= best - TOLERANCE * abs(best))
