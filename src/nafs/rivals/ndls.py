"""NDLS: every node is smoothed for as many hops as it needs to get close to its stationary state.

Rows of X are scaled to sum 1. K_i is the first hop at which node i is within ε of its stationary state; its
embedding is 0.85 times the mean of the hops before that, plus 0.15 X_i.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.estimator import NAFS
from nafs.rivals.contract import TASKS, Problem, Progress, Rival
from nafs.smoothing import stationary_state


def fit(
    problem: Problem, seed: int, progress: Progress, *, epsilon: float, most: int, keep: float
) -> NDArray[np.float32]:
    """The mean of the hops before each node's last one, plus a share of its features."""
    features = sp.csr_array(problem.features)
    adjacency = problem.graph.adjacency
    sums = np.asarray(abs(features).sum(axis=1)).ravel()
    scaled = sp.diags_array(np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)) @ features
    end = stationary_state(scaled, adjacency, 0.5)
    own = np.asarray(scaled.toarray(), np.float32)
    total, count = np.zeros_like(own), np.zeros(len(own), np.float32)
    going = np.arange(len(own))
    model = NAFS(most - 1, 0.5, weighting="last")
    for hop, state in model.sweep(scaled, adjacency=adjacency, hops=range(most)):
        progress(hop + 1, most)
        rows = state[going]
        if hop > 0:  # the features themselves always count
            far = np.linalg.norm(rows - end[going], axis=1) >= epsilon
            going, rows = going[far], rows[far]
        if not len(going):
            break
        total[going] += rows
        count[going] += 1
    return (1 - keep) * total / count[:, None] + keep * own


NDLS = Rival(
    "NDLS",
    TASKS,
    fit,
    "Zhang et al., Node dependent local smoothing for scalable graph learning, NeurIPS 2021",
    cost=2,
    settings={"epsilon": 0.02, "most": 200, "keep": 0.15},
    seeded=False,
)
