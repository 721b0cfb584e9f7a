"""Edges and shared neighbors of pairs of nodes, without any n × n matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.graph import Adjacency

Pairs = NDArray[np.int64]
HUB = 1000  # neighbors; paths through larger hubs say little, and there are too many of them
_WORK = 1 << 20  # paths that are followed at a time


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


def three_step_paths(graph: Adjacency, pairs: Pairs) -> NDArray[np.float64]:
    """Σ 1 / (√d_i d_u d_v √d_j) over the paths i-u-v-j between the nodes of each pair; no path uses a hub.

    This is the entry of the third power of the normalised adjacency. Pairs can have many such paths without
    sharing a neighbor, for example buyers and goods.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.graph import read_adjacency
    >>> from nafs.links.pairs import three_step_paths
    >>> path = read_adjacency(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> three_step_paths(path, np.array([[0, 3], [0, 2]])).round(4)
    array([0.25, 0.  ])
    """
    n, degrees = graph.n_nodes, np.diff(graph.indptr).astype(np.int64)
    roots = (1 / np.sqrt(np.maximum(degrees, 1))).astype(np.float32)
    through = np.where(degrees <= HUB, roots, np.float32(0))
    pattern = (graph.indices, graph.indptr)
    leave = sp.csr_array((np.repeat(roots, degrees) * through[graph.indices], *pattern), shape=(n, n))
    step = sp.csr_array((np.repeat(through, degrees) * through[graph.indices] ** 2, *pattern), shape=(n, n))
    onward = np.where(degrees <= HUB, degrees, 0)
    work = np.add.reduceat(np.append(onward[graph.indices], 0), graph.indptr[:-1]) * (degrees > 0)
    swap = work[pairs[:, 0]] > work[pairs[:, 1]]
    first, second = np.where(swap, pairs[:, 1], pairs[:, 0]), np.where(swap, pairs[:, 0], pairs[:, 1])
    order = np.argsort(first, kind="stable")
    starts, place = np.unique(first[order], return_inverse=True)
    totals = np.zeros(len(pairs))
    # Two steps are followed once from each start; the third step is looked up for each of its pairs.
    cost = np.cumsum(work[starts] + np.bincount(place, degrees[second[order]], len(starts)))
    for block in np.split(np.arange(len(starts)), np.flatnonzero(np.diff(cost // _WORK)) + 1):
        if not len(block):
            continue
        reached = sp.csr_array(leave[starts[block]] @ step)
        reached.sort_indices()
        keys = np.repeat(np.arange(len(block)) * n, np.diff(reached.indptr)) + reached.indices
        begin, end = np.searchsorted(place, (block[0], block[-1] + 1))
        chosen = order[begin:end]
        last = second[chosen]
        at = np.repeat(np.arange(len(chosen)), degrees[last])
        offsets = np.repeat(graph.indptr[last] - (np.cumsum(degrees[last]) - degrees[last]), degrees[last])
        before = graph.indices[offsets + np.arange(len(at))].astype(np.int64)
        wanted = (place[begin:end] - block[0])[at] * n + before
        where = np.searchsorted(keys, wanted)
        hit = where < len(keys)
        hit[hit] = keys[where[hit]] == wanted[hit]
        values = reached.data[where[hit]] * roots[last[at[hit]]]
        totals[chosen] = np.bincount(at[hit], weights=values, minlength=len(chosen))
    return totals


def paths_nbytes(graph: Adjacency) -> int:
    """Approximate bytes that :func:`three_step_paths` takes."""
    degrees = np.diff(graph.indptr).astype(np.float64)
    return 24 * graph.n_stored + 64 * min(_WORK, int(np.square(degrees).sum()))
