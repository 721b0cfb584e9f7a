"""FastRP: a very sparse random projection of powers of the random walk; only the edges are used.

N = Σ_k w_k Pᵏ D^β R with P = D⁻¹A and R with entries ±√s of probability 1/(2s) each, 0 otherwise; each
power's rows are scaled to length 1 before they are added.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.rivals.contract import TASKS, Problem, Progress, Rival, dense_bytes
from nafs.rivals.matrices import unit_rows


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    width: int,
    weights: tuple[float, ...],
    beta: float,
    sparsity: float,
) -> NDArray[np.float32]:
    """The weighted sum of projected powers."""
    adjacency = problem.graph.adjacency
    n = adjacency.n_nodes
    rng = np.random.default_rng(seed)
    drawn = rng.random((n, width), dtype=np.float32)
    R = np.sqrt(sparsity) * ((drawn < 0.5 / sparsity).astype(np.float32) - (drawn > 1 - 0.5 / sparsity))
    degrees = np.maximum(adjacency.degrees - 1, 1.0)
    walk = sp.csr_array(sp.diags_array(1 / degrees) @ adjacency.to_scipy().astype(float)).astype(np.float32)
    state = np.asarray(degrees[:, None] ** beta * R, np.float32)
    total = np.zeros((n, width), np.float32)
    for done, weight in enumerate(weights):
        state = walk @ state
        total += weight * unit_rows(state)
        progress(done + 1, len(weights))
    return total


FASTRP = Rival(
    "FastRP",
    TASKS,
    fit,
    "Chen et al., Fast and accurate network embeddings via very sparse random projection, CIKM 2019",
    cost=1,
    # The paper tunes the weights and β for each graph; these are our choice for all of them.
    settings={"width": 512, "weights": (1.0, 1.0, 1.0, 1.0), "beta": -0.5, "sparsity": 3.0},
    memory=lambda graph: dense_bytes(graph, 512),
)
