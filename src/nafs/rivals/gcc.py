"""GCC: smoothing, reduction and clustering in one objective, without training.

T = D⁻¹(Â + I) with rows that sum to 1, H = TᵖX, and G, F, W minimise ‖H - G F Wᵀ‖² with one cluster in each
row of G and WᵀW = I. W starts as the principal directions of H, G and F as K-means of HW. Then the following
steps repeat: W comes from the SVD of HᵀGF, nodes go to the nearest centre of HW, and centres become means. If
the authors state no power p, it grows until the loss, relative to ‖H‖², changes by less than 0.01. Features
are TF-IDF.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.clustering.kmeans import kmeans_by_seed
from nafs.graph import Adjacency
from nafs.rivals.contract import Problem, Progress, Rival
from nafs.rivals.matrices import tf_idf
from nafs.rivals.tensors import convolution

# The powers that the authors state for these graphs.
POWERS = {"cora": {"power": 12}, "citeseer": {"power": 5}, "pubmed": {"power": 150}, "wiki": {"power": 4}}


def propagation(adjacency: Adjacency) -> Any:
    """T: Â + I with rows that sum to 1."""
    both = convolution(adjacency) + sp.eye_array(adjacency.n_nodes)
    return sp.csr_array(sp.diags_array(1 / np.asarray(both.sum(axis=1)).ravel()) @ both).astype(np.float32)


def factorize(
    H: NDArray[np.float32], n_clusters: int, seed: int, steps: int, tolerance: float
) -> tuple[NDArray[np.int64], float]:
    """Clusters of one power, and their loss."""
    from sklearn.decomposition import PCA

    W = PCA(n_clusters, svd_solver="randomized", random_state=0).fit(H).components_.T
    reduced = H @ W
    clusters = kmeans_by_seed(reduced, n_clusters, 10)(seed)
    members, F = _means(reduced, clusters, n_clusters)
    whole, last, loss = float((H.astype(np.float64) ** 2).sum()), np.inf, np.inf
    for _ in range(steps):
        left, _, right = np.linalg.svd(H.T @ (members @ F), full_matrices=False)
        W = left @ right
        reduced = H @ W
        apart = (F * F).sum(axis=1)[None, :] - 2 * reduced @ F.T
        clusters = apart.argmin(axis=1)
        members, F = _means(reduced, clusters, n_clusters)
        # ‖H - GFWᵀ‖² = ‖H‖² + Σ_i (|f|² - 2 h_i W f) because W has orthonormal columns.
        loss = (whole + float(apart.min(axis=1).sum(dtype=np.float64))) / whole
        if last - loss < tolerance:
            break
        last = loss
    return clusters.astype(np.int64), loss


def _means(
    points: NDArray[np.float32], clusters: NDArray[np.int64], n_clusters: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The membership matrix G and the means F; an empty cluster has mean 0."""
    members = np.eye(n_clusters, dtype=np.float32)[clusters]
    return members, members.T @ points / np.maximum(members.sum(axis=0), 1)[:, None]


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    power: int | None,
    most: int,
    change: float,
    steps: int,
    tolerance: float,
) -> NDArray[np.int64]:
    """Clusters of the nodes."""
    features = tf_idf(problem.features)
    H = np.asarray(features.toarray() if sp.issparse(features) else features, np.float32)
    T = propagation(problem.graph.adjacency)
    if power is not None:
        for done in range(power):
            H = T @ H
            progress(done + 1, power)
        return factorize(H, problem.n_clusters, seed, steps, tolerance)[0]
    clusters, last = np.zeros(len(H), np.int64), np.inf
    for done in range(1, most + 1):
        H = T @ H
        clusters, loss = factorize(H, problem.n_clusters, seed, steps, tolerance)
        progress(done, most)
        if abs(last - loss) < change:
            break
        last = loss
    return clusters


GCC = Rival(
    "GCC",
    ("clustering",),
    fit,
    "Fettal et al., Efficient graph convolution for joint node representation learning and clustering, "
    "WSDM 2022",
    cost=1,
    settings={"power": None, "most": 150, "change": 0.01, "steps": 30, "tolerance": 1e-6},
    tuned=POWERS,
)
