"""MGAE: a graph autoencoder of linear layers, solved in closed form, then spectral clustering.

A layer maps corrupted features back to clean ones after a graph convolution: it minimises ‖X - Â X̃ W‖² +
λ‖W‖² in expectation over X̃, in which every feature is dropped with probability p. With C = (ÂX)ᵀ(ÂX) and q
= 1 - p, the expectations are q (ÂX)ᵀX on the right and q²C, with qC on the diagonal, on the left. The next
layer's input is ÂXW. The rows of the leading eigenvectors of |ZZᵀ| are clustered.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from nafs.graph import Graph
from nafs.rivals.contract import Problem, Progress, Rival, square_bytes
from nafs.rivals.matrices import leading_eigenvectors, unit_rows
from nafs.rivals.tensors import convolution


def layer(
    smooth: NDArray[np.float64], X: NDArray[np.float64], noise: float, ridge: float
) -> NDArray[np.float64]:
    """W of one layer, from X and ÂX."""
    keep = 1 - noise
    products = smooth.T @ smooth
    system = keep**2 * products
    np.fill_diagonal(system, keep * np.diag(products) + ridge)
    return np.asarray(scipy.linalg.solve(system, keep * (smooth.T @ X), assume_a="pos", overwrite_a=True))


def fit(
    problem: Problem, seed: int, progress: Progress, *, layers: int, noise: float, ridge: float
) -> NDArray[np.float32]:
    """Rows of length 1 of the leading eigenvectors of |ZZᵀ|, one for each cluster."""
    operator = convolution(problem.graph.adjacency)
    Z = problem.dense_features.astype(np.float64)
    for done in range(layers):
        smooth = operator @ Z
        Z = smooth @ layer(smooth, Z, noise, ridge)
        progress(done + 1, layers + 1)
    Z = Z.astype(np.float32)
    affinity = np.abs(Z @ Z.T)
    scale = 1 / np.sqrt(np.maximum(affinity.sum(axis=1, dtype=np.float64), 1e-12)).astype(np.float32)
    affinity *= scale[:, None]
    affinity *= scale[None, :]
    vectors = leading_eigenvectors(affinity, problem.n_clusters)
    progress(layers + 1, layers + 1)
    return unit_rows(vectors)


def _memory(graph: Graph) -> int:
    columns = 128 if graph.features is None else graph.features.shape[1]
    return square_bytes(graph, 2) + 8 * (3 * graph.n_nodes * columns + 4 * columns**2)


MGAE = Rival(
    "MGAE",
    ("clustering",),
    fit,
    "Wang et al., MGAE: Marginalized graph autoencoder for graph clustering, CIKM 2017",
    cost=3,
    growth=1.5,
    # The paper's values for Cora; it states none for the other graphs.
    settings={"layers": 3, "noise": 0.4, "ridge": 1e-5},
    seeded=False,
    memory=_memory,
)
