"""The figure of smoothing speed: nodes of high degree approach the stationary state sooner."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nafs.pictures.plots import COLOURS, MARKERS, new_figure
from nafs.reproduce.store import Store, Values
from nafs.reproduce.target import Cell, Effort, Target, dataset
from nafs.smoothing import oversmoothing_distances

NAME, TITLE, KEY = "smoothing-speed", "Smoothing speed by degree", "smoothing-speed/pubmed"
DATASET, HOPS = "pubmed", 50
GROUPS = {"degree below 3": (0, 3), "all nodes": (0, np.inf), "degree above 60": (61, np.inf)}


def _measure() -> Values:
    graph = dataset(DATASET).graph
    assert graph.features is not None
    degrees = np.diff(graph.adjacency.indptr)
    distances = oversmoothing_distances(graph.features, graph.adjacency, HOPS, 0.0, "euclidean")
    cell = {}
    for name, (low, high) in GROUPS.items():
        members = (degrees >= low) & (degrees < high)
        cell[name] = distances[members].mean(axis=0, dtype=np.float64).tolist()
        cell[f"{name}, nodes"] = [float(members.sum())]
    return cell


def _write(store: Store, _: Effort) -> list[Path]:
    cell = store[KEY]
    figure = new_figure(7, 4.5)
    axis = figure.subplots()
    for name, colour, marker in zip(GROUPS, COLOURS, MARKERS, strict=False):
        label = f"{name} ({cell[f'{name}, nodes'][0]:,.0f} nodes)"
        axis.plot(cell[name], color=colour, marker=marker, markevery=5, label=label)
    axis.set_xlabel("hop k")
    axis.set_ylabel("mean of D_i(k), Euclidean")
    axis.set_yscale("log")
    axis.grid(alpha=0.3, which="both")
    axis.legend()
    axis.set_title("PubMed: distance to the stationary state, r = 0")
    rows = [[str(hop), *(f"{cell[name][hop]:.5g}" for name in GROUPS)] for hop in range(HOPS + 1)]
    remarks = [
        "Mean Euclidean distance of nodes to the stationary state of their component, by degree.",
        f"![]({NAME}.png)",
    ]
    return [*store.table(NAME, TITLE, remarks, ["hop", *GROUPS], rows), store.figure(NAME, figure)]


TARGETS = (Target(NAME, TITLE, lambda _: [Cell(KEY, _measure)], _write),)
