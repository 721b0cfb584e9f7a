"""What the page shows, gathered from a graph, its embedding and the columns of its nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import show_bytes
from nafs.clustering import Clustering
from nafs.clustering.description import NodeFacts, describe_clusters
from nafs.embedding import Embedding
from nafs.graph import Graph, Labels
from nafs.pictures.layout import layout, quantised
from nafs.pipeline import features_again
from nafs.report.columns import MOST_SERVED_TEXT, Column, label_column, letters_that_fit
from nafs.report.hops import mean_weights, replayed, speed_card, weights_for_page
from nafs.report.neighbours import NEAREST, SUGGESTED, links_for_page, nearest_for_page, suggestions_for_page
from nafs.report.packing import packed_size
from nafs.selection.reduction import reduce
from nafs.similarity import nearest
from nafs.tasks.clustering import judge_clusters

DETAILED = 150_000  # nodes whose neighbours fit into the file
LARGEST = 13e6  # bytes of data in a file above which texts are cut; they and the page itself stay below 15 MB
MOST_CLUSTERS = 100  # if the number is not set
COLOURS = 12  # of the page, in web/src/colours.js
_NARROW = 64  # columns of the features in the replay

Stage = Callable[[str, float | None], AbstractContextManager[Callable[[float], None]]]


def collect(
    embedding: Embedding,
    graph: Graph | None = None,
    *,
    columns: Sequence[Column] = (),
    title: str = "nafs report",
    n_clusters: int | None = None,
    replay: bool = True,
    details: bool = True,
    run: dict[str, str] | None = None,
    seed: int = 0,
    n_threads: int = 1,
    stage: Stage | None = None,
) -> dict[str, Any]:
    """Everything that the page shows.

    Parameters
    ----------
    embedding : Embedding
    graph : Graph, optional
        The graph that was embedded. Without it the page has no degrees, hops and graph neighbours.
    columns : sequence of Column
        Columns of the nodes, in the order of the embedding; see :func:`nafs.report.read_columns`.
    title : str
    n_clusters : int, optional
        By default the number of classes, at most 100; without classes it is chosen by agreement.
    replay : bool
        Whether to add the maps of a sample at several numbers of hops.
    details : bool
        Whether to include the neighbours of each node and shortened texts, as in a file. A server looks them
        up when they are needed.
    run : dict, optional
        Facts about the run to show, such as its duration.
    seed : int
    n_threads : int
    stage : callable, optional
        Called with the name of each part of the work, and with 1 if the part reports how much of it is done.
        Returns a context manager for the part, whose value is called with the share done since the last call.

    Returns
    -------
    dict
        For :func:`nafs.report.write_page`.
    """
    part = _Parts(stage)
    n = len(embedding)
    matrix = np.asarray(embedding.matrix, np.float32)
    labels = embedding.labels if graph is None or graph.labels is None else graph.labels
    ids = [str(value) for value in embedding.id_array.to_pylist()]
    detailed = details and n <= DETAILED
    with part("map", 1) as advance:
        places = layout(matrix, seed=seed, n_threads=n_threads, progress=advance)
    shown = list(columns)
    if labels is not None and all(column.title != "label" for column in shown):
        shown.insert(0, label_column(labels))
    data: dict[str, Any] = {
        "title": title,
        "n": n,
        "ids": ids,
        "positions": quantised(places),
        "server": False,
        "detailsNote": ""
        if detailed
        else "A file cannot hold the neighbours of so many nodes; nafs explore --port 8000 shows them.",
    }
    with part("clusters"):
        clustering = _clusters(embedding, graph, labels, n_clusters, seed)
        codes = clustering.labels
    with part("words"):
        facts = _facts(shown, graph)
        described = describe_clusters(codes, matrix, ids, facts)
    edges = "" if graph is None else f"{graph.n_edges:,} edges, "
    data["subtitle"] = f"{n:,} nodes, {edges}{matrix.shape[1]:,} dimensions"
    shown.append(
        Column(
            "cluster",
            "category",
            codes,
            tuple(cluster.name for cluster in described),
            "nafs",
            "A group of nodes with similar vectors, found without labels.",
        )
    )
    number = "as many as there are labels" if labels is not None and not n_clusters else ""
    data["clusters"] = {
        "column": len(shown) - 1,
        "note": f"{len(described)} groups of nodes with similar vectors"
        + (f", {number}" if number else "")
        + ". Click one to see it alone.",
        "agreement": round(clustering.agreement, 4),
        "candidates": clustering.n_candidates,
        "agreeing": clustering.n_agreeing,
        "doubtful": clustering.doubtful,
        "list": [
            vars(cluster) | {"agreement": round(float(share), 4)}
            for cluster, share in zip(described, clustering.cluster_agreement, strict=True)
        ],
    }
    cards: list[dict[str, Any]] = []
    if detailed:
        with part("neighbours", 1) as advance:
            count = NEAREST + 2 * SUGGESTED
            near, scores = nearest(matrix, np.arange(n), count, n_threads=n_threads, progress=advance)
        data["nearest"] = nearest_for_page(near, scores)
        if graph is not None:
            with part("links"):
                data["linked"] = links_for_page(graph.adjacency)
                data["suggested"] = suggestions_for_page(graph.adjacency, near)
    if graph is not None:
        cards.append(_judged(codes, graph, labels))
        _add_hops(
            data,
            shown,
            cards,
            part,
            graph,
            embedding,
            places,
            replay,
            not details or detailed,
            seed,
            n_threads,
        )
    cards.append({"title": "Settings", "rows": _settings(embedding)})
    times = dict(run or {}) | {name: f"{seconds:.1f} s" for name, seconds in part.seconds.items()}
    cards.append({"title": "Time and memory", "rows": [[name, value] for name, value in times.items()]})
    data["cards"] = cards
    letters = MOST_SERVED_TEXT
    if details:
        numbers = [column.for_page() for column in shown if column.kind != "text"]
        letters = letters_that_fit(shown, LARGEST - packed_size(data | {"columns": numbers}))
    data["columns"] = [column.for_page(letters) for column in _with_own_titles(shown)]
    data["colour"] = _first_colour(shown, data["clusters"]["column"])
    return data


def _first_colour(columns: Sequence[Column], clusters: int) -> int:
    """The column that colours the map at first: the first of the user's whose values all have a colour."""
    for i, column in enumerate(columns):
        if column.source == "yours" and column.kind == "category" and 2 <= len(column.names) <= COLOURS:
            return i
    return clusters


