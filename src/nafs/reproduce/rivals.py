"""Embeddings without training that the method is compared with, on the same kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.embedding import embed
from nafs.estimator import NAFS
from nafs.graph import Graph
from nafs.smoothing import normalized_adjacency, stationary_state
from nafs.tasks import cluster

Rival = Callable[[Graph], NDArray[Any]]


def raw(graph: Graph) -> NDArray[np.float32]:
    """The features as they are."""
    found = _features(graph)
    return np.asarray(found.toarray() if sp.issparse(found) else found)


def svd(graph: Graph) -> NDArray[np.float32]:
    """The features projected onto their 64 leading singular directions."""
    from sklearn.decomposition import TruncatedSVD

    features = _features(graph)
    width = min(64, features.shape[1] - 1)
    return np.asarray(TruncatedSVD(width, random_state=0).fit_transform(features), np.float32)


def spectral(graph: Graph) -> NDArray[np.float32]:
    """The edges alone: 64 leading eigenvectors of the symmetric adjacency, each times its eigenvalue."""
    values, vectors = _eigenvectors(graph, 64)
    return np.asarray(vectors * values, np.float32)


def spectral_for_clusters(graph: Graph) -> NDArray[np.float32]:
    """Spectral clustering (Ng et al., 2002): as many eigenvectors as classes, rows of length 1."""
    _, vectors = _eigenvectors(graph, _classes(graph))
    return np.asarray(_unit_rows(vectors), np.float32)


def sgc(graph: Graph) -> NDArray[np.float32]:
    """Simple graph convolution (Wu et al., 2019): hop 2 alone, symmetric normalisation."""
    return embed(graph, n_hops=2, r=0.5, weighting="last").matrix


def ssgc(graph: Graph) -> NDArray[np.float32]:
    """Simple spectral graph convolution (Zhu and Koniusz, 2021): 0.95 mean of hops 1..16 + 0.05 X."""
    hops, keep = 16, 0.05
    own = raw(graph)
    mean = embed(graph, n_hops=hops, r=0.5, weighting="average").matrix  # of hops 0..16
    return np.asarray((1 - keep) * (mean * (hops + 1) - own) / hops + keep * own, np.float32)


def sign(graph: Graph) -> NDArray[np.float32]:
    """SIGN (Frasca et al., 2020) without its network: hops 0..3 side by side."""
    hops = (X for _, X in NAFS(3, 0.5, weighting="last").sweep(graph, hops=range(4)))
    return np.concatenate(list(hops), axis=1)


def ndls(graph: Graph, epsilon: float = 0.02, most: int = 200, keep: float = 0.15) -> NDArray[np.float32]:
    """Node-dependent local smoothing (Zhang et al., 2021).

    Rows are scaled to sum 1. K_i is the first hop at which node i is within epsilon of its stationary
    state; its embedding is 0.85 times the mean of the hops before that, plus 0.15 X_i.
    """
    features = sp.csr_array(_features(graph))
    sums = np.asarray(abs(features).sum(axis=1)).ravel()
    scaled = sp.diags_array(np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)) @ features
    end = stationary_state(scaled, graph.adjacency, 0.5)
    own = np.asarray(scaled.toarray(), np.float32)
    total, count = np.zeros_like(own), np.zeros(len(own), np.float32)
    going = np.arange(len(own))
    model = NAFS(most - 1, 0.5, weighting="last")
    for hop, state in model.sweep(scaled, adjacency=graph.adjacency, hops=range(most)):
        rows = state[going]
        if hop > 0:  # the features themselves always count
            far = np.linalg.norm(rows - end[going], axis=1) >= epsilon
            going, rows = going[far], rows[far]
        if not len(going):
            break
        total[going] += rows
        count[going] += 1
    return (1 - keep) * total / count[:, None] + keep * own


def agc(graph: Graph, most: int = 60) -> NDArray[np.float32]:
    """Adaptive graph convolution (Zhang et al., 2019): (I + Â)/2 as often as clusters get tighter.

    After each hop the nodes are clustered; the smoothing stops before the mean squared distance within
    clusters first grows.
    """
    # The kernel's Â + self-loops as heavy as each degree is (I + Â) / 2.
    adjacency = graph.adjacency.to_scipy()
    lazy = adjacency + sp.diags_array(graph.adjacency.degrees)
    model = NAFS(most, 0.5, weighting="last", self_loops=True)
    best, least, classes = None, np.inf, _classes(graph)
    for _, state in model.sweep(_features(graph), adjacency=lazy):
        spread = _spread(state, cluster(_left_vectors(state, classes), classes, method="kmeans", n_init=3))
        if spread > least:
            break
        best, least = state, spread
    assert best is not None
    return best


def agc_for_clusters(graph: Graph) -> NDArray[np.float32]:
    """AGC's own input of K-means: the left singular vectors of what it smoothed, one for each class."""
    return _left_vectors(agc(graph), _classes(graph))


RIVALS: dict[str, Rival] = {
    "raw features": raw,
    "SVD of the features": svd,
    "spectral, edges alone": spectral,
    "SGC, 2 hops": sgc,
    "SSGC, 16 hops": ssgc,
    "SIGN, 3 hops": sign,
    "AGC": agc,
    "NDLS": ndls,
}
CLUSTERING_RIVALS = RIVALS | {"spectral, edges alone": spectral_for_clusters, "AGC": agc_for_clusters}


def _features(graph: Graph) -> Any:
    assert graph.features is not None
    return graph.features.matrix


def _classes(graph: Graph) -> int:
    return 8 if graph.labels is None else len(graph.labels.classes)


def _eigenvectors(graph: Graph, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Leading eigenvalues and eigenvectors of the symmetric normalised adjacency."""
    from scipy.sparse.linalg import eigsh

    operator = normalized_adjacency(graph.adjacency, 0.5)
    count = min(count, graph.n_nodes - 2)
    start = np.random.default_rng(0).standard_normal(graph.n_nodes)
    values, vectors = eigsh(operator, count, which="LA", v0=start, tol=1e-3)
    return values, vectors


def _left_vectors(matrix: NDArray[Any], count: int) -> NDArray[np.float32]:
    from sklearn.utils.extmath import randomized_svd

    left, _, _ = randomized_svd(matrix, count, n_iter=2, random_state=0)
    return np.asarray(left, np.float32)


def _unit_rows(matrix: NDArray[Any]) -> NDArray[Any]:
    sizes = np.linalg.norm(matrix, axis=1, keepdims=True)
    found: NDArray[Any] = np.divide(matrix, sizes, out=np.zeros_like(matrix), where=sizes > 0)
    return found


def _spread(matrix: NDArray[Any], clusters: NDArray[np.int64]) -> float:
    """Mean over clusters of the mean squared distance between two of their nodes."""
    sizes = np.bincount(clusters)
    members = np.equal.outer(np.arange(len(sizes)), clusters)
    sums = (members.astype(matrix.dtype) @ matrix).astype(np.float64)
    squares = np.bincount(clusters, np.einsum("ij,ij->i", matrix, matrix).astype(np.float64))
    within = squares - np.einsum("ij,ij->i", sums, sums) / sizes
    return float(np.mean(2 * within / np.maximum(sizes - 1, 1)))
