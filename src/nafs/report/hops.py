"""Hops on the page: weights of each node, smoothing speed by degree, and the map at several K."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency, Features, Graph
from nafs.pictures.layout import between_anchors, in_square, quantised, tsne
from nafs.similarity.nearest import unit_rows
from nafs.smoothing import oversmoothing_distances, smoothing_weights
from nafs.smoothing.method import DEFAULT_R, check_r

REPLAYED = 1_000  # nodes whose map is drawn at each number of hops
_ANCHORS = 4  # nearest of those, between which any other node is placed
_BLOCK = 1 << 16  # nodes placed at a time
STEPS = (0, 2, 5, 20, 50, 200)
SPEED_HOPS = 50
MOST_WEIGHTS = 4 << 20  # weights that a page holds


def mean_weights(
    features: Features, adjacency: Adjacency, hops: int, settings: dict[str, Any]
) -> NDArray[np.float64]:
    """Weights over hops of all nodes, averaged over the values of r."""
    rs = check_r(settings.get("r", DEFAULT_R))
    weighting, distance = settings.get("weighting", "adaptive"), settings.get("distance", "cosine")
    total = np.zeros((adjacency.n_nodes, hops + 1))
    for r in rs:
        total += smoothing_weights(features, adjacency, hops, r, distance, weighting)
    return total / len(rs)


def weights_for_page(weights: NDArray[np.float64]) -> dict[str, Any] | None:
    """Weights in 8 bits, relative to the largest of each node; ``None`` if a page cannot hold them all."""
    if weights.size > MOST_WEIGHTS:
        return None
    largest = np.maximum(weights.max(axis=1, keepdims=True), 1e-30)
    return {"hops": weights.shape[1] - 1, "values": np.rint(weights / largest * 255).astype(np.uint8)}


def replayed(
    narrow: Features,
    adjacency: Adjacency,
    n_hops: int | None,
    places: NDArray[np.float64],
    *,
    follow: bool,
    seed: int,
    n_threads: int,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Maps of a sample of the nodes at several K: NAFS beside plain smoothing, Â^K X.

    The first map is that of the embedding itself, at its own K. Each further map, for fewer and for more
    hops, starts from the previous one and is rotated to match it, so that nodes move as little as possible.
    With ``follow``, the places of all nodes are added: between the nodes of the sample that they are most
    similar to at that K, as the difference to the smaller K before it (modulo 256), which compresses well.
    """
    from nafs.estimator import NAFS

    n = adjacency.n_nodes
    nodes = np.arange(n)
    if n > REPLAYED:
        nodes = np.sort(np.random.default_rng(seed).choice(n, REPLAYED, replace=False))
    middle = 20 if n_hops is None else n_hops
    steps = sorted({*STEPS, middle})
    start = steps.index(middle)
    maps, others = [], []
    for weighting, title in (
        ("adaptive", "NAFS, K = {K} hops"),
        ("last", "Plain smoothing Â^K X, K = {K} hops"),
    ):
        model = NAFS(steps[-1], 0.5, weighting=weighting, n_threads=n_threads)
        rows, anchors = [], []
        for _, matrix in model.sweep(Graph(adjacency, narrow), hops=steps):
            rows.append(matrix[nodes])
            if follow and n > REPLAYED:
                anchors.append(_anchors(matrix, nodes, n_threads))
        maps_at: dict[int, NDArray[np.float64]] = {}
        for order in (range(start, len(steps)), range(start - 1, -1, -1)):
            for step in order:
                near = maps_at.get(step - 1, maps_at.get(step + 1, places[nodes]))
                maps_at[step] = tsne(rows[step], start=near, seed=seed, n_threads=n_threads, iterations=40)
                if progress is not None:
                    progress(0.5 / len(steps))
        maps.append({"title": title, "positions": [quantised(maps_at[step]) for step in range(len(steps))]})
        if anchors:
            planes = np.stack([_followed(maps_at[step], *near) for step, near in enumerate(anchors)])
            others.append(np.diff(planes, axis=0, prepend=np.zeros_like(planes[:1])))
    replay = {"nodes": nodes.astype(np.int32), "steps": steps, "start": start, "maps": maps}
    return replay | {"others": np.stack(others)} if others else replay


def _anchors(
    matrix: NDArray[Any], nodes: NDArray[np.int64], n_threads: int
) -> tuple[NDArray[np.float16], NDArray[np.uint16]]:
    """For every node, the most similar nodes of a sample: their distances, and their places in the sample."""
    from sklearn.neighbors import NearestNeighbors
    from threadpoolctl import threadpool_limits

    search = NearestNeighbors(n_neighbors=_ANCHORS, algorithm="brute").fit(unit_rows(matrix[nodes]))
    apart = np.empty((len(matrix), _ANCHORS), np.float16)
    near = np.empty((len(matrix), _ANCHORS), np.uint16)
    with threadpool_limits(n_threads):
        for begin in range(0, len(matrix), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            apart[part], near[part] = search.kneighbors(unit_rows(matrix[part]))
    return apart, near


def _followed(
    sampled: NDArray[np.float64], apart: NDArray[np.float16], near: NDArray[np.uint16]
) -> NDArray[np.uint8]:
    """Places of all nodes on the map of a sample, in 7 bits: first all x, then all y."""
    followed = np.empty((2, len(near)), np.uint8)
    for begin in range(0, len(near), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        places, _ = between_anchors(apart[part].astype(np.float64), sampled[near[part]])
        followed[:, part] = np.rint(in_square(places, sampled) * 127).T.astype(np.uint8)
    return followed


def speed_card(narrow: Features, adjacency: Adjacency) -> dict[str, Any]:
    """Mean distance to the stationary state by hop, for nodes with few and with many edges."""
    degrees = np.diff(adjacency.indptr)
    distances = oversmoothing_distances(narrow, adjacency, SPEED_HOPS, 0.0, "euclidean")
    few, many = int(np.quantile(degrees, 0.25)), int(np.quantile(degrees, 0.95))
    groups = {
        f"degree up to {few}": degrees <= few,
        "all nodes": np.ones(len(degrees), bool),
        f"degree from {many}": degrees >= many,
    }
    series = [
        {
            "title": f"{name} ({int(members.sum()):,})",
            "values": [float(f"{value:.4g}") for value in distances[members].mean(axis=0, dtype=np.float64)],
        }
        for name, members in groups.items()
    ]
    return {
        "title": "Smoothing speed by degree",
        "text": "Distance to completely smoothed features, by number of hops. Nodes with many edges get "
        "there first, which is why each node has its own weights.",
        "chart": {"title": "Smoothing speed by degree", "axis": "number of hops", "series": series},
    }