class _Parts:
    """Announces the parts of the work and times them."""

    def __init__(self, stage: Stage | None) -> None:
        self.stage, self.seconds = stage, dict[str, float]()

    @contextmanager
    def __call__(self, name: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
        start = time.perf_counter()
        with nullcontext(lambda _: None) if self.stage is None else self.stage(name, total) as advance:
            yield advance
        self.seconds[name] = time.perf_counter() - start


def _clusters(
    embedding: Embedding, graph: Graph | None, labels: Labels | None, n_clusters: int | None, seed: int
) -> Clustering:
    """The consensus of many candidates, the largest cluster first.

    A run that chose its number of hops by clusters has computed them already.
    """
    wanted = n_clusters or (None if labels is None else min(len(labels.classes), MOST_CLUSTERS))
    known = None if embedding.choice is None else embedding.choice.clustering
    if known is None or wanted not in (None, known.n_clusters):
        count = "auto" if wanted is None else min(wanted, len(embedding))
        known = embedding.cluster(count, graph=graph, seed=seed).clustering
    sizes = np.bincount(known.labels, minlength=known.n_clusters)
    order = np.argsort(-sizes, kind="stable")[: int((sizes > 0).sum())]
    place = np.full(known.n_clusters, -1)
    place[order] = np.arange(len(order))
    return replace(
        known,
        labels=place[known.labels],
        n_clusters=len(order),
        cluster_agreement=known.cluster_agreement[order],
    )


def _with_own_titles(columns: Sequence[Column]) -> list[Column]:
    """Rename columns of the embedding that have the title of a user's column."""
    theirs = {column.title for column in columns if column.source == "yours"}
    return [
        replace(column, title=f"nafs {column.title}")
        if column.source == "nafs" and column.title in theirs
        else column
        for column in columns
    ]


def _facts(columns: Sequence[Column], graph: Graph | None) -> NodeFacts:
    """What clusters are described by: the columns, and named features unless they encode those columns."""
    features = None
    if graph is not None and graph.features is not None and graph.feature_names is not None:
        titles = tuple(column.title for column in columns)
        encoded = tuple(f"{title}: " for title in titles)
        if not any(name in titles or name.startswith(encoded) for name in graph.feature_names):
            features = graph.features.matrix, _short_names(graph.feature_names)
    return NodeFacts(
        {column.title: (column.values, column.names) for column in columns if column.kind == "category"},
        {column.title: column.values for column in columns if column.kind == "number"},
        {column.title: column.values for column in columns if column.kind == "text"},
        features,
    )


def _short_names(names: Sequence[str]) -> Sequence[str]:
    """Names of features without the columns that they were encoded from, "orbit" for "title: orbit"."""
    short = [name.partition(": ")[2] or name for name in names]
    return short if len(set(short)) == len(short) else names


def _add_hops(
    data: dict[str, Any],
    columns: list[Column],
    cards: list[dict[str, Any]],
    part: _Parts,
    graph: Graph,
    embedding: Embedding,
    places: NDArray[np.float64],
    with_replay: bool,
    follow: bool,
    seed: int,
    n_threads: int,
) -> None:
    """Degrees, weights of hops, smoothing speed, and the map over hops."""
    adjacency, settings = graph.adjacency, embedding.settings
    degrees = np.diff(adjacency.indptr)
    columns.append(Column("degree", "number", degrees, (), "nafs", "Number of edges of a node."))
    if graph.features is None:
        return
    features = features_again(graph, settings)
    hops = int(settings["n_hops"]) if "n_hops" in settings else None
    if hops is not None:
        with part("weights"):
            weights = mean_weights(features, adjacency, hops, settings)
        packed = weights_for_page(weights)
        if packed is not None:
            data["weights"] = packed
        mean = weights @ np.arange(hops + 1)
        columns.append(
            Column("mean smoothing hop", "number", mean, (), "nafs", "How far a node looks on average.")
        )
    narrow, _ = reduce(features, _NARROW, seed=seed)
    if not adjacency.directed:
        with part("smoothing speed"):
            cards.append(speed_card(narrow, adjacency))
    if with_replay:
        with part("replay", 1) as advance:
            data["replay"] = replayed(
                narrow,
                adjacency,
                hops,
                places,
                follow=follow,
                seed=seed,
                n_threads=n_threads,
                progress=advance,
            )


def _judged(codes: NDArray[np.int64], graph: Graph, labels: Labels | None) -> dict[str, Any]:
    values = judge_clusters(codes, graph.adjacency, labels)
    return {
        "title": "Clusters" if labels is None else "Clusters against labels",
        "text": f"The {len(set(codes.tolist()))} clusters shown, found without labels.",
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
        parts = [f"{key} {item}" for key, item in value.items()] if isinstance(value, dict) else value
        text = ", ".join(map(str, parts)) if isinstance(parts, (list, tuple)) else str(value)
        rows.append([name.replace("_", " "), text])
    return rows or [["unknown", "not stored in the file"]]


def show_run(seconds: float, peak: int | None) -> dict[str, str]:
    """Facts about the run that computed the embedding."""
    facts = {"embedding": f"{seconds:.1f} s"}
    return facts if peak is None else facts | {"peak memory": show_bytes(peak)}
