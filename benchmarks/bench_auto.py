"""Choosing the number of hops and embedding with it, against one run with the largest candidate."""

from __future__ import annotations

from common import THREADS, Result, data_home, ratio_of, show_seconds, side_by_side

from nafs import Graph, embed
from nafs.datasets import load_dataset, power_law
from nafs.selection import LADDER


def run() -> list[Result]:
    data_home()
    graphs = [(name, load_dataset(name).graph) for name in ("cora", "citeseer", "pubmed", "amazon-photo")]
    large = power_law(100_000, average_degree=20, n_features=128, seed=0)
    graphs.append(("power law, 100,000 nodes x 128", large))
    return [result for name, graph in graphs for result in _ratios(name, graph)]


def _ratios(name: str, graph: Graph) -> list[Result]:
    clusters = len(graph.labels.classes)
    results = []
    for goal in ("clusters", "links"):

        def chosen(goal: str = goal) -> None:
            embed(graph, n_hops="auto", goal=goal, n_clusters=clusters, dim="full", n_threads=THREADS)

        def longest() -> None:
            embed(graph, n_hops=LADDER[-1], dim="full", n_threads=THREADS)

        auto, single = side_by_side(chosen, longest, repeats=1, warm_up=name == "cora")
        detail = show_seconds(auto=auto, longest=single)
        label = f"auto for {goal} / one run at K={LADDER[-1]}, {name}"
        results.append(Result.at_most(label, ratio_of(auto, single), 2, detail))
    return results
