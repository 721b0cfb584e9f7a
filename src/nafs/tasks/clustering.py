"""Node clustering: clusters of an embedding, evaluated by the classes, if any, and by the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs.clustering import ClusterSearch, mixture, project
from nafs.clustering.kmeans import kmeans_by_seed
from nafs.clustering.measures import agreement, conductance, modularity
from nafs.graph import Adjacency, Graph, Labels
from nafs.tasks.result import TaskResult, check_rows

METHODS = ("consensus", "mixture", "kmeans")
Source = NDArray[Any] | ClusterSearch


def cluster(
    matrix: Source,
    n_clusters: int | str,
    *,
    graph: Graph | None = None,
    method: str = "consensus",
    seed: int = 0,
    n_init: int = 10,
) -> NDArray[np.int64]:
    """Clusters of an embedding.

    Parameters
    ----------
    matrix : ndarray of shape (n, d), or ClusterSearch
        An embedding of any origin; or embeddings for several numbers of hops, as
        :func:`nafs.pipeline.search_clusters` returns them.
    n_clusters : int or "auto"
        "auto" works with the consensus only; it uses the edges if there is a graph.
    graph : Graph, optional
    method : {"consensus", "mixture", "kmeans"}
        The consensus of several heads and starts, see :mod:`nafs.clustering.consensus`; or a mixture of
        Gaussians with one covariance on the leading 2 · ``n_clusters`` directions, with rows of length 1 and
        the start of highest modularity; or K-means on the unchanged embedding.
    seed : int
    n_init : int
        Starts of the mixture and of K-means.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.tasks import cluster
    >>> corners = np.repeat(np.eye(3), 20, axis=0) + 0.01 * np.random.default_rng(0).random((60, 3))
    >>> np.bincount(cluster(corners, 3))
    array([20, 20, 20])
    """
    return _clusters_by_seed(matrix, n_clusters, graph, method, n_init)(seed)


def _clusters_by_seed(
    matrix: Source, n_clusters: int | str, graph: Graph | None, method: str, n_init: int
) -> Callable[[int], NDArray[np.int64]]:
    """A function that returns the clusters for a seed. Work that all seeds share is done here, once."""
    check_choice("method", method, METHODS)
    matrix = matrix if isinstance(matrix, ClusterSearch) else np.asarray(matrix)
    edges = None if graph is None or graph.adjacency.directed else graph.adjacency
    if method == "consensus":
        search = matrix
        if not isinstance(search, ClusterSearch):
            most = None if isinstance(n_clusters, str) else n_clusters
            _check_number(n_clusters, len(search))
            search = ClusterSearch([(0, search)], most, graph=edges)
        return lambda seed: search.cluster(n_clusters, seed).labels
    if isinstance(matrix, ClusterSearch):
        raise InputTypeError(f"{method} needs one embedding; got embeddings for several numbers of hops")
    count = _check_number(n_clusters, len(matrix))
    if count is None:
        raise InputError(Parameter("n_clusters", "auto"), " is for the method 'consensus'")
    if method == "mixture":
        points = project(matrix, 2 * count)
        return lambda seed: mixture(points, count, graph=edges, seed=seed, n_init=n_init)
    return kmeans_by_seed(matrix, count, n_init)


def _check_number(n_clusters: int | str, n_nodes: int) -> int | None:
    """The number of clusters; ``None`` if it is to be chosen."""
    if n_clusters == "auto":
        return None
    if isinstance(n_clusters, str) or not 1 <= n_clusters <= n_nodes:
        raise InputError(
            Parameter("n_clusters"),
            f" must lie between 1 and the number of nodes, {n_nodes}; got {n_clusters}",
        )
    return n_clusters


def judge_clusters(clusters: NDArray[np.int64], edges: Adjacency, labels: Labels | None) -> dict[str, float]:
    """How well clusters agree with the labels, if any, and with the edges."""
    scores: dict[str, float] = {}
    if labels is not None:
        known = labels.known
        scores |= agreement(labels.codes[known], clusters[known])
    if not edges.directed:  # both are defined for undirected graphs only
        scores["modularity"] = modularity(edges, clusters)
        scores["conductance"] = conductance(edges, clusters)
    return scores


def evaluate_clustering(
    matrix: Source,
    graph: Graph,
    *,
    n_clusters: int | str | None = None,
    method: str = "consensus",
    seeds: int = 10,
    n_init: int = 10,
) -> TaskResult:
    """Cluster an embedding with several seeds and evaluate the clusters.

    Parameters
    ----------
    matrix : ndarray of shape (n, d), or ClusterSearch
        As in :func:`cluster`.
    graph : Graph
        Clusters are compared with its labels, if it has any, and with its edges.
    n_clusters : int or "auto", optional
        By default the number of classes.
    method : {"consensus", "mixture", "kmeans"}
        As in :func:`cluster`.
    seeds : int
    n_init : int
        Starts for each seed.

    Returns
    -------
    TaskResult
        ACC, NMI, ARI and F1 of the labelled nodes; modularity and conductance.
    """
    if not isinstance(matrix, ClusterSearch):
        matrix = check_rows(matrix, graph)
    if n_clusters is None:
        if graph.labels is None:
            raise InputError("clustering needs labels, or the number of clusters: ", Parameter("n_clusters"))
        n_clusters = len(graph.labels.classes)
    if not isinstance(n_clusters, str) and n_clusters < 2:
        raise InputError(f"clustering needs at least 2 clusters; there is {n_clusters}")
    if seeds < 1:
        raise InputError(Parameter("seeds"), f" must be at least 1; got {seeds}")
    values: dict[str, list[float]] = {}
    find = _clusters_by_seed(matrix, n_clusters, graph, method, n_init)
    for seed in range(seeds):
        for name, value in judge_clusters(find(seed), graph.adjacency, graph.labels).items():
            values.setdefault(name, []).append(value)
    name = {"kmeans": "K-means", "mixture": "Gaussian mixture", "consensus": "consensus"}[method]
    how = f"{name}, {n_clusters} clusters, {seeds} seed{'s' if seeds > 1 else ''}"
    if graph.labels is not None and not graph.labels.known.all():
        how += f", compared on {int(graph.labels.known.sum()):,} nodes with a label"
    settings = {"n_clusters": n_clusters, "method": method, "n_init": n_init}
    return TaskResult("clustering", values, how, settings)
