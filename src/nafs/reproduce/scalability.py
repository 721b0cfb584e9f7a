"""Scalability: seconds on samples of ogbn-products and on random graphs."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.datasets import erdos_renyi, load_dataset, power_law
from nafs.datasets.catalog import find
from nafs.datasets.download import is_present
from nafs.graph import Graph
from nafs.pictures.plots import COLOURS, new_figure
from nafs.reproduce import published
from nafs.reproduce.comparison import nafs, source_of
from nafs.reproduce.store import Store, Values
from nafs.reproduce.target import Cell, Effort, Target
from nafs.reproduce.timing import about_estimates, fit_times, middle, plain_nafs, show_time
from nafs.rivals import RIVALS, Problem, Rival, problem_of
from nafs.rivals.contract import TASKS
from nafs.smoothing.method import DEFAULT_R

HOPS = 20
PRODUCTS = "ogbn-products"
NODES, EDGES, FEATURES = 2_449_029, 61_859_140, 100  # of ogbn-products, as published
RANDOM_NODES = (5_000, 10_000, 15_000, 20_000, 30_000, 50_000, 80_000, 100_000)
RANDOM_P = 0.0001
RANDOM_FEATURES = 500

EDGES_ROW = "edges in the sample"
PLAIN = "NAFS-mean with SciPy's product"
_TRAINED = ("GAE", "AGE")


def _ours() -> dict[str, Rival]:
    def plain(problem: Problem, seed: int, progress: object) -> NDArray[np.float32]:
        return plain_nafs(problem.graph, HOPS)

    return {
        "NAFS-mean": nafs(HOPS, DEFAULT_R, "mean"),
        PLAIN: Rival(PLAIN, TASKS, plain, "no paper", cost=1),
    }


METHODS = (*_ours(), *_TRAINED)
RANDOM_HEADER = ["nodes", *(f"{method}, here" for method in METHODS)]


def _methods(tier: str) -> dict[str, Rival]:
    """The rivals to measure: trained ones take minutes to hours and belong to the tier "all"."""
    trained = {name: RIVALS[name] for name in _TRAINED if tier == "all" and RIVALS[name].missing is None}
    return _ours() | trained


def _seconds(rival: Rival, graph: Graph) -> Values:
    return fit_times(rival, problem_of(graph, "links"))


def _code(rival: Rival) -> tuple[str, ...]:
    own = "nafs.reproduce.timing:plain_nafs" if rival.name == PLAIN else source_of(rival)
    return (own, "nafs.reproduce.timing:fit_times")


@lru_cache(maxsize=1)
def _whole() -> Graph:
    """ogbn-products, or a random power-law graph of its size."""
    if is_present(find(PRODUCTS)):
        return load_dataset(PRODUCTS).graph
    return power_law(NODES, average_degree=2 * EDGES / NODES, exponent=2.5, n_features=0, n_communities=47)


@lru_cache(maxsize=1)
def _sample(count: int) -> Graph:
    """The subgraph of randomly drawn nodes, with its features (random ones if the graph has none)."""
    whole = _whole()
    rng = np.random.default_rng(count)
    nodes = np.sort(rng.choice(whole.n_nodes, count, replace=False))
    adjacency = whole.adjacency.to_scipy()[nodes][:, nodes]
    features = rng.standard_normal((count, FEATURES), dtype=np.float32)
    if whole.features is not None:
        features = whole.features.matrix[nodes]
    return Graph(adjacency, features, directed=False)


def sample_key(method: str, count: int) -> str:
    """The key of the seconds of a method for a sample."""
    where = PRODUCTS if is_present(find(PRODUCTS)) else "stand-in"
    return f"scalability/{where}/{count}/{method}"


def _sample_cells(effort: Effort) -> list[Cell]:
    def measure(rival: Rival, count: int) -> Values:
        graph = _sample(count)
        return {**_seconds(rival, graph), "edges": [float(graph.n_edges)]}

    return [
        Cell(sample_key(method, count), partial(measure, rival, count), _code(rival))
        for count in published.SAMPLES
        for method, rival in _methods(effort.rivals).items()
    ]


def sample_header() -> list[str]:
    """The sizes of the samples."""
    return ["method", *(f"{count:,}" for count in published.SAMPLES)]


def sample_rows(store: Store) -> list[list[str]]:
    """Published and measured seconds of each method for each sample, and the edges in it."""
    rows = [
        [f"{method} (as published)", *("out of memory" if s is None else f"{s:g} s" for s in times)]
        for method, times in published.SAMPLE_SECONDS.items()
    ]
    edges = dict.fromkeys(published.SAMPLES, "")
    for method in METHODS:
        cells = {count: store.together([sample_key(method, count)]) for count in published.SAMPLES}
        edges |= {count: f"{cell['edges'][0]:,.0f}" for count, cell in cells.items() if cell is not None}
        if any(cells.values()):
            rows.append([f"{method}, here", *(show_time(cell) for cell in cells.values())])
    return [*rows, [EDGES_ROW, *edges.values()]]


def random_rows(store: Store) -> list[list[str]]:
    """Seconds of each method for each random graph."""
    return [
        [f"{n:,}", *(show_time(store.together([random_key(method, n)])) for method in METHODS)]
        for n in RANDOM_NODES
    ]


def _write_samples(store: Store, effort: Effort) -> list[Path]:
    where = (
        "The graph is ogbn-products."
        if is_present(find(PRODUCTS))
        else "ogbn-products is not in the data folder. **This is a stand-in**: a random power-law graph of "
        f"its size ({NODES:,} nodes, about {EDGES:,} edges, {FEATURES} random features)."
    )
    remarks = [
        f"Seconds to embed uniform samples of the nodes, {HOPS} hops, six r, on all cores (SciPy's product "
        f"uses one), median of 3 runs (one run if it takes over ten seconds). {where}",
        about_estimates(),
        "The published seconds are from another machine, with GAE and AGE on a GPU; the paper does not state "
        "its number of hops. Our GAE computes its loss without an n × n matrix, and beyond 10,000 nodes "
        "estimates it from random pairs; AGE ranks all pairs. A uniform sample of nodes keeps an edge "
        "only if it keeps both ends: these samples have less than one hundredth of the edges, and say little "
        "about large graphs.",
    ]
    return store.table(
        "scalability", "Scalability on samples of ogbn-products", remarks, sample_header(), sample_rows(store)
    )


@lru_cache(maxsize=1)
def _random(count: int) -> Graph:
    return erdos_renyi(count, RANDOM_P, n_features=RANDOM_FEATURES, seed=0)


def random_key(method: str, count: int) -> str:
    """The key of the seconds of a method for a random graph."""
    return f"random-graphs/{count}/{method}"


def _random_cells(effort: Effort) -> list[Cell]:
    def measure(rival: Rival, count: int) -> Values:
        return _seconds(rival, _random(count))

    return [
        Cell(random_key(method, count), partial(measure, rival, count), _code(rival))
        for count in RANDOM_NODES
        for method, rival in _methods(effort.rivals).items()
    ]


def draw_random(store: Store) -> Any:
    """The measured seconds over the number of nodes."""
    figure = new_figure(7.5, 4.8)
    axis = figure.subplots()
    methods = [m for m in METHODS if any(random_key(m, n) in store for n in RANDOM_NODES)]
    for method, colour, marker in zip(methods, COLOURS, "os^D", strict=False):
        cells = {n: store.together([random_key(method, n)]) for n in RANDOM_NODES}
        axis.plot(
            RANDOM_NODES,
            [middle(cell) for cell in cells.values()],
            color=colour,
            marker=marker,
            label=f"{method}, here",
        )
    for (method, (count, value)), colour in zip(published.RANDOM_SECONDS.items(), COLOURS[4:], strict=False):
        axis.plot([count], [value], "*", color=colour, markersize=13, label=f"{method}, as published")
    for method, count in published.RANDOM_OUT_OF_MEMORY.items():
        axis.axvline(count, color="#999999", linestyle=":", zorder=0)
        axis.annotate(
            f"{method} out of memory (published)",
            (count, 0.97),
            xycoords=("data", "axes fraction"),
            rotation=90,
            ha="right",
            va="top",
            fontsize=8,
            color="#555555",
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xticks(RANDOM_NODES, [f"{n // 1000}k" for n in RANDOM_NODES], minor=False)
    axis.set_xticks([], minor=True)
    axis.set_xlabel("nodes")
    axis.set_ylabel("seconds")
    axis.set_title(f"Erdős–Rényi graphs, p = {RANDOM_P:g}: {HOPS} hops, six r, {RANDOM_FEATURES} features")
    axis.grid(alpha=0.3)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=3, fontsize=8)
    return figure


def _write_random(store: Store, effort: Effort) -> list[Path]:
    remarks = [
        f"Seconds to embed Erdős–Rényi graphs with p = {RANDOM_P:g}, {RANDOM_FEATURES} random features, "
        f"{HOPS} hops, six r, median of 3 runs (one run if it takes over ten seconds). The paper does not "
        "state its number of features or hops; its text reports 66.1 s for NAFS at 100,000 nodes, 80.9 s for "
        "AGE at 10,000, and where GAE and AGE ran out of memory.",
        about_estimates(),
        "![](random-graphs.png)",
    ]
    files = store.table(
        "random-graphs", "Scalability on random graphs", remarks, RANDOM_HEADER, random_rows(store)
    )
    return [*files, store.figure("random-graphs", draw_random(store))]


TARGETS = (
    Target("scalability", "Scalability on samples of ogbn-products", _sample_cells, _write_samples),
    Target("random-graphs", "Scalability on random graphs", _random_cells, _write_random),
)
