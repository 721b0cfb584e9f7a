"""Many features: a few columns at a time in the cache, against whole rows."""

from __future__ import annotations

import sys

import numpy as np
from common import THREADS, Result, amazon, data_home, random_features, ratio_of, show_seconds, side_by_side
from scipy.sparse.csgraph import breadth_first_order

from nafs import Graph, embed
from nafs.datasets import load_dataset
from nafs.engines import cached

NEARBY, COLUMNS = 60_000, 300


def run() -> list[Result]:
    data_home()
    results, large = [], cached.LARGE
    names = ("cora", "citeseer", "wiki", "pubmed", "amazon-photo")
    graphs = {name: load_dataset(name).graph for name in names}
    graphs[f"{NEARBY:,} nodes of amazon0601 x {COLUMNS}"] = part_of_amazon()
    for name, graph in graphs.items():
        hops = 20 if name in names else 10

        def embed_with(bound: int) -> None:
            cached.LARGE = bound
            embed(graph, n_hops=hops, dim="full", n_threads=THREADS)  # noqa: B023

        rows, columns = side_by_side(lambda: embed_with(sys.maxsize), lambda: embed_with(large), repeats=3)
        detail = show_seconds(rows=rows, columns=columns)
        label = f"rows / columns in the cache, {name}, K={hops}"
        results.append(Result.at_least(label, ratio_of(rows, columns), 1, detail))
    cached.LARGE = large
    return results


def part_of_amazon() -> Graph:
    """The nodes nearest to the first one, with random features."""
    A = amazon().to_scipy()
    nodes = np.sort(breadth_first_order(A, 0, return_predecessors=False)[:NEARBY])
    return Graph(A[nodes][:, nodes], random_features(len(nodes), COLUMNS))
