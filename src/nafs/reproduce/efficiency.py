"""The figure of efficiency: seconds to embed the three citation networks, on this machine.

A cell holds the seconds of one rival and, measured right before and after it in the same process, those of
NAFS-mean: their ratio is fair even where the machine has other work.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from nafs.datasets.catalog import find
from nafs.pictures.plots import COLOURS, new_figure
from nafs.reproduce import published
from nafs.reproduce.comparison import missing_extra, nafs, show, source_of
from nafs.reproduce.store import Store, Values, seconds
from nafs.reproduce.target import Cell, Effort, Target, dataset
from nafs.reproduce.timing import plain_nafs, seconds_of
from nafs.rivals import RIVALS, OutOfMemoryError, Rival, problem_of
from nafs.rivals.contract import TASKS, Problem
from nafs.smoothing.method import DEFAULT_R

NAME, TITLE = "efficiency", "Efficiency on the citation networks"
PLAIN = "NAFS-mean with SciPy's product"
FAST = ("SVD of the features", "SC", "SGC", "SSGC", "SIGN", "AGC", "NDLS")
TRAINED = ("GAE", "AGE")  # those of the paper's figure
LIMIT = 60.0


def _ours(name: str) -> dict[str, Rival]:
    hops = {variant: published.CLUSTER_HOPS[variant][name] for variant in published.VARIANTS}

    def plain(problem: Problem, seed: int, progress: object) -> object:
        return plain_nafs(problem.graph, hops["mean"])

    theirs = Rival(PLAIN, TASKS, plain, "no paper", cost=1)  # type: ignore[arg-type]
    return {PLAIN: theirs} | {
        f"NAFS-{variant}": nafs(count, DEFAULT_R, variant) for variant, count in hops.items()
    }


def _methods(name: str, tier: str) -> dict[str, Rival]:
    nodes = find(name).nodes or 0
    trained = [RIVALS[method] for method in TRAINED]
    if tier != "all":
        trained = [rival for rival in trained if rival.seconds(nodes) < LIMIT]
    live = [] if tier == "none" else [*(RIVALS[method] for method in FAST), *trained]
    return {rival.name: rival for rival in live if rival.missing is None} | _ours(name)


def _key(name: str, method: str) -> str:
    return f"{NAME}/{name}/{method}"


def _measure(name: str, rival: Rival) -> Values:
    problem = problem_of(dataset(name).graph, "clustering", dataset=name)
    ours = _ours(name)["NAFS-mean"]
    try:
        before = seconds_of(lambda: ours(problem))
        times = seconds_of(lambda: rival(problem))
    except OutOfMemoryError as error:
        return {"needs": [float(error.needs)]}
    return {"seconds": times, "NAFS-mean": [*before, *seconds_of(lambda: ours(problem))]}


def _cells(effort: Effort) -> list[Cell]:
    return [
        Cell(
            _key(name, method),
            partial(_measure, name, rival),
            (source_of(rival), "nafs.embedding:embed", "nafs.reproduce.timing"),
        )
        for name in published.CITATIONS
        for method, rival in _methods(name, effort.rivals).items()
    ]


def _write(store: Store, effort: Effort) -> list[Path]:
    figure = new_figure(12, 4.6)
    axis = figure.subplots()
    methods = [*FAST, *TRAINED, PLAIN, *(f"NAFS-{variant}" for variant in published.VARIANTS)]
    methods = [m for m in methods if any(_key(name, m) in store for name in published.CITATIONS)]
    width = 0.25
    rows = []
    for i, (name, colour) in enumerate(zip(published.CITATIONS, COLOURS, strict=False)):
        heights = []
        for method in methods:
            cell = store.together([_key(name, method)])
            timed = cell is not None and "seconds" in cell
            heights.append(float(np.median(cell["seconds"])) if timed and cell is not None else np.nan)
            if cell is not None:
                ratio = np.median(cell["seconds"]) / np.median(cell["NAFS-mean"]) if timed else np.nan
                shown = seconds(cell["seconds"]) if timed else show(cell, "")
                rows.append([name, method, shown, f"{ratio:.2g}" if timed else ""])
        places = np.arange(len(methods)) + (i - 1) * width
        bars = axis.bar(places, heights, width, color=colour, label=name)
        axis.bar_label(bars, ["" if np.isnan(h) else f"{h:.2g}" for h in heights], fontsize=6.5)
    axis.set_yscale("log")
    axis.set_ylabel("seconds, log scale")
    names = [method.replace(" with", "\nwith").replace(" of the", "\nof the") for method in methods]
    axis.set_xticks(range(len(methods)), names, fontsize=8)
    axis.set_title("Time to embed, with the paper's number of hops for clustering")
    axis.legend()
    remarks = [
        "Seconds to embed (SciPy's product uses one core, all else as many as there are), median of 3 "
        "runs, or one that takes over ten seconds; NAFS with the paper's hops for clustering (for the "
        "mean 17 on Cora, 15 on Citeseer, 56 on PubMed). The last column is how many times as long a "
        "method takes as NAFS-mean, which is measured before and after it in the same process.",
        "The paper shows bars without numbers; its text says that training GAE takes up to 65.4 times, "
        "and AGE 88.6 times, as long as NAFS on PubMed.",
        *missing_extra("links"),
        f"![]({NAME}.png)",
    ]
    header = ["data set", "method", "seconds", "times NAFS-mean"]
    return [*store.table(NAME, TITLE, remarks, header, rows), store.figure(NAME, figure)]


TARGETS = (Target(NAME, TITLE, _cells, _write),)
