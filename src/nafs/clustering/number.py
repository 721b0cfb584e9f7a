"""The number of clusters: where different heads agree most and the graph agrees with them.

At each number k a few heads cluster a few embeddings of the sweep. Their mean agreement is high where k
clusters are really there, and also for one coarse split of everything. Modularity tells that case apart: it
grows with every further group that the edges know, and stops growing after the last. The product of both has
its peak at the number of clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.agreement import pairwise_agreement
from nafs.clustering.directions import Directions
from nafs.clustering.heads import mixture, projection, singular, spherical

NUMBERS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24)
ROWS = 2000  # of each embedding that are clustered
_HEADS = (spherical, projection, singular, mixture)

Modularity = Callable[[NDArray[Any]], float]


def number_curve(
    embeddings: list[Directions], modularity: Modularity | None, most: int, seed: int = 0
) -> dict[int, float]:
    """The criterion at each number of clusters: mean agreement times modularity.

    Parameters
    ----------
    embeddings : list of Directions
        With the same rows.
    modularity : callable, optional
        Of clusters of the rows; without it the agreement alone counts.
    most : int
        The largest number to try.
    seed : int

    Returns
    -------
    dict
        The number with the largest value is the answer.
    """
    rng = np.random.default_rng(seed)
    curve: dict[int, float] = {}

    def value(count: int) -> float:
        found = np.array([head(rows, count, rng) for rows in embeddings for head in _HEADS])
        others = pairwise_agreement(found, count)[np.triu_indices(len(found), 1)]
        agreement = float(others.mean())
        return (
            agreement
            if modularity is None
            else agreement * float(np.mean([modularity(one) for one in found]))
        )

    numbers = [count for count in NUMBERS if count <= most]
    for count in numbers or [most]:
        curve[count] = value(count)
    best = max(curve, key=lambda count: curve[count])
    for count in (best - 1, best + 1):
        if 2 <= count <= min(most, NUMBERS[-1]) and count not in curve:
            curve[count] = value(count)
    return dict(sorted(curve.items()))
