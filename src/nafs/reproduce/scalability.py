"""Scalability: seconds on samples of ogbn-products and on random graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from nafs.datasets import erdos_renyi, load_dataset, power_law
from nafs.datasets.catalog import find
from nafs.datasets.download import is_present
from nafs.embedding import embed
from nafs.graph import Graph
from nafs.pictures.plots import COLOURS, new_figure
from nafs.reproduce import published
from nafs.reproduce.comparison import show, source_of
from nafs.reproduce.store import Store, Values, seconds
from nafs.reproduce.target import Cell, Effort, Target
from nafs.reproduce.timing import plain_nafs, seconds_of
from nafs.rivals import RIVALS, OutOfMemoryError, problem_of

HOPS = 20
PRODUCTS = "ogbn-products"
NODES, EDGES, FEATURES = 2_449_029, 61_859_140, 100  # of ogbn-products, as published
RANDOM_NODES = (5_000, 10_000, 15_000, 20_000, 30_000, 50_000, 80_000, 100_000)
RANDOM_P = 0.0001
RANDOM_FEATURES = 500

_METHODS: dict[str, Callable[[Graph], object]] = {
    "NAFS-mean": lambda graph: embed(graph, n_hops=HOPS, dim="full"),
    "NAFS-mean with SciPy's product": lambda graph: plain_nafs(graph, HOPS),
    "GAE": lambda graph: RIVALS["GAE"](problem_of(graph, "links")),
    "AGE": lambda graph: RIVALS["AGE"](problem_of(graph, "links")),
}
_TRAINED = ("GAE", "AGE")


def _methods(tier: str) -> list[str]:
    """Minutes to hours go into the trained ones: they belong to the tier "all"."""
    ready = tier == "all" and all(RIVALS[name].missing is None for name in _TRAINED)
    return [name for name in _METHODS if ready or name not in _TRAINED]


def _seconds(method: str, graph: Graph) -> Values:
    try:
        return {"seconds": seconds_of(lambda: _METHODS[method](graph))}
    except OutOfMemoryError as error:
        return {"needs": [float(error.needs)]}


def _code(method: str) -> tuple[str, ...]:
    if method in _TRAINED:
        return (source_of(RIVALS[method]), "nafs.reproduce.timing")
    return ("nafs.embedding:embed", "nafs.reproduce.timing")


def _shown(cell: Values | None) -> str:
    return "" if cell is None else seconds(cell["seconds"]) if "seconds" in cell else show(cell, "")


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


def _sample_key(method: str, count: int) -> str:
    where = PRODUCTS if is_present(find(PRODUCTS)) else "stand-in"
    return f"scalability/{where}/{count}/{method}"


def _sample_cells(effort: Effort) -> list[Cell]:
    def measure(method: str, count: int) -> Values:
        cell = _seconds(method, _sample(count))
        return cell | {"edges": [float(_sample(count).n_edges)]}

    return [
        Cell(_sample_key(method, count), partial(measure, method, count), _code(method))
        for count in published.SAMPLES
        for method in _methods(effort.rivals)
    ]


def _write_samples(store: Store, effort: Effort) -> list[Path]:
    header = ["method", *(f"{count:,}" for count in published.SAMPLES)]
    rows = [
        [f"{method} (as published)", *("out of memory" if s is None else f"{s:g} s" for s in times)]
        for method, times in published.SAMPLE_SECONDS.items()
    ]
    for method in _METHODS:
        timed = [store.together([_sample_key(method, count)]) for count in published.SAMPLES]
        if any(timed):
            rows.append([f"{method}, here", *(_shown(cell) for cell in timed)])
    cells = [store[_sample_key("NAFS-mean", count)] for count in published.SAMPLES]
    rows.append(["edges in the sample", *(f"{cell['edges'][0]:,.0f}" for cell in cells)])
    where = (
        "The graph is ogbn-products."
        if is_present(find(PRODUCTS))
        else "ogbn-products is not in the data folder. **This is a stand-in**: a random power-law graph of "
        f"its size ({NODES:,} nodes, about {EDGES:,} edges, {FEATURES} random features)."
    )
    remarks = [
        f"Seconds to embed uniform samples of the nodes, {HOPS} hops, six r, on all cores (SciPy's product "
        f"uses one), median of 3 runs (one run if it takes over ten seconds). {where}",
        "The published seconds are from another machine, with GAE and AGE on a GPU; the paper does not state "
        "its number of hops. Our GAE computes its loss without an n × n matrix, and beyond 10,000 nodes "
        "estimates it from random pairs; AGE ranks all pairs. A uniform sample of nodes keeps an edge "
        "only if it keeps both ends: these samples have less than one hundredth of the edges, and say little "
        "about large graphs.",
    ]
    return store.table("scalability", "Scalability on samples of ogbn-products", remarks, header, rows)


@lru_cache(maxsize=1)
def _random(count: int) -> Graph:
    return erdos_renyi(count, RANDOM_P, n_features=RANDOM_FEATURES, seed=0)


def _random_key(method: str, count: int) -> str:
    return f"random-graphs/{count}/{method}"


def _random_cells(effort: Effort) -> list[Cell]:
    def measure(method: str, count: int) -> Values:
        return _seconds(method, _random(count))

    return [
        Cell(_random_key(method, count), partial(measure, method, count), _code(method))
        for count in RANDOM_NODES
        for method in _methods(effort.rivals)
    ]


def _write_random(store: Store, effort: Effort) -> list[Path]:
    figure = new_figure(7.5, 4.8)
    axis = figure.subplots()
    methods = [m for m in _METHODS if any(_random_key(m, n) in store for n in RANDOM_NODES)]
    header = ["nodes", *(f"{method}, here" for method in methods)]
    for method, colour, marker in zip(methods, COLOURS, "os^D", strict=False):
        cells = {n: store.together([_random_key(method, n)]) for n in RANDOM_NODES}
        done = {
            n: float(np.median(cell["seconds"])) for n, cell in cells.items() if cell and "seconds" in cell
        }
        axis.plot(list(done), list(done.values()), color=colour, marker=marker, label=f"{method}, here")
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
    axis.legend(loc="lower right")
    rows = [
        [f"{n:,}", *(_shown(store.together([_random_key(method, n)])) for method in methods)]
        for n in RANDOM_NODES
    ]
    remarks = [
        f"Seconds to embed Erdős–Rényi graphs with p = {RANDOM_P:g}, {RANDOM_FEATURES} random features, "
        f"{HOPS} hops, six r, median of 3 runs (one run if it takes over ten seconds). The paper does not "
        "state its number of features or hops; its text reports 66.1 s for NAFS at 100,000 nodes, 80.9 s for "
        "AGE at 10,000, and where GAE and AGE ran out of memory.",
        "![](random-graphs.png)",
    ]
    files = store.table("random-graphs", "Scalability on random graphs", remarks, header, rows)
    return [*files, store.figure("random-graphs", figure)]


TARGETS = (
    Target("scalability", "Scalability on samples of ogbn-products", _sample_cells, _write_samples),
    Target("random-graphs", "Scalability on random graphs", _random_cells, _write_random),
)
