"""Clusters of all nodes, and how reliable they are."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

AGREES = 0.5  # adjusted Rand index with the consensus at which a candidate counts as agreeing
DOUBTFUL = 0.25  # share of the possible agreement beyond chance below which clusters are doubtful


@dataclass(frozen=True, eq=False)
class Clustering:
    """Clusters, and how reliable they are.

    Attributes
    ----------
    labels : ndarray of int, shape (n,)
    n_hops : int
        The number of hops whose candidates agree most with the labels.
    n_clusters : int
        All of them have nodes; there may be fewer than were requested.
    agreement : float
        Mean adjusted Rand index of the candidates with the labels: 1 if all are the same, 0 if they have
        nothing in common.
    by_chance : float
        What the agreement would be without clusters; see :mod:`nafs.clustering.chance`.
    n_candidates, n_agreeing : int
        Candidates, and how many of them have an index of at least 0.5 with the labels.
    cluster_agreement : ndarray of shape (n_clusters,)
        For each cluster, its mean overlap (Jaccard) with the most similar cluster of each candidate.
    curve : dict
        For each number of hops, the agreement of its candidates with the labels.
    numbers : dict
        If the number of clusters was chosen: the criterion for each number that was tried.
    reasons : tuple of str
    """

    labels: NDArray[np.int64]
    n_hops: int
    n_clusters: int
    agreement: float
    by_chance: float
    n_candidates: int
    n_agreeing: int
    cluster_agreement: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    curve: dict[int, float] = field(default_factory=dict)
    numbers: dict[int, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    @property
    def doubtful(self) -> bool:
        """Whether the candidates hardly agree more than by chance, so that the clusters may not be there."""
        return self.agreement - self.by_chance <= DOUBTFUL * (1 - self.by_chance)

    def explain(self) -> str:
        """The reasons, one line each."""
        return "\n".join(self.reasons)
