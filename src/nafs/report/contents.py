"""What the report page shows, gathered from a graph and its embedding."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import show_bytes
from nafs.embedding import Embedding
from nafs.graph import Adjacency, Features, Graph, Labels
from nafs.pictures.layout import tsne
from nafs.selection.preprocessing import prepare, reduce
from nafs.similarity import nearest
from nafs.smoothing import oversmoothing_distances, smoothing_weights
from nafs.smoothing.method import DEFAULT_R, check_r
from nafs.tasks.clustering import cluster, judge_clusters

MOST_NODES = 50_000  # on the map; above that a sample
REPLAYED = 2_000  # nodes whose map is drawn at each number of hops
STEPS = (0, 5, 10, 20, 50, 100, 200)
NEIGHBOURS = 10
LINKS = 15  # graph neighbours listed for a node, at most
SPEED_HOPS = 50
CLUSTERS, MOST_CLUSTERS = 8, 100  # where nobody says how many
_NARROW = 64  # columns of the features in the replay
_UNKNOWN = 65535

Told = Callable[[str], None]


def collect(
    embedding: Embedding,
    graph: Graph | None = None,
    *,
    title: str = "nafs report",
    n_clusters: int | None = None,
    replay: bool = True,
    run: dict[str, str] | None = None,
    seed: int = 0,
    n_threads: int = 1,
    told: Told | None = None,
) -> dict[str, Any]:
    """Everything that the page shows.

    Parameters
    ----------
    embedding : Embedding
    graph : Graph, optional
        What was embedded: without it there are no degrees, hops and graph neighbours.
    title : str
    n_clusters : int, optional
        By default the number of classes, at most 100; without classes 8.
    replay : bool
        Whether to draw the maps of a sample at several numbers of hops.
    run : dict, optional
        Facts of the run, such as its time, to be shown.
    seed : int
    n_threads : int
    told : callable, optional
        Called with the name of each part before it starts.

    Returns
    -------
    dict
        Ready for JSON.
    """
    part = _Parts(told)
    n = len(embedding)
    shown, sampled = np.arange(n), ""
    if n > MOST_NODES:
        shown = np.sort(np.random.default_rng(seed).choice(n, MOST_NODES, replace=False))
        sampled = f"; the page shows {MOST_NODES:,} of them, drawn at random"
    matrix = np.asarray(embedding.matrix, np.float32)
    rows = matrix[shown]
    labels = embedding.labels if graph is None or graph.labels is None else graph.labels
    with part("map"):
        places = tsne(rows, seed=seed, n_threads=n_threads)
    with part("clusters"):
        usual = CLUSTERS if labels is None else min(len(labels.classes), MOST_CLUSTERS)
        count = min(n_clusters or usual, n)
        undirected = graph if graph is not None and not graph.adjacency.directed else None
        found = cluster(matrix, count, seed=seed, graph=undirected)
    with part("neighbours"):
        near, scores = nearest(rows, np.arange(len(rows)), NEIGHBOURS, n_threads=n_threads)
    columns = []
    if labels is not None:
        columns.append(_classes("label", labels.codes[shown], [str(name) for name in labels.classes]))
    columns.append(_classes("cluster", found[shown], [f"cluster {i + 1}" for i in range(count)]))
    data: dict[str, Any] = {
        "title": title,
        "subtitle": f"{n:,} nodes, {matrix.shape[1]:,} dimensions{sampled}",
        "nodes": len(shown),
        "ids": [str(value) for value in embedding.id_array.take(_arrow(shown)).to_pylist()],
        "columns": columns,
        "views": [_view("The embedding", ["t-SNE map of the embedding"], [[places]], [_hops(embedding)])],
        "sampled": bool(sampled),
        "nearest": {
            "k": near.shape[1],
            "rows": pack(near.astype(np.int32)),
            "scores": pack(_share(scores / 2 + 0.5)),
        },
    }
    cards: list[dict[str, Any]] = []
    if graph is not None:
        data["subtitle"] = f"{n:,} nodes, {graph.n_edges:,} edges, {matrix.shape[1]:,} dimensions{sampled}"
        _add_graph(data, cards, part, graph, embedding, shown, replay=replay, seed=seed, n_threads=n_threads)
        cards.append(_judged(found, graph, labels))
    cards.append({"title": "Settings", "rows": _settings(embedding)})
    facts = dict(run or {}) | {name: f"{seconds:.1f} s" for name, seconds in part.seconds.items()}
    cards.append({"title": "Time and memory", "rows": [[name, value] for name, value in facts.items()]})
    data["cards"] = cards
    return data


class _Parts:
    """Tells of parts and times them."""

    def __init__(self, told: Told | None) -> None:
        self.told, self.seconds = told, dict[str, float]()

    def __call__(self, name: str) -> _Parts:
        if self.told is not None:
            self.told(name)
        self.name = name
        return self

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.name] = time.perf_counter() - self.start


def _add_graph(
    data: dict[str, Any],
    cards: list[dict[str, Any]],
    part: _Parts,
    graph: Graph,
    embedding: Embedding,
    shown: NDArray[np.int64],
    *,
    replay: bool,
    seed: int,
    n_threads: int,
) -> None:
    """Degrees, links, weights of hops, smoothing speed, and the map over hops."""
    adjacency = graph.adjacency
    degrees = np.diff(adjacency.indptr)
    data["columns"].append(_numbers("degree", degrees[shown], whole=True, log=True))
    data["linked"] = _links(adjacency, shown)
    if graph.features is None:
        return
    how = embedding.settings
    features = prepare(
        graph.features, adjacency, how.get("preprocessing") or "none", _center(how.get("center"))
    )
    if how.get("reduce_to"):
        features, _ = reduce(features, int(how["reduce_to"]), how.get("reduction", "svd"))
    if "n_hops" in how:  # otherwise nobody knows
        hops = int(how["n_hops"])
        with part("weights"):
            weights = _mean_weights(features, adjacency, hops, how, shown)
        data["weights"] = {"hops": hops, "values": pack(_share(weights))}
        data["columns"].append(_numbers("mean smoothing hop", weights @ np.arange(hops + 1)))
    narrow, _ = reduce(features, _NARROW, seed=seed)
    if not adjacency.directed:
        with part("smoothing speed"):
            cards.append(_speed(narrow, adjacency, degrees))
    if replay:
        with part("replay"):
            data["views"].append(_replay(narrow, adjacency, shown, seed, n_threads))


def _mean_weights(
    features: Features, adjacency: Adjacency, hops: int, how: dict[str, Any], shown: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Weights of the nodes that are shown, mean over the r's."""
    rs = check_r(how.get("r", DEFAULT_R))
    weighting, distance = how.get("weighting", "adaptive"), how.get("distance", "cosine")
    total = np.zeros((len(shown), hops + 1))
    for r in rs:
        total += smoothing_weights(features, adjacency, hops, r, distance, weighting)[shown]
    return total / len(rs)


