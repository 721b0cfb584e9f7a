"""Choosing the preprocessing and the number of hops K from the features and the edges alone.

For clusters: at each K of a ladder the embedding is clustered, starting from the last clusters too. The
modularity of what is found creeps up long after more smoothing has stopped to help, so the fewest hops count
that bring four fifths of its whole rise. For links: some edges are hidden, and the K counts
at which the embedding of the rest tells them best from pairs that are none.

All this is done on few leading directions of the features, for which smoothing costs a fraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import check_limit
from nafs.clustering import mixture, project
from nafs.clustering.measures import modularity
from nafs.engines import memory
from nafs.engines.run import choose_engine
from nafs.engines.settings import AUTO, LADDER, Settings
from nafs.graph import Adjacency, Features, Graph
from nafs.links import SCORES, score_links, split_links
from nafs.selection.preprocessing import (
    Preparation,
    find_directions,
    find_preparation,
    judge,
    prepare,
    prepared_nbytes,
    reduce,
    reduction_error,
)

COLUMNS = 64  # leading directions of the features that choices are made with, about
CLUSTERS = 8  # where nobody says how many
RISE = 0.8  # share of the rise in modularity from the first hop on
PATIENCE = 3  # steps of the ladder without a better value after which nothing better is expected
HIDDEN = 0.05  # share of the edges, twice
MOST_HIDDEN = 10_000  # edges, twice: an AUC is then known to a third of a point

Remake = Callable[[Adjacency], Features]


@dataclass(frozen=True)
class Choice:
    """What was chosen, and why.

    Attributes
    ----------
    n_hops : int
    preprocessing, center : str
    reasons : tuple of str
        A line for each choice.
    curve : dict
        The criterion at each number of hops that was looked at.
    score : str
        For links: the score that did best.
    """

    n_hops: int
    preprocessing: str
    center: str
    reasons: tuple[str, ...] = ()
    curve: dict[int, float] = field(default_factory=dict)
    score: str | None = None

    def as_settings(self, settings: Settings) -> Settings:
        """The settings with what was chosen filled in."""
        return replace(settings, n_hops=self.n_hops, preprocessing=self.preprocessing, center=self.center)

    def explain(self) -> str:
        """The reasons, one line each."""
        return "\n".join(self.reasons) or "nothing was left to choose"


def choose(
    graph: Adjacency, features: Features, settings: Settings, *, remake: Remake | None = None, held: int = 0
) -> tuple[Choice, Preparation, Features]:
    """Settle what the settings leave open, and prepare the features accordingly.

    Parameters
    ----------
    graph : Adjacency
    features : Features
    settings : Settings
    remake : callable, optional
        Makes the features from a graph, where they come from the edges: edges that are hidden for the choice
        must not show in them.
    held : int
        Bytes that copies of the inputs hold already; they count towards the memory limit.

    Returns
    -------
    Choice
    Preparation
        What was done to the features, to be done again to others.
    Features
        Scaled and centred.

    Raises
    ------
    MemoryError
        If what is chosen, or the choosing, cannot keep the limit; before features are copied.
    """
    kind, reasons = settings.with_hops(1).preprocessing, []
    if kind == AUTO:
        kind, why = judge(features)
        reasons.append(f"preprocessing {kind} ({why})")
    assert kind is not None
    open_center = settings.center == AUTO and settings.goal == "links" and settings.n_hops == AUTO
    open_center &= kind != "standardize"  # whose columns have mean 0 already
    centers = ["none", "mean"] if open_center else ["none" if settings.center == AUTO else settings.center]
    copied = prepared_nbytes(features, kind, "none" if open_center else centers[0])
    width, left = features.shape[1], copied  # of the copies, when the engine starts
    if settings.reduce_to is not None and settings.reduce_to < width:
        width = settings.reduce_to
        left = 4 * features.shape[0] * width
        check_limit(
            held + copied + left,
            settings.resources()["memory_limit"],
            "preparing and reducing the features takes",
            "raise the limit, or reduce them beforehand",
        )
    choose_engine(graph, width, settings.method(), settings, held + left)
    held += copied
    if settings.n_hops != AUTO:
        choice = Choice(int(settings.n_hops), kind, centers[0])
    elif settings.goal == "links":
        choice = _for_links(graph, features, settings, kind, centers, remake, held)
    else:
        choice = _for_clusters(graph, features, settings, kind, centers[0], held)
    preparation, prepared = find_preparation(features, graph, choice.preprocessing, choice.center)
    reasons += choice.reasons
    if width < features.shape[1]:
        how = settings.reduction
        directions = find_directions(prepared, width, how)
        width = width if directions is None else directions.shape[1]  # no more than nodes
        reduced = replace(Preparation("none", "none"), directions=directions).apply(prepared)
        error = reduction_error(prepared, reduced, how)
        cost = "of the squares lost" if how == "svd" else "deviation of squared lengths"
        reasons.append(
            f"{features.shape[1]} features reduced to {width} by {how} ({100 * error:.2g} % {cost})"
        )
        preparation, prepared = replace(preparation, directions=directions), reduced
    return replace(choice, reasons=tuple(reasons)), preparation, prepared


def _sweep(
    graph: Adjacency, narrow: Features, settings: Settings, ladder: tuple[int, ...], held: int
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Embeddings of the leading directions along the ladder."""
    method = replace(settings.method(), ensemble="mean")
    held += narrow.nbytes
    return memory.sweep(graph, narrow, method, ladder, held=held, **settings.resources())


