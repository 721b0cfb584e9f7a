"""Choosing the preprocessing and the number of hops K from the features and the edges alone.

For clusters: at each K of a ladder the embedding is clustered, starting from the last clusters too. The
modularity of what is found creeps up long after more smoothing has stopped to help, so the fewest hops count
that bring four fifths of its whole rise. For links: some edges are hidden, and the K counts
at which the embedding of the rest tells them best from pairs that are none.

All this is done on few leading directions of the features, for which smoothing costs a fraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.engines import memory
from nafs.engines.settings import AUTO, GOALS, LADDER, Settings
from nafs.graph import Adjacency, Features, Graph
from nafs.selection.heads import mixture, project
from nafs.selection.hidden_edges import SCORES, score_links, split_links
from nafs.selection.preprocessing import judge, prepare, reduce
from nafs.selection.quality import modularity

COLUMNS = 64  # leading directions of the features that choices are made with
CLUSTERS = 8  # where nobody says how many
RISE = 0.8  # share of the rise in modularity from the first hop on
PATIENCE = 3  # steps of the ladder without a better value after which nothing better is expected
HIDDEN = 0.05  # share of the edges

__all__ = ["AUTO", "GOALS", "LADDER", "Choice", "choose"]


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


def choose(graph: Adjacency, features: Features, settings: Settings) -> tuple[Choice, Features]:
    """Settle what the settings leave open, and prepare the features accordingly.

    Parameters
    ----------
    graph : Adjacency
    features : Features
    settings : Settings

    Returns
    -------
    Choice
    Features
        Scaled and centred.
    """
    kind, reasons = settings.preprocessing, []
    if kind is None:
        kind = AUTO if settings.n_hops == AUTO else "none"
    if kind == AUTO:
        kind, why = judge(features)
        reasons.append(f"preprocessing {kind} ({why})")
    centers = [settings.center]
    if settings.center == AUTO:
        centers = ["none", "mean"] if settings.goal == "links" and settings.n_hops == AUTO else ["none"]
    if settings.n_hops != AUTO:
        hops = int(settings.n_hops)
        choice = Choice(hops, kind, centers[0], tuple(reasons))
    elif settings.goal == "links":
        choice = _for_links(graph, features, settings, kind, centers)
    else:
        choice = _for_clusters(graph, prepare(features, graph, kind, centers[0]), settings, kind, centers[0])
    choice = replace(choice, reasons=(*reasons, *choice.reasons))
    return choice, prepare(features, graph, choice.preprocessing, choice.center)


def _sweep(
    graph: Adjacency, features: Features, settings: Settings
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Embeddings of the leading directions along the ladder."""
    columns = max(COLUMNS, 3 * (settings.n_clusters or CLUSTERS))
    narrow, _ = reduce(features, columns)
    method = replace(settings.method(), ensemble="mean")
    return memory.sweep(graph, narrow, method, LADDER, **settings.resources())


def _for_clusters(graph: Adjacency, features: Features, settings: Settings, kind: str, center: str) -> Choice:
    if graph.directed:
        raise ValueError("n_hops='auto' goes by modularity, which is for undirected graphs: name a number")
    count = min(settings.n_clusters or CLUSTERS, graph.n_nodes)
    curve: dict[int, float] = {}
    found = None
    for hop, matrix in _sweep(graph, features, settings):
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
        f"{hops} hops (modularity of {count} clusters rises from {first:.3f} to {best:.3f} over "
        f"{max(curve)} hops; four fifths of that are reached)"
    )
    return Choice(hops, kind, center, (why,), curve)


def _for_links(
    graph: Adjacency, features: Features, settings: Settings, kind: str, centers: list[str]
) -> Choice:
    from sklearn.metrics import roc_auc_score

    split = split_links(Graph(graph, features), validation=HIDDEN, test=HIDDEN)
    pairs = np.concatenate([split.validation, split.test, split.validation_none, split.test_none])
    truth = np.arange(len(pairs)) < len(split.validation) + len(split.test)
    best: tuple[Any, ...] = (-1.0,)
    for center in centers:
        prepared = prepare(features, split.graph.adjacency, kind, center)
        curves: dict[str, dict[int, float]] = {score: {} for score in SCORES}
        for hop, matrix in _sweep(split.graph.adjacency, prepared, settings):
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
        f"{hops} hops, center {center}, {score} score (best AUC on {int(truth.sum()):,} hidden edges: "
        f"{value:.3f}; up to {max(curve)} hops were tried)"
    )
    return Choice(hops, kind, center, (why,), curve, score)


def _is_over(curve: dict[int, float]) -> bool:
    """Whether the last steps have all been below the best."""
    values = list(curve.values())
    return len(values) - 1 - int(np.argmax(values)) >= PATIENCE
