"""AGC: smoothing by (I + Â)/2 for as long as clusters get tighter.

After each hop the nodes are clustered by the left singular vectors of the smoothed features. Smoothing stops
before the mean squared distance within clusters first grows. The final clusters come from the same vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.clustering.kmeans import kmeans_by_seed
from nafs.estimator import NAFS
from nafs.rivals.contract import TASKS, Problem, Progress, Rival
from nafs.rivals.matrices import left_vectors

_CLUSTERS = 8  # number of clusters if the task is not clustering


def fit(problem: Problem, seed: int, progress: Progress, *, most: int) -> NDArray[np.float32]:
    """The smoothed features, or for clusters their left singular vectors."""
    # The kernel's Â with self-loops as heavy as each degree is (I + Â) / 2.
    adjacency = problem.graph.adjacency
    lazy = adjacency.to_scipy() + sp.diags_array(adjacency.degrees)
    model = NAFS(most, 0.5, weighting="last", self_loops=True)
    clusters = problem.n_clusters or _CLUSTERS
    best, least = None, np.inf
    for hop, state in model.sweep(problem.features, adjacency=lazy):
        progress(hop, most)
        codes = kmeans_by_seed(left_vectors(state, clusters, rounds=2), clusters, 3)(0)
        width = spread(state, codes)
        if width > least:
            break
        best, least = state, width
    assert best is not None
    return left_vectors(best, clusters, rounds=2) if problem.task == "clustering" else best


def spread(matrix: NDArray[Any], clusters: NDArray[np.int64]) -> float:
    """Mean over clusters of the mean squared distance between two of their nodes."""
    sizes = np.bincount(clusters)
    members = np.equal.outer(np.arange(len(sizes)), clusters)
    sums = (members.astype(matrix.dtype) @ matrix).astype(np.float64)
    squares = np.bincount(clusters, np.einsum("ij,ij->i", matrix, matrix).astype(np.float64))
    within = squares - np.einsum("ij,ij->i", sums, sums) / np.maximum(sizes, 1)
    return float(np.mean(2 * within / np.maximum(sizes - 1, 1)))


AGC = Rival(
    "AGC",
    TASKS,
    fit,
    "Zhang et al., Attributed graph clustering via adaptive graph convolution, IJCAI 2019",
    cost=1,
    settings={"most": 60},
    seeded=False,
)
