"""Neighbours on the page: nearest in the embedding, linked in the graph, and suggested links."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency

NEAREST = 10
LINKS = 12  # at most, graph neighbours listed for a node
SUGGESTED = 5
NO_PLACE = 255
_PAIRS = 1 << 18  # compared at a time


def nearest_for_page(rows: NDArray[np.int64], scores: NDArray[np.float32]) -> dict[str, Any]:
    """The nearest nodes of each node, and their scores.

    Scores are in thousandths above -1: the first one, then the decrease to each further one, because small
    numbers compress well.
    """
    k = min(NEAREST, rows.shape[1])
    thousandths = np.rint((np.clip(scores[:, :k], -1, 1) + 1) * 1000).astype(np.int64)
    thousandths[:, 1:] = thousandths[:, :-1] - thousandths[:, 1:]
    return {"k": k, "rows": rows[:, :k].astype(np.int32), "drops": thousandths.astype(np.uint16)}


def links_for_page(adjacency: Adjacency) -> dict[str, Any]:
    """The first neighbours of each node in the graph, as steps from one to the next, and its degree."""
    degrees = np.diff(adjacency.indptr)
    kept = np.minimum(degrees, LINKS)
    offsets = np.concatenate([[0], np.cumsum(kept)])
    owner = np.repeat(np.arange(len(kept)), kept)
    place = np.arange(offsets[-1]) - offsets[owner] + np.asarray(adjacency.indptr)[owner]
    rows = np.asarray(adjacency.indices)[place].astype(np.int64)
    steps = np.diff(rows, prepend=0)
    first = offsets[:-1][kept > 0]
    steps[first] = rows[first]
    return {
        "offsets": offsets.astype(np.int32),
        "steps": steps.astype(np.int32),
        "degrees": degrees.astype(np.int32),
    }


def suggestions_for_page(adjacency: Adjacency, near: NDArray[np.int64]) -> dict[str, Any]:
    """Suggested links of all nodes, as places among their nearest nodes; 255 if there are fewer.

    The page knows the first nearest nodes; the rows of suggestions beyond those are listed in ``further``.
    """
    rows, shared = suggestions(adjacency, np.arange(len(near)), near)
    places = np.full(rows.shape, NO_PLACE, np.uint8)
    for place in range(near.shape[1]):
        places[rows == near[:, [place]]] = place
    further = rows[(places >= NEAREST) & (places != NO_PLACE)]
    return {
        "k": rows.shape[1],
        "places": places,
        "further": further.astype(np.int32),
        "shared": shared.astype(np.uint16),
    }


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
