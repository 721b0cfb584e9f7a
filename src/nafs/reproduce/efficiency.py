"""The figure of efficiency: seconds to embed the three citation networks, on this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from nafs.pictures.plots import COLOURS, new_figure
from nafs.reproduce import published
from nafs.reproduce.comparison import nafs
from nafs.reproduce.rivals import RIVALS, Rival
from nafs.reproduce.store import Store, Values, seconds
from nafs.reproduce.target import Cell, Target, dataset
from nafs.reproduce.timing import plain_nafs, seconds_of
from nafs.smoothing.method import DEFAULT_R

NAME, TITLE = "efficiency", "Efficiency on the citation networks"
PLAIN = "NAFS-mean with SciPy's product"
TIMED = [name for name in RIVALS if name != "raw features"]


def _methods(name: str) -> dict[str, Rival]:
    hops = {variant: published.CLUSTER_HOPS[variant][name] for variant in published.VARIANTS}
    found: dict[str, Rival] = {rival: RIVALS[rival] for rival in TIMED}
    found[PLAIN] = lambda graph: plain_nafs(graph, hops["mean"])
    for variant, count in hops.items():
        found[f"NAFS-{variant}"] = nafs(count, DEFAULT_R, variant)
    return found


def _cells(_: int) -> list[Cell]:
    def measure(name: str, make: Rival) -> Values:
        graph = dataset(name).graph
        return {"seconds": seconds_of(lambda: make(graph))}

    return [
        Cell(f"{NAME}/{name}/{method}", partial(measure, name, make))
        for name in published.CITATIONS
        for method, make in _methods(name).items()
    ]


def _write(store: Store, _: int) -> list[Path]:
    figure = new_figure(12, 4.6)
    axis = figure.subplots()
    methods = list(_methods(published.CITATIONS[0]))
    width = 0.25
    rows = []
    for i, (name, colour) in enumerate(zip(published.CITATIONS, COLOURS, strict=False)):
        found = [float(np.median(store[f"{NAME}/{name}/{method}"]["seconds"])) for method in methods]
        places = np.arange(len(methods)) + (i - 1) * width
        bars = axis.bar(places, found, width, color=colour, label=name)
        axis.bar_label(bars, [f"{value:.2g}" for value in found], fontsize=6.5)
        slow = store[f"{NAME}/{name}/{PLAIN}"]["seconds"]
        for method, value in zip(methods, found, strict=True):
            ratio = f"{np.median(slow) / value:.1f}" if method == "NAFS-mean" else ""
            rows.append([name, method, seconds([value]), ratio])
    axis.set_yscale("log")
    axis.set_ylabel("seconds, log scale")
    names = [method.replace(" with", "\nwith").replace(", ", "\n") for method in methods]
    axis.set_xticks(range(len(methods)), [name.replace(" of the", "\nof the") for name in names], fontsize=8)
    axis.set_title("Time to embed, with the paper's number of hops for clustering")
    axis.legend()
    remarks = [
        "Seconds to embed on all cores (SciPy's product uses one), median of 3 runs, or one that takes over "
        "ten seconds; NAFS with the paper's hops for clustering (for the mean 17 on Cora, 15 on Citeseer, 56 "
        "on PubMed). The last column is how many times as long the same takes with SciPy's product.",
        "The paper compares with GAE and AGE, which are trained: it shows bars without numbers and says that "
        "NAFS is almost two orders of magnitude faster than AGE on PubMed. They are not run here.",
        f"![]({NAME}.png)",
    ]
    header = ["data set", "method", "seconds", "SciPy / nafs"]
    return [*store.table(NAME, TITLE, remarks, header, rows), store.figure(NAME, figure)]


TARGETS = (Target(NAME, TITLE, _cells, _write),)
