"""Choosing, and answering with what was chosen, against one run with the most hops that are tried.

For clusters the time includes the clusters themselves, with their number given and with their number chosen.
"""

from __future__ import annotations

from collections.abc import Callable

from common import THREADS, Result, data_home, ratio_of, show_seconds, side_by_side

from nafs import Graph, embed
from nafs.datasets import load_dataset, power_law
from nafs.selection import LADDER

REPEATS = 3  # of graphs that take seconds


def run() -> list[Result]:
    data_home()
    results = []
    for name in ("cora", "citeseer", "pubmed", "amazon-photo"):
        results += _ratios(name, load_dataset(name).graph, REPEATS)
    large = power_law(100_000, average_degree=20, n_features=128, seed=0)
    return results + _ratios("power law, 100,000 nodes x 128", large, 1)


def _ratios(name: str, graph: Graph, repeats: int) -> list[Result]:
    def chosen(goal: str, n_clusters: int | str | None) -> Callable[[], object]:
        return lambda: embed(
            graph, n_hops="auto", goal=goal, n_clusters=n_clusters, dim="full", n_threads=THREADS
        )

    def longest() -> None:
        embed(graph, n_hops=LADDER[-1], dim="full", n_threads=THREADS)

    ways = {
        "clusters": chosen("clusters", len(graph.labels.classes)),
        "clusters and their number": chosen("clusters", "auto"),
        "links": chosen("links", None),
    }
    *times, single = side_by_side(*ways.values(), longest, repeats=repeats, warm_up=name == "cora")
    return [
        Result.at_most(
            f"auto for {goal} / one run at K={LADDER[-1]}, {name}",
            ratio_of(auto, single),
            2,
            show_seconds(auto=auto, longest=single),
        )
        for goal, auto in zip(ways, times, strict=True)
    ]
