"""SAGSC: scalable attributed-graph subspace clustering, without training.

Features are smoothed, H = Tᵖ X as in GCC. The coefficients that express each node by the others, S = QQᵀ with
orthonormal Q, are given by the left singular vectors of H. Products q_ia q_ib as features make the affinity
(q_i · q_j)² symmetric and non-negative; spectral clustering of it needs only the singular vectors of those
features, divided by the roots of the degrees.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.rivals.contract import Problem, Progress, Rival
from nafs.rivals.gcc import POWERS, propagation
from nafs.rivals.matrices import left_vectors, tf_idf, unit_rows


def squares(Q: NDArray[np.float32]) -> NDArray[np.float32]:
    """Features whose inner products are the squares of those of the rows of Q."""
    first, second = np.triu_indices(Q.shape[1])
    scale = np.where(first == second, 1.0, np.sqrt(2.0)).astype(np.float32)
    return Q[:, first] * Q[:, second] * scale


def fit(problem: Problem, seed: int, progress: Progress, *, power: int) -> NDArray[np.float32]:
    """Rows of length 1 of the leading eigenvectors of the normalised affinity, one for each cluster."""
    features = tf_idf(problem.features)
    H = np.asarray(features.toarray() if sp.issparse(features) else features, np.float32)
    T = propagation(problem.graph.adjacency)
    for done in range(power):
        H = T @ H
        progress(done + 1, power)
    expanded = squares(left_vectors(unit_rows(H), problem.n_clusters))
    degrees = expanded.astype(np.float64) @ expanded.sum(axis=0, dtype=np.float64)
    scaled = expanded / np.sqrt(np.maximum(degrees, 1e-12)).astype(np.float32)[:, None]
    return unit_rows(left_vectors(scaled, problem.n_clusters))


SAGSC = Rival(
    "SAGSC",
    ("clustering",),
    fit,
    "Fettal et al., Scalable attributed-graph subspace clustering, AAAI 2023",
    cost=1,
    # The powers that the authors state for GCC; their paper on SAGSC also chooses them for each graph.
    settings={"power": 10},
    tuned=POWERS,
    seeded=False,
)
