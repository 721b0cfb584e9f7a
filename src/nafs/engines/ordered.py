"""The community order of a run in a work folder: found once, and read by every task."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.engines.work import WorkFolder
from nafs.graph import Adjacency
from nafs.smoothing.order import Order, community_order

NODES = "order"
_PARTS = ("order-indptr", "order-indices", "order-weights")


def write_order(graph: Adjacency, folder: WorkFolder, n_threads: int) -> None:
    """Write the order and the renumbered graph to the folder, unless they are there."""
    if folder.has(NODES):
        return
    order = community_order(graph, n_threads=n_threads, allocate=folder.scratch)
    arrays = dict(zip(_PARTS, (order.graph.indptr, order.graph.indices, order.graph.weights), strict=True))
    for name, array in (*arrays.items(), (NODES, order.nodes)):  # the nodes last: then all is there
        if array is not None:
            _write(folder, name, array)


def read_order(graph: Adjacency, folder: WorkFolder) -> Order | None:
    """The order in the folder, mapped from its files; ``None`` where the run keeps the given one."""
    if not folder.has(NODES):
        return None
    indptr, indices = (folder.open(name) for name in _PARTS[:2])
    weights = None if graph.weights is None else folder.open(_PARTS[2])
    return Order(folder.open(NODES), Adjacency(indptr, indices, weights, graph.directed))


def drop_order(folder: WorkFolder) -> None:
    """Remove the order from the folder."""
    for name in (NODES, *_PARTS):
        folder.drop(name)


def _write(folder: WorkFolder, name: str, array: NDArray[Any]) -> None:
    with folder.making(name, array.shape, array.dtype) as out:
        np.copyto(out, array)
