"""Node clustering: clusters of an embedding, judged by classes where there are any, and by the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs.clustering import mixture, project
from nafs.clustering.kmeans import kmeans_of_products
from nafs.clustering.measures import agreement, conductance, modularity
from nafs.graph import Adjacency, Graph, Labels
from nafs.tasks.result import TaskResult, check_rows

METHODS = ("mixture", "kmeans")
_LARGE = 1 << 26  # values; beyond that K-means works on samples
_FEW = 4096  # rows; up to here K-means of wide matrices goes by inner products


def cluster(
    matrix: NDArray[Any],
    n_clusters: int,
    *,
    graph: Graph | None = None,
    method: str = "mixture",
    seed: int = 0,
    n_init: int = 10,
) -> NDArray[np.int64]:
    """Clusters of an embedding.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
    n_clusters : int
    graph : Graph, optional
        Of several mixtures the one with the highest modularity in it counts.
    method : {"mixture", "kmeans"}
        A mixture of Gaussians with one covariance on the leading 2 · ``n_clusters`` directions of the
        embedding, rows of length 1, fitted to 20,000 nodes where there are more; or K-means on the
        embedding as it is, on mini-batches where it is large.
    seed : int
    n_init : int
        Starts, of which the best counts.

    Returns
    -------
    ndarray of int, shape (n,)
    """
    return _clusters_by_seed(matrix, n_clusters, graph, method, n_init)(seed)


def _clusters_by_seed(
    matrix: NDArray[Any], n_clusters: int, graph: Graph | None, method: str, n_init: int
) -> Callable[[int], NDArray[np.int64]]:
    """What finds the clusters for a seed; what all seeds have in common is done here, once."""
    from sklearn.cluster import KMeans, MiniBatchKMeans

    check_choice("method", method, METHODS)
    if not 1 <= n_clusters <= len(matrix):
        raise InputError(
            Parameter("n_clusters"),
            f" must lie between 1 and the number of nodes, {len(matrix)}; got {n_clusters}",
        )
    if method == "mixture":
        edges = None if graph is None or graph.adjacency.directed else graph.adjacency
        points = project(matrix, 2 * n_clusters)
        return lambda seed: mixture(points, n_clusters, graph=edges, seed=seed, n_init=n_init)
    if matrix.shape[0] <= _FEW and matrix.shape[1] > 256:
        products = _products(matrix)
        return lambda seed: kmeans_of_products(products, n_clusters, seed, n_init)

    def kmeans(seed: int) -> NDArray[np.int64]:
        if matrix.size > _LARGE:
            model = MiniBatchKMeans(n_clusters, batch_size=16384, n_init=min(n_init, 3), random_state=seed)
        else:
            model = KMeans(n_clusters, n_init=n_init, random_state=seed)
        return np.asarray(model.fit_predict(matrix), dtype=np.int64)

    return kmeans


def _products(matrix: NDArray[Any]) -> NDArray[np.float32]:
    """Inner products of the centred rows."""
    centred = np.asarray(matrix - matrix.mean(axis=0), np.float32)
    return centred @ centred.T


def judge_clusters(found: NDArray[np.int64], edges: Adjacency, labels: Labels | None) -> dict[str, float]:
    """How clusters agree with the labels, where there are some, and with the edges."""
    scores: dict[str, float] = {}
    if labels is not None:
        known = labels.known
        scores |= agreement(labels.codes[known], found[known])
    if not edges.directed:  # both are defined for undirected graphs
        scores["modularity"] = modularity(edges, found)
        scores["conductance"] = conductance(edges, found)
    return scores


def evaluate_clustering(
    matrix: NDArray[Any],
    graph: Graph,
    *,
    n_clusters: int | None = None,
    method: str = "mixture",
    seeds: int = 10,
    n_init: int = 10,
) -> TaskResult:
    """Cluster an embedding with several seeds and judge the clusters.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
        An embedding of any origin.
    graph : Graph
        Its labels judge, where it has some; its edges judge in any case.
    n_clusters : int, optional
        By default the number of classes.
    method : {"mixture", "kmeans"}
        As in :func:`cluster`.
    seeds : int
    n_init : int
        Starts for each seed.

    Returns
    -------
    TaskResult
        ACC, NMI, ARI and F1 of the labelled nodes; modularity and conductance.
    """
    check_rows(matrix, graph)
    if n_clusters is None:
        if graph.labels is None:
            raise InputError("clustering needs labels, or the number of clusters: ", Parameter("n_clusters"))
        n_clusters = len(graph.labels.classes)
    if n_clusters < 2:
        raise InputError(f"clustering needs at least 2 clusters; there is {n_clusters}")
    if seeds < 1:
        raise InputError(Parameter("seeds"), f" must be at least 1; got {seeds}")
    values: dict[str, list[float]] = {}
    find = _clusters_by_seed(matrix, n_clusters, graph, method, n_init)
    for seed in range(seeds):
        for name, value in judge_clusters(find(seed), graph.adjacency, graph.labels).items():
            values.setdefault(name, []).append(value)
    name = "K-means" if method == "kmeans" else "Gaussian mixture"
    how = f"{name}, {n_clusters} clusters, {seeds} seed{'s' if seeds > 1 else ''}"
    settings = {"n_clusters": n_clusters, "method": method, "n_init": n_init}
    return TaskResult("clustering", values, how, settings)
