"""Edges and shared neighbors of pairs of nodes, without any n × n matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency

Pairs = NDArray[np.int64]


def are_edges(graph: Adjacency, pairs: Pairs) -> NDArray[np.bool_]:
    """Which pairs are edges, by binary search in the sorted neighbor lists of their first nodes."""
    low, high = graph.indptr[pairs[:, 0]].copy(), graph.indptr[pairs[:, 0] + 1].copy()
    ends = high.copy()
    while (low < high).any():
        middle = (low + high) // 2
        still_open = low < high
        smaller = np.zeros(len(pairs), bool)
        smaller[still_open] = graph.indices[middle[still_open]] < pairs[still_open, 1]
        low = np.where(still_open & smaller, middle + 1, low)
        high = np.where(still_open & ~smaller, middle, high)
    inside = low < ends
    inside[inside] = graph.indices[low[inside]] == pairs[inside, 1]
    return np.asarray(inside)


def shared_neighbors(graph: Adjacency, pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The neighbors that the nodes of each pair share.

    Only the shorter of the two neighbor lists is read, so that pairs with hubs are not expensive.

    Parameters
    ----------
    graph : Adjacency
    pairs : ndarray of int, shape (count, 2)

    Returns
    -------
    ndarray of int
        Numbers of pairs, ascending: one entry for each neighbor that a pair shares.
    ndarray of int
        The neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.graph import read_adjacency
    >>> from nafs.links.pairs import shared_neighbors
    >>> path = read_adjacency(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> shared_neighbors(path, np.array([[0, 1], [0, 2]]))
    (array([1]), array([1]))
    """
    degrees = np.diff(graph.indptr)
    first, second = pairs[:, 0], pairs[:, 1]
    swap = degrees[first] > degrees[second]
    short, other = np.where(swap, second, first), np.where(swap, first, second)
    counts = degrees[short]
    at = np.repeat(np.arange(len(pairs)), counts)
    starts = np.repeat(graph.indptr[short] - (np.cumsum(counts) - counts), counts)
    neighbors = graph.indices[starts + np.arange(len(at))].astype(np.int64)
    ends = np.column_stack([other[at], neighbors])
    both = are_edges(graph, ends)
    both &= (neighbors != other[at]) & (neighbors != short[at])  # a self-loop is not a shared neighbor
    return at[both], neighbors[both]