def _center(center: Any) -> str:
    return center if center in ("mean", "stationary") else "none"


def _replay(
    narrow: Features, adjacency: Adjacency, shown: NDArray[np.int64], seed: int, n_threads: int
) -> dict[str, Any]:
    """Maps of a sample at each step: NAFS beside Â^K X, each map turned like the one before."""
    from nafs.estimator import NAFS

    points = np.arange(len(shown))
    if len(points) > REPLAYED:
        points = np.sort(np.random.default_rng(seed).choice(len(points), REPLAYED, replace=False))
    maps: list[list[NDArray[np.float64]]] = []
    for weighting in ("adaptive", "last"):
        steps: list[NDArray[np.float64]] = []
        model = NAFS(STEPS[-1], 0.5, weighting=weighting, n_threads=n_threads)
        graph = Graph(adjacency, narrow)
        for _, matrix in model.sweep(graph, hops=STEPS):
            start = steps[-1] if steps else None
            if start is None and maps:
                steps.append(maps[0][0])  # the features are the same
                continue
            steps.append(
                tsne(matrix[shown[points]], start=start, seed=seed, n_threads=n_threads, iterations=150)
            )
        maps.append(steps)
    titles = ["NAFS, K = {K} hops", "Â^K X, K = {K} hops: smoothed alike everywhere"]
    view = _view(f"Over hops ({len(points):,} nodes)", titles, maps, list(STEPS))
    view["rows"] = pack(points.astype(np.int32))
    view["start"] = STEPS.index(20)
    return view


