"""Link prediction on PubMed after removing edges or the features of nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs.graph import Graph
from nafs.reproduce import published
from nafs.reproduce.comparison import EXPLANATION, HEADER, HOPS, nafs, rows_of, source_of
from nafs.reproduce.store import Store, Values
from nafs.reproduce.target import Cell, Effort, Target, dataset
from nafs.rivals import RIVALS, Rival, judge
from nafs.smoothing.method import DEFAULT_R

DATASET = "pubmed"
METRICS = ("AUC", "AP")
# There are 40 embeddings of each, and one of GAE takes minutes: it belongs to the tier "all".
FAST = ("raw features", "SVD of the features", "SGC", "SSGC", "SIGN")
SLOW = ("GAE",)
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


def _rivals(tier: str) -> list[Rival]:
    names = {"none": (), "fast": FAST, "all": FAST + SLOW}[tier]
    return [RIVALS[name] for name in names if RIVALS[name].missing is None]


def ours() -> tuple[Rival, Rival]:
    """NAFS with the paper's hops, and with the same hops as everywhere else."""
    hops, r = published.LINK_HOPS["mean"][DATASET], published.LINK_R[DATASET]
    return nafs(hops, r, "mean"), nafs(HOPS, DEFAULT_R, "mean")


def keys(name: str, rate: float, rival: Rival, seeds: int) -> list[str]:
    """The keys of the measurements for all seeds."""
    return [f"{name}/{rate:g} removed/{rival.name}/seed {seed}" for seed in range(seeds)]


def _cells(name: str, thin: Thin, effort: Effort) -> list[Cell]:
    def measure(rival: Rival, rate: float, seed: int) -> Values:
        thinned = thin(dataset(DATASET).graph, rate)
        values = judge(rival, thinned, "links", seed, dataset=DATASET)
        return {metric: [value] for metric, value in values.items()}

    return [
        Cell(key, partial(measure, rival, rate, seed), (source_of(rival), "nafs.rivals.judge:links"))
        for rate in published.REMOVED
        for rival in (*_rivals(effort.rivals), *ours())
        for seed, key in enumerate(keys(name, rate, rival, effort.seeds))
    ]


def _write(
    name: str, removed: str, numbers: dict[str, tuple[tuple[float, ...], ...]], store: Store, effort: Effort
) -> list[Path]:
    rows: list[list[str]] = []
    for i, rate in enumerate(published.REMOVED):
        first = f"{rate:.1f}"
        for rival in (RIVALS[method] for method in FAST + SLOW):
            values = store.together(keys(name, rate, rival, effort.seeds))
            printed = numbers[rival.name][i] if rival.name in numbers else None
            if values is not None or printed is not None:
                rows += rows_of(first, rival.name, METRICS, printed, values)
        both = [store.together(keys(name, rate, rival, effort.seeds)) for rival in ours()]
        rows += rows_of(first, "NAFS-mean", METRICS, numbers["NAFS-mean"][i], *both, mark=True)
    remarks = [
        f"Link prediction on PubMed without a share of {removed}, the same for all methods; then edges are "
        f"split 85/5/10. Mean ± deviation over {effort.seeds} splits.",
        EXPLANATION,
    ]
    return store.table(name, f"Without {removed}", remarks, ["removed", *HEADER[1:]], rows)


def _target(name: str, removed: str, thin: Thin, numbers: Any) -> Target:
    return Target(
        name, f"Without {removed}", partial(_cells, name, thin), partial(_write, name, removed, numbers)
    )


TARGETS = (
    _target("edge-sparsity", "some edges", without_edges, published.WITHOUT_EDGES),
    _target("feature-sparsity", "some nodes' features", without_features, published.WITHOUT_FEATURES),
)
