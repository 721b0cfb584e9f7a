"""The figure of efficiency: seconds to embed the three citation networks, on this machine.

A cell holds the seconds of one rival and those of NAFS-mean, measured in the same process right before and
after it: their ratio is fair even if the machine has other work.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nafs.datasets.catalog import find
from nafs.pictures.plots import COLOURS, new_figure
from nafs.reproduce import published
from nafs.reproduce.comparison import missing_extra, nafs, source_of
from nafs.reproduce.store import Store, Values
from nafs.reproduce.target import Cell, Effort, Target, dataset
from nafs.reproduce.timing import about_estimates, fit_times, middle, plain_nafs, show_time
from nafs.rivals import RIVALS, Rival, problem_of
from nafs.rivals.contract import TASKS, Problem
from nafs.rivals.pairs import EXACT
from nafs.smoothing.method import DEFAULT_R

NAME, TITLE = "efficiency", "Efficiency on the citation networks"
PLAIN = "NAFS-mean with SciPy's product"
FAST = ("SVD of the features", "SC", "SGC", "SSGC", "SIGN", "AGC", "NDLS")
TRAINED = ("GAE", "AGE")  # those of the paper's figure
ALL_PAIRS = "GAE, all pairs"  # with the loss of the paper, which ours estimates on PubMed
OURS = "NAFS-mean"
TIMED = ("nafs.embedding:embed", "nafs.reproduce.timing:fit_times")
METHODS = (*FAST, "GAE", ALL_PAIRS, "AGE", PLAIN, *(f"NAFS-{variant}" for variant in published.VARIANTS))
HEADER = ["data set", "method", "time", "times NAFS-mean"]
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
    if nodes > EXACT:
        settings = {**RIVALS["GAE"].settings, "exact": nodes}
        trained.append(replace(RIVALS["GAE"], name=ALL_PAIRS, settings=settings, growth=2.5))
    if tier != "all":
        trained = [rival for rival in trained if rival.seconds(nodes) < LIMIT]
    live = [] if tier == "none" else [*(RIVALS[method] for method in FAST), *trained]
    return {rival.name: rival for rival in live if rival.missing is None} | _ours(name)


def key(name: str, method: str) -> str:
    """The key of the seconds of a method on a data set."""
    return f"{NAME}/{name}/{method}"


def _measure(name: str, rival: Rival) -> Values:
    problem = problem_of(dataset(name).graph, "clustering", dataset=name)
    ours = _ours(name)[OURS]
    before = fit_times(ours, problem, long=1.0)["seconds"]
    times = fit_times(rival, problem)
    return {**times, OURS: [*before, *fit_times(ours, problem, long=1.0)["seconds"]]}


def _cells(effort: Effort) -> list[Cell]:
    return [
        Cell(
            key(name, method),
            partial(_measure, name, rival),
            ("nafs.reproduce.timing:plain_nafs" if method == PLAIN else source_of(rival), *TIMED),
        )
        for name in published.CITATIONS
        for method, rival in _methods(name, effort.rivals).items()
    ]


def rows(store: Store) -> list[list[str]]:
    """The measured methods on each data set: seconds, and how many times as long as NAFS-mean."""
    table = []
    for name in published.CITATIONS:
        for method in METHODS:
            cell = store.together([key(name, method)])
            if cell is not None:
                table.append([name, method, show_time(cell), show_ratio(method, name, cell)])
    return table


def places(method: str) -> list[str]:
    """The data sets on which a method is measured."""
    names = published.CITATIONS
    return [name for name in names if method != ALL_PAIRS or (find(name).nodes or 0) > EXACT]


def draw(store: Store) -> Any:
    """The measured seconds as bars."""
    figure = new_figure(12, 4.6)
    axis = figure.subplots()
    methods = [m for m in METHODS if any(key(name, m) in store for name in published.CITATIONS)]
    width = 0.25
    for i, (name, colour) in enumerate(zip(published.CITATIONS, COLOURS, strict=False)):
        heights = [middle(store.together([key(name, method)])) for method in methods]
        places = np.arange(len(methods)) + (i - 1) * width
        bars = axis.bar(places, heights, width, color=colour, label=name)
        axis.bar_label(bars, ["" if np.isnan(h) else _short(h) for h in heights], fontsize=5.5)
    axis.set_yscale("log")
    axis.set_ylabel("seconds, log scale")
    names = [method.replace(" with", "\nwith").replace(" of the", "\nof the") for method in methods]
    axis.set_xticks(range(len(methods)), names, fontsize=8)
    axis.set_title("Time to embed, with the paper's number of hops for clustering")
    axis.legend()
    return figure


def _short(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.2g}"


def _write(store: Store, effort: Effort) -> list[Path]:
    remarks = [
        "Seconds to embed (SciPy's product uses one core, all others as many as there are), median of 3 "
        "runs, or a single one if it takes more than ten seconds; NAFS with the paper's hops for clustering "
        "(for the mean 17 on Cora, 15 on Citeseer, 56 on PubMed).",
        about_estimates(),
        "The last column says how many times as long a method takes as NAFS-mean, which is measured before "
        "and after it in the same process. The paper shows bars without numbers; its text says that GAE "
        f"takes up to {published.SPEEDUPS['GAE']:g} times and AGE {published.SPEEDUPS['AGE']:g} times as "
        "long as NAFS, on PubMed.",
        *missing_extra("links"),
        f"![]({NAME}.png)",
    ]
    return [*store.table(NAME, TITLE, remarks, HEADER, rows(store)), store.figure(NAME, draw(store))]


def show_ratio(method: str, name: str, cell: Values) -> str:
    """How many times as long as NAFS-mean, beside the paper's number if there is one."""
    ratio = middle(cell) / float(np.median(cell[OURS])) if OURS in cell else float("nan")
    number = f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"
    shown = "" if np.isnan(ratio) else f"≈ {number}" if "estimate" in cell else number
    printed = published.SPEEDUPS.get(method.partition(",")[0]) if name == "pubmed" else None
    return shown if printed is None else f"{shown} (published: {printed:g})"


TARGETS = (Target(NAME, TITLE, _cells, _write),)
