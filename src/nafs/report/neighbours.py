"""Neighbours on the page: nearest in the embedding, linked in the graph, and suggested links."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency

NEAREST = 10
LINKS = 12  # at most, graph neighbours listed for a node
SUGGESTED = 5
_PAIRS = 1 << 18  # compared at a time


def nearest_for_page(rows: NDArray[np.int64], scores: NDArray[np.float32]) -> dict[str, Any]:
    """The nearest nodes of each node, and their scores in 16 bits."""
    k = min(NEAREST, rows.shape[1])
    shares = np.clip(scores[:, :k] / 2 + 0.5, 0, 1)
    return {
        "k": k,
        "rows": rows[:, :k].astype(np.int32),
        "scores": np.rint(shares * 65535).astype(np.uint16),
    }


def links_for_page(adjacency: Adjacency) -> dict[str, Any]:
    """The first neighbours of each node in the graph, and its degree."""
    degrees = np.diff(adjacency.indptr)
    kept = np.minimum(degrees, LINKS)
    offsets = np.concatenate([[0], np.cumsum(kept)])
    owner = np.repeat(np.arange(len(kept)), kept)
    place = np.arange(offsets[-1]) - offsets[owner] + np.asarray(adjacency.indptr)[owner]
    return {
        "offsets": offsets.astype(np.int32),
        "rows": np.asarray(adjacency.indices)[place].astype(np.int32),
        "degrees": degrees.astype(np.int32),
    }


def suggestions_for_page(adjacency: Adjacency, near: NDArray[np.int64]) -> dict[str, Any]:
    """Suggested links of all nodes; rows are -1 where a node has fewer suggestions."""
    rows, shared = suggestions(adjacency, np.arange(len(near)), near)
    return {"k": rows.shape[1], "rows": rows.astype(np.int32), "shared": shared.astype(np.uint16)}


def suggestions(
    adjacency: Adjacency, nodes: NDArray[np.int64], near: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each node, the nearest nodes that it has no edge with, and how many neighbours they share."""
    matrix = (adjacency.to_scipy() != 0).astype(np.int32)
    n, k = matrix.shape[0], near.shape[1]
    linked = np.zeros(near.shape, bool)
    keys = nodes[:, None] * n + near
    for begin in range(0, len(nodes), max(1, _PAIRS // max(k, 1))):
        part = slice(begin, begin + max(1, _PAIRS // max(k, 1)))
        edges = matrix[nodes[part]].tocoo()
        stored = nodes[part][edges.row] * n + edges.col
        linked[part] = np.isin(keys[part], stored)
    order = np.argsort(linked, axis=1, kind="stable")[:, :SUGGESTED]
    rows = np.take_along_axis(near, order, 1)
    rows[np.take_along_axis(linked, order, 1)] = -1
    shared = np.zeros(rows.shape, np.int64)
    owner = np.broadcast_to(nodes[:, None], rows.shape)[rows >= 0]
    other = rows[rows >= 0]
    counts = np.zeros(len(other), np.int64)
    for begin in range(0, len(other), _PAIRS):
        part = slice(begin, begin + _PAIRS)
        common = matrix[owner[part]].multiply(matrix[other[part]])
        counts[part] = np.asarray(common.sum(axis=1)).ravel()
    shared[rows >= 0] = np.minimum(counts, 65535)
    return rows, shared
