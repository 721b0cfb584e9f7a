"""Nodes renumbered so that neighbours lie close together in memory.

A hop reads the rows of a node's neighbours. Where they lie close together, most of them are still in the
cache when they are read again. The order comes from communities: nodes by rising degree, each merged into the
neighbouring community that gains the most modularity, and the merge trees walked depth first ("Rabbit Order",
Arai et al., IPDPS 2016). It is the same on every machine and for any number of threads.

Every row keeps the order of its neighbours, so that sums are computed as before and no bit of a result
changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nafs._support.scratch import Allocate
from nafs.graph import Adjacency
from nafs.smoothing import _kernel

CACHED_STATE = 16 << 20  # bytes; a state that lives in the cache is read fast in any order
_PAYS_FROM = 1500  # columns x hops for each thread; measured where one hop gains the least


@dataclass(frozen=True, eq=False)
class Order:
    """Nodes in another order.

    Attributes
    ----------
    nodes : ndarray of int32
        The node that each row belongs to.
    graph : Adjacency
        The graph with its nodes renumbered: row i is the one of ``nodes[i]``.
    """

    nodes: NDArray[np.int32]
    graph: Adjacency


def community_order(
    graph: Adjacency,
    *,
    n_threads: int = 1,
    allocate: Allocate = np.empty,
    nodes: NDArray[np.int32] | None = None,
) -> Order:
    """Renumber a graph by its communities, in the order that was saved with it if there is one.

    Parameters
    ----------
    graph : Adjacency
    n_threads : int
        Used where lists are copied; the order itself takes one thread.
    allocate : callable
        Allocates the arrays.
    nodes : ndarray of int32, optional
        An order that is known already.

    Returns
    -------
    Order

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.graph import read_adjacency
    >>> from nafs.smoothing.order import community_order
    >>> two_pairs = read_adjacency(np.array([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]))
    >>> community_order(two_pairs).nodes
    array([2, 0, 3, 1], dtype=int32)
    """
    n, edges, weights = graph.n_nodes, graph.n_stored, graph.weights
    if nodes is None:
        nodes = graph.order if graph.order is not None else _find(graph, allocate)
    indptr, indices = allocate((n + 1,), np.int64), allocate((edges,), np.int32)
    renumbered = None if weights is None else allocate((edges,), np.float32)
    _kernel.renumber(graph.indptr, graph.indices, weights, nodes, indptr, indices, renumbered, n_threads)
    return Order(nodes, Adjacency(indptr, indices, renumbered, graph.directed))


def with_order(graph: Adjacency, *, allocate: Allocate = np.empty) -> Adjacency:
    """The same graph with its nodes by community in ``order``, to be saved with it."""
    return replace(graph, order=_find(graph, allocate))


def _find(graph: Adjacency, allocate: Allocate) -> NDArray[np.int32]:
    """The nodes by community."""
    nodes = allocate((graph.n_nodes,), np.int32)
    buffer = allocate((_kernel.order_bytes(graph.n_nodes, graph.n_stored),), np.uint8)
    _kernel.community_order(graph.indptr, graph.indices, graph.weights, nodes, buffer)
    return nodes


def order_nbytes(graph: Adjacency) -> tuple[int, int]:
    """Bytes that :func:`community_order` takes at most while it runs, and bytes of its result."""
    n, edges = graph.n_nodes, graph.n_stored
    result = 12 * n + 8 + (4 if graph.weights is None else 8) * edges
    finding = 0 if graph.order is not None else 4 * n + _kernel.order_bytes(n, edges)
    return max(finding, 4 * n + result), result


def order_pays(n_columns: int, n_hops: int, n_threads: int) -> bool:
    """Whether the hops save more time than the order takes, for states that do not fit into the cache.

    Parameters
    ----------
    n_columns : int
        Columns of all r together.
    n_hops : int
    n_threads : int
        Hops use all threads, the order one.

    Returns
    -------
    bool

    Examples
    --------
    >>> from nafs.smoothing.order import order_pays
    >>> order_pays(6 * 128, 20, 2), order_pays(128, 2, 2)
    (True, False)
    """
    return n_columns * n_hops >= _PAYS_FROM * n_threads
