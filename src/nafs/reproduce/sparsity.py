"""Link prediction on PubMed when edges, or the features of nodes, are taken away."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs.graph import Graph
from nafs.reproduce import published
from nafs.reproduce.comparison import EXPLANATION, HOPS, nafs, rows_of
from nafs.reproduce.rivals import RIVALS as ALL_RIVALS
from nafs.reproduce.rivals import Rival
from nafs.reproduce.store import Store, Values
from nafs.reproduce.target import Cell, Target, dataset
from nafs.smoothing.method import DEFAULT_R
from nafs.tasks import evaluate_links

DATASET = "pubmed"
METRICS = ("AUC", "AP")
HEADER = ["removed", "method", "metric", "published", "paper's hops, here", "nothing chosen, here"]

# AGC, NDLS and eigenvectors take 5 to 10 seconds an embedding, and there are 40 of each.
RIVALS = {name: make for name, make in ALL_RIVALS.items() if name[:3] not in ("AGC", "NDL", "spe")}
Thin = Callable[[Graph, float], Graph]


def without_edges(graph: Graph, rate: float) -> Graph:
    """The graph without a share of its edges, the same ones for every method."""
    adjacency = graph.adjacency.to_scipy()
    upper = sp.triu(adjacency, 1).tocoo()
    kept = np.random.default_rng(0).random(upper.nnz) >= rate
    matrix = sp.coo_array((upper.data[kept], (upper.row[kept], upper.col[kept])), shape=adjacency.shape)
    return Graph(matrix, graph.features, labels=graph.labels, directed=False)


def without_features(graph: Graph, rate: float) -> Graph:
    """The graph with all features of a share of its nodes set to 0, the same nodes for every method."""
    assert graph.features is not None
    kept = np.random.default_rng(0).random(graph.n_nodes) >= rate
    return graph.with_features(sp.diags_array(kept.astype(np.float32)) @ graph.features.matrix)


def _methods() -> dict[str, Rival]:
    theirs = nafs(published.LINK_HOPS["mean"][DATASET], published.LINK_R[DATASET], "mean")
    return {**RIVALS, "paper's hops": theirs, "ours": nafs(HOPS, DEFAULT_R, "mean")}


def _key(name: str, rate: float, method: str, seeds: int) -> str:
    return f"{name}/{rate:g} removed/{method}/{seeds} seeds"


def _cells(name: str, thin: Thin, seeds: int) -> list[Cell]:
    def measure(make: Rival, rate: float) -> Values:
        thinned = thin(dataset(DATASET).graph, rate)
        return evaluate_links(thinned, make, splits=seeds, score="inner").values

    return [
        Cell(_key(name, rate, method, seeds), partial(measure, make, rate))
        for rate in published.REMOVED
        for method, make in _methods().items()
    ]


def _write(
    name: str, what: str, numbers: dict[str, tuple[tuple[float, ...], ...]], store: Store, seeds: int
) -> list[Path]:
    rows: list[list[str]] = []
    for i, rate in enumerate(published.REMOVED):
        first = f"{rate:.1f}"
        rows += rows_of(first, "GAE (as published)", METRICS, numbers["GAE"][i])
        for rival in RIVALS:
            rows += rows_of(first, rival, METRICS, ours=store[_key(name, rate, rival, seeds)])
        found = [store[_key(name, rate, method, seeds)] for method in ("paper's hops", "ours")]
        rows += rows_of(first, "NAFS-mean", METRICS, numbers["NAFS-mean"][i], *found)
    remarks = [
        f"Link prediction on PubMed without a share of {what}, the same for all methods; then edges are "
        f"split 85/5/10. Mean ± deviation over {seeds} splits.",
        EXPLANATION,
    ]
    return store.table(name, f"Without {what}", remarks, HEADER, rows)


def _target(name: str, what: str, thin: Thin, numbers: Any) -> Target:
    return Target(name, f"Without {what}", partial(_cells, name, thin), partial(_write, name, what, numbers))


TARGETS = (
    _target("edge-sparsity", "some edges", without_edges, published.WITHOUT_EDGES),
    _target("feature-sparsity", "some nodes' features", without_features, published.WITHOUT_FEATURES),
)
