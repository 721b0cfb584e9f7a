"""How good clusters are: against true classes, and against the graph alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency


def best_assignment(truth: NDArray[Any], clusters: NDArray[Any]) -> NDArray[np.int64]:
    """The one-to-one assignment of clusters to classes on which most nodes agree; -1 for unassigned clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.measures import best_assignment
    >>> best_assignment(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    array([1, 0])
    """
    from scipy.optimize import linear_sum_assignment

    table = np.zeros((int(clusters.max()) + 1, int(truth.max()) + 1), np.int64)
    np.add.at(table, (clusters, truth), 1)
    classes = np.full(table.shape[0], -1)
    rows, columns = linear_sum_assignment(-table)
    classes[rows] = columns
    return classes


def agreement(truth: NDArray[Any], clusters: NDArray[Any]) -> dict[str, float]:
    """ACC by the best assignment, NMI, ARI and macro-F1 of clusters against classes."""
    from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score

    named = best_assignment(truth, clusters)[clusters]
    return {
        "ACC": float((named == truth).mean()),
        "NMI": float(normalized_mutual_info_score(truth, clusters)),
        "ARI": float(adjusted_rand_score(truth, clusters)),
        "F1": float(f1_score(truth, named, average="macro", labels=np.unique(truth), zero_division=0)),
    }


def mutual_information(table: NDArray[Any]) -> float:
    """What the row of an entry says about its column, in nats; the table holds shares or counts.

    For edges between clusters it is the log-likelihood per edge of a block model with the degrees of the
    nodes, relative to one without blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.measures import mutual_information
    >>> round(mutual_information(np.diag([0.5, 0.5])), 2), mutual_information(np.full((2, 2), 0.25))
    (0.69, 0.0)
    """
    rows, columns, total = table.sum(axis=1), table.sum(axis=0), float(table.sum())
    present = table > 0
    ratio = table[present] * total / np.outer(rows, columns)[present]
    return float((table[present] * np.log(ratio)).sum() / total) if total > 0 else 0.0


def modularity(graph: Adjacency, clusters: NDArray[Any]) -> float:
    """Newman's modularity: the share of edges within clusters, less the share expected by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.graph import read_adjacency
    >>> from nafs.clustering.measures import modularity
    >>> two_pairs = read_adjacency(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> modularity(two_pairs, np.array([0, 0, 1, 1]))
    0.5
    """
    within, volumes = _within(graph, clusters)
    total = volumes.sum()
    return float(within.sum() / total - ((volumes / total) ** 2).sum()) if total else 0.0


def conductance(graph: Adjacency, clusters: NDArray[Any]) -> float:
    """Mean conductance: edges leaving a cluster over the smaller volume of the cluster and its complement."""
    within, volumes = _within(graph, clusters)
    smaller = np.minimum(volumes, volumes.sum() - volumes)
    # A cluster that holds every edge leaves nothing to compare with: the worst value, not the best.
    shares = np.divide(volumes - within, smaller, out=np.ones(len(volumes)), where=smaller > 0)
    return float(shares[volumes > 0].mean()) if (volumes > 0).any() else 1.0


def _within(graph: Adjacency, clusters: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Weight of stored edges that stay in each cluster, and each cluster's total degree."""
    weights = np.ones(graph.n_stored) if graph.weights is None else graph.weights.astype(np.float64)
    weights = np.where(graph.rows == graph.indices, 2 * weights, weights)  # a self-loop has two ends
    first, second = clusters[graph.rows], clusters[graph.indices]
    count = int(clusters.max()) + 1
    volumes = np.bincount(first, weights=weights, minlength=count)
    return np.bincount(first, weights=weights * (first == second), minlength=count), volumes
