"""Spectral embedding of the edges alone: leading eigenvectors of D̃^-½ Ã D̃^-½.

For clustering, as many eigenvectors as clusters, with rows of length 1; for other tasks 64, each times its
eigenvalue.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nafs.rivals.contract import TASKS, Problem, Progress, Rival
from nafs.rivals.matrices import leading_eigenpairs, unit_rows
from nafs.smoothing import normalized_adjacency


def fit(problem: Problem, seed: int, progress: Progress, *, width: int) -> NDArray[np.float32]:
    """Eigenvectors times eigenvalues, or for clusters rows of length 1."""
    operator = normalized_adjacency(problem.graph.adjacency, 0.5)
    if problem.task == "clustering":
        return unit_rows(leading_eigenpairs(operator, problem.n_clusters)[1])
    values, vectors = leading_eigenpairs(operator, width)
    return np.asarray(vectors * values, np.float32)


SPECTRAL = Rival(
    "SC",
    TASKS,
    fit,
    "Ng et al., On spectral clustering: Analysis and an algorithm, NIPS 2002",
    cost=1,
    settings={"width": 64},
    seeded=False,
)
