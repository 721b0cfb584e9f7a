"""How much partitions agree with each other, and what they agree on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]


def pairwise_agreement(partitions: Labels, n_clusters: int) -> NDArray[np.float64]:
    """Adjusted Rand indices of all pairs of partitions, shape (count, count).

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.agreement import pairwise_agreement
    >>> pairwise_agreement(np.array([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]), 2).round(1)
    array([[ 1. ,  1. , -0.5],
           [ 1. ,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    count, n_nodes = partitions.shape
    together = _pairs(_counts(partitions, n_clusters)).sum(axis=1)
    indices = np.empty((count, count))
    for i, labels in enumerate(partitions):
        cells = labels * n_clusters + partitions[i:]
        pairs = _pairs(_counts(cells, n_clusters**2)).sum(axis=1)
        indices[i, i:] = indices[i:, i] = _adjusted(pairs, together[i], together[i:], n_nodes)
    return indices


def rand_index(first: Labels, second: Labels, n_clusters: int) -> float:
    """The adjusted Rand index of two partitions."""
    table = np.bincount(first * n_clusters + second, minlength=n_clusters**2).astype(np.float64)
    table = table.reshape(n_clusters, n_clusters)
    rows, columns = (_pairs(table.sum(axis=axis)).sum() for axis in (1, 0))
    return float(_adjusted(_pairs(table).sum(), rows, columns, len(first)))


def overlaps(labels: Labels, partitions: Labels, n_clusters: int) -> NDArray[np.float64]:
    """The overlap (Jaccard) of each cluster with its best match in a partition, averaged over partitions.

    1 means that every partition has exactly this cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.agreement import overlaps
    >>> overlaps(np.array([0, 0, 1, 1]), np.array([[1, 1, 0, 0], [0, 0, 0, 1]]), 2).round(2)
    array([0.83, 0.75])
    """
    shares = np.zeros(n_clusters)
    for other in partitions:
        table = np.bincount(labels * n_clusters + other, minlength=n_clusters**2)
        common = table.reshape(n_clusters, n_clusters)
        union = common.sum(axis=1, keepdims=True) + common.sum(axis=0, keepdims=True) - common
        shares += (common / np.maximum(union, 1)).max(axis=1)
    return shares / max(1, len(partitions))


def vote(
    partitions: Labels, weights: NDArray[np.float64], start: Labels, n_clusters: int, rounds: int = 2
) -> NDArray[np.float64]:
    """The share of the votes that each cluster gets at each node; the largest share wins.

    Parameters
    ----------
    partitions : ndarray of int, shape (count, n)
    weights : ndarray of shape (count,)
    start : ndarray of int, shape (n,)
        The clusters of all partitions are first renumbered to match these, then the last winner, as well as
        possible.
    n_clusters : int
    rounds : int

    Returns
    -------
    ndarray of shape (n, n_clusters)
        Each row sums to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.agreement import vote
    >>> partitions = np.array([[0, 0, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]])
    >>> vote(partitions, np.array([1.0, 1.0, 2.0]), partitions[0], 2)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ],
           [0. , 1. ]])
    """
    from scipy.optimize import linear_sum_assignment

    nodes = np.arange(len(start))
    for _ in range(rounds):
        votes = np.zeros((len(start), n_clusters))
        for labels, weight in zip(partitions, weights, strict=True):
            table = np.bincount(labels * n_clusters + start, minlength=n_clusters**2)
            _, names = linear_sum_assignment(-table.reshape(n_clusters, n_clusters))
            votes[nodes, names[labels]] += weight
        start = votes.argmax(axis=1)
    return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def _counts(numbers: Labels, end: int) -> NDArray[np.float64]:
    """How often each number from 0 to ``end`` (exclusive) occurs in each row."""
    count = len(numbers)
    offsets = end * np.arange(count)[:, None]
    return (
        np.bincount((numbers + offsets).ravel(), minlength=count * end).reshape(count, end).astype(np.float64)
    )


def _pairs(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts * (counts - 1) / 2


def _adjusted(together: Any, first: Any, second: Any, n: int) -> Any:
    """The index from the pairs of nodes that are together in both, in the first and in the second."""
    expected = first * second / max(1.0, n * (n - 1) / 2)
    spread = (first + second) / 2 - expected
    return np.where(spread > 0, (together - expected) / np.where(spread > 0, spread, 1), 1.0)