def _for_clusters(
    graph: Adjacency, features: Features, settings: Settings, kind: str, center: str, held: int
) -> Choice:
    if graph.directed:
        raise ValueError("n_hops='auto' goes by modularity, which is for undirected graphs: name a number")
    count = min(settings.n_clusters or CLUSTERS, graph.n_nodes)
    columns = max(COLUMNS, 3 * (settings.n_clusters or CLUSTERS))
    narrow, _ = reduce(prepare(features, graph, kind, center), columns)
    curve: dict[int, float] = {}
    found = None
    for hop, matrix in _sweep(graph, narrow, settings, LADDER, held):
        points = project(matrix, 2 * count)
        found = mixture(
            points, count, graph=graph, n_init=2 if found is None else 1, start=found, max_iter=30, most=5000
        )
        curve[hop] = modularity(graph, found)
        if _is_over(curve):
            break
    first, best = curve[min(curve)], max(curve.values())
    hops = min(hop for hop, value in curve.items() if value >= first + RISE * (best - first))
    why = (
        f"{hops} hop{'s' if hops > 1 else ''} (modularity of {count} clusters rises from {first:.3f} to "
        f"{best:.3f} over {max(curve)} hops; four fifths of that are reached)"
    )
    return Choice(hops, kind, center, (why,), curve)


def _for_links(
    graph: Adjacency,
    features: Features,
    settings: Settings,
    kind: str,
    centers: list[str],
    remake: Remake | None,
    held: int,
) -> Choice:
    from sklearn.metrics import roc_auc_score

    hidden = min(HIDDEN, MOST_HIDDEN / max(1, int(np.count_nonzero(graph.rows < graph.indices))))
    split = split_links(Graph(graph), validation=hidden, test=hidden, hard=False)
    left = split.graph.adjacency
    pairs = np.concatenate([split.validation, split.test, split.validation_none, split.test_none])
    truth = np.arange(len(pairs)) < len(split.validation) + len(split.test)
    if remake is not None:
        features = remake(left)
    # There may be two centres to sweep, so narrow features are narrowed further.
    columns = min(COLUMNS, max(COLUMNS // 2, features.shape[1] // 4))
    narrow, _ = reduce(prepare(features, left, kind), columns)
    best: tuple[Any, ...] = (-1.0,)
    for center in centers:
        # A map of the columns and a common row taken away commute: nothing wide has to be made dense.
        centred = prepare(narrow, left, "none", center)
        curves: dict[str, dict[int, float]] = {score: {} for score in SCORES}
        for hop, matrix in _sweep(left, centred, settings, (0, *LADDER), held):
            for score, curve in curves.items():
                curve[hop] = float(roc_auc_score(truth, score_links(matrix, pairs, score)))
            if all(_is_over(curve) for curve in curves.values()):
                break
        for score, curve in curves.items():
            hops = max(curve, key=lambda hop, curve=curve: curve[hop])  # type: ignore[misc]
            if curve[hops] > best[0]:
                best = (curve[hops], hops, center, score, curve)
    value, hops, center, score, curve = best
    why = (
        f"{hops} hop{'' if hops == 1 else 's'}, center {center}, {score} score (best AUC on "
        f"{int(truth.sum()):,} hidden edges: {value:.3f}; up to {max(curve)} hops were tried)"
    )
    return Choice(hops, kind, center, (why,), curve, score)


def _is_over(curve: dict[int, float]) -> bool:
    """Whether the last steps have all been below the best."""
    values = list(curve.values())
    return len(values) - 1 - int(np.argmax(values)) >= PATIENCE
