"""Random graphs without clusters, for which the consensus should say that its clusters are doubtful."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from nafs.datasets import erdos_renyi, power_law
from nafs.graph import Graph
from nafs.pipeline import Job, Settings, search_clusters
from nafs.reproduce.store import Store, Values
from nafs.reproduce.target import Cell

NUMBERS = (2, 3, 5, 8, 15, "auto")
SEEDS = 3


def _ring(n: int, seed: int) -> Graph:
    """A ring in which every node has three neighbors on either side."""
    steps = np.concatenate([(np.arange(n) + step) % n for step in (1, 2, 3)])
    rows = np.tile(np.arange(n), 3)
    matrix = np.zeros((n, n), bool)
    matrix[rows, steps] = matrix[steps, rows] = True
    features = np.random.default_rng(seed).standard_normal((n, 16))
    return Graph(matrix, features)


def _bare(graph: Graph) -> Graph:
    return Graph(graph.adjacency)


GRAPHS: dict[str, Callable[[int], Graph]] = {
    "random edges, 400 nodes, 16 features": lambda seed: erdos_renyi(400, 0.02, n_features=16, seed=seed),
    "random edges, 1,000 nodes, 200 features": lambda seed: erdos_renyi(
        1000, 0.005, n_features=200, seed=seed
    ),
    "random edges, 2,000 nodes, no features": lambda seed: _bare(erdos_renyi(2000, 0.002, seed=seed)),
    "power law, 2,000 nodes, 32 features": lambda seed: power_law(
        2000, average_degree=8, n_communities=1, n_features=32, signal=0.0, seed=seed
    ),
    "power law, 2,000 nodes, no features": lambda seed: _bare(
        power_law(2000, average_degree=8, n_communities=1, signal=0.0, seed=seed)
    ),
    "ring, 1,000 nodes, 16 features": lambda seed: _ring(1000, seed),
}


def cells() -> list[Cell]:
    """One cell for each random graph."""
    return [Cell(f"quality/noise/{name}", partial(_measure, name)) for name in GRAPHS]


def _measure(name: str) -> Values:
    """Agreement, agreement by chance, and whether there is doubt, for each seed and number of clusters."""
    values: Values = {"agreement": [], "by chance": [], "doubtful": []}
    for seed in range(SEEDS):
        search = search_clusters(Job.of(GRAPHS[name](seed), Settings.of(n_hops="auto")))
        for number in NUMBERS:
            clustering = search.cluster(number)
            values["agreement"].append(clustering.agreement)
            values["by chance"].append(clustering.by_chance)
            values["doubtful"].append(float(clustering.doubtful))
    return values


def rows_of(store: Store) -> list[list[str]]:
    """A row for each random graph: the ranges of both agreements, and how often there was doubt."""
    rows = []
    for cell in cells():
        if cell.key in store:
            values = store[cell.key]
            ranges = [
                f"{min(values[name]):.2f} to {max(values[name]):.2f}" for name in ("agreement", "by chance")
            ]
            doubtful = values["doubtful"]
            rows.append([cell.key.split("/")[-1], *ranges, f"{int(sum(doubtful))} of {len(doubtful)}"])
    return rows