def _speed(narrow: Features, adjacency: Adjacency, degrees: NDArray[np.int64]) -> dict[str, Any]:
    distances = oversmoothing_distances(narrow, adjacency, SPEED_HOPS, 0.0, "euclidean")
    few, many = int(np.quantile(degrees, 0.25)), int(np.quantile(degrees, 0.95))
    groups = {
        f"degree up to {few}": degrees <= few,
        "all nodes": np.ones(len(degrees), bool),
        f"degree from {many}": degrees >= many,
    }
    series = [
        {
            "title": f"{name} ({int(mine.sum()):,})",
            "values": [float(f"{value:.4g}") for value in distances[mine].mean(axis=0, dtype=np.float64)],
        }
        for name, mine in groups.items()
    ]
    return {
        "title": "Smoothing speed by degree",
        "text": "Mean distance to the stationary state after k hops of the random walk.",
        "chart": {"title": "Smoothing speed by degree", "axis": "mean distance", "series": series},
    }


def _judged(found: NDArray[np.int64], graph: Graph, labels: Labels | None) -> dict[str, Any]:
    values = judge_clusters(found, graph.adjacency, labels)
    return {
        "title": "Clusters" if labels is None else "Clusters against labels",
        "text": f"The {len(set(found.tolist()))} clusters shown, found without labels.",
        "rows": [[name, f"{value:.3f}"] for name, value in values.items()],
    }


def _settings(embedding: Embedding) -> list[list[str]]:
    rows = []
    for name, value in embedding.settings.items():
        if value is None or name in ("work_dir", "reduction"):
            continue
        if name == "reasons":
            rows += [["chosen", str(reason)] for reason in value]
            continue
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
        rows.append([name.replace("_", " "), shown])
    return rows or [["not known", "the file does not say"]]


def _hops(embedding: Embedding) -> Any:
    return embedding.settings.get("n_hops", "?")


def _view(
    title: str, titles: list[str], maps: list[list[NDArray[np.float64]]], steps: list[Any]
) -> dict[str, Any]:
    made = [
        {"title": name, "steps": [pack(_fitted(places)) for places in one]}
        for name, one in zip(titles, maps, strict=True)
    ]
    return {"title": title, "maps": made, "steps": steps}


def _links(adjacency: Adjacency, shown: NDArray[np.int64]) -> dict[str, Any]:
    """Neighbours that are shown too, a few for each node."""
    place = np.full(adjacency.n_nodes, -1, np.int64)
    place[shown] = np.arange(len(shown))
    offsets, rows = [0], []
    for node in shown:
        there = place[adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]]
        there = there[there >= 0][:LINKS]
        rows.append(there)
        offsets.append(offsets[-1] + len(there))
    flat = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    return {"offsets": pack(np.asarray(offsets, np.int32)), "rows": pack(flat.astype(np.int32))}


def _classes(title: str, codes: NDArray[Any], names: list[str]) -> dict[str, Any]:
    """Classes of the nodes shown; of more than can be numbered in 16 bits, only those that occur."""
    if len(names) >= _UNKNOWN:
        there = np.unique(codes[codes >= 0])
        codes = np.where(codes < 0, -1, np.searchsorted(there, codes))
        names = [names[i] for i in there]
    values = np.where(codes < 0, _UNKNOWN, codes).astype(np.uint16)
    return {"title": title, "names": names, "values": pack(values)}


def _numbers(title: str, values: NDArray[Any], *, whole: bool = False, log: bool = False) -> dict[str, Any]:
    values = np.asarray(values, np.float32)
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return {"title": title, "range": [low, high], "whole": whole, "log": log, "values": pack(values)}


def _share(values: NDArray[Any]) -> NDArray[np.uint16]:
    """Numbers from 0 to 1 in 16 bits."""
    return np.asarray(np.rint(np.clip(values, 0, 1) * 65535), np.uint16)


def _fitted(places: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Places in a square, in 16 bits."""
    low, high = places.min(axis=0), places.max(axis=0)
    middle, size = (low + high) / 2, max(float((high - low).max()), 1e-30)
    return _share((places - middle) / size + 0.5)


def pack(array: NDArray[Any]) -> dict[str, str]:
    """An array as text, with its type."""
    array = np.ascontiguousarray(array)
    return {"kind": array.dtype.str[1:], "data": base64.b64encode(array.tobytes()).decode("ascii")}


def _arrow(rows: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    return pa.array(rows)


def show_run(seconds: float, peak: int | None) -> dict[str, str]:
    """Facts of the embedding's own run."""
    facts = {"embedding": f"{seconds:.1f} s"}
    return facts if peak is None else facts | {"peak memory": show_bytes(peak)}
