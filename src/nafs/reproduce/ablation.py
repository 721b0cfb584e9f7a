"""The ablations on PubMed: weighting of the hops, and ensemble of the r's, over K."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nafs.estimator import NAFS
from nafs.pictures import plot_curves
from nafs.reproduce.store import Store, Values, percent
from nafs.reproduce.target import Cell, Effort, Target, dataset
from nafs.tasks import evaluate_clustering

DATASET, STARTS = "pubmed", 3
Choices = Mapping[str, Mapping[str, Any]]
WEIGHTINGS: Choices = {
    "adaptive weight": {"weighting": "adaptive"},
    "naive average": {"weighting": "average"},
    "single hop": {"weighting": "last"},
}
ENSEMBLES: Choices = {
    "mean": {"ensemble": "mean"},
    "max": {"ensemble": "max"},
    "concat": {"ensemble": "concat"},
    "r = 0.3 only": {"r": 0.3},
}


def _key(name: str, choice: str, seeds: int) -> str:
    return f"{name}/{DATASET}/{choice}/{seeds} seeds"


def _measure(settings: Mapping[str, Any], hops: Sequence[int], seeds: int) -> Values:
    """NMI for each K, from one pass over the hops."""
    graph = dataset(DATASET).graph
    cell = {}
    for hop, matrix in NAFS(max(hops), **settings).sweep(graph, hops=hops):
        result = evaluate_clustering(matrix, graph, method="kmeans", seeds=seeds, n_init=STARTS)
        cell[str(hop)] = result.values["NMI"]
    return cell


def _cells(name: str, choices: Choices, hops: Sequence[int], effort: Effort) -> list[Cell]:
    seeds = effort.seeds
    return [
        Cell(_key(name, choice, seeds), partial(_measure, settings, hops, seeds))
        for choice, settings in choices.items()
    ]


def _write(
    name: str, title: str, choices: Choices, hops: Sequence[int], store: Store, effort: Effort
) -> list[Path]:
    seeds = effort.seeds
    curves = {}
    for choice in choices:
        cell = store[_key(name, choice, seeds)]
        curves[choice] = (hops, [100 * np.asarray(cell[str(hop)]) for hop in hops])
    figure = plot_curves(curves, title=f"PubMed, node clustering: {title}")
    rows = [
        [choice, *(percent(store[_key(name, choice, seeds)][str(hop)]) for hop in hops)] for choice in choices
    ]
    remarks = [
        f"NMI of K-means on PubMed, best of {STARTS} starts, mean ± deviation over {seeds} seeds. "
        "The paper shows curves without numbers.",
        f"![]({name}.png)",
    ]
    header = ["", *(f"K = {hop}" for hop in hops)]
    return [*store.table(name, title.capitalize(), remarks, header, rows), store.figure(name, figure)]


def _target(name: str, title: str, choices: Choices, hops: Sequence[int]) -> Target:
    return Target(
        name,
        f"Ablation: {title}",
        partial(_cells, name, choices, hops),
        partial(_write, name, title, choices, hops),
    )


TARGETS = (
    _target("weighting", "how hops are weighted", WEIGHTINGS, (10, 20, 30, 40, 50, 60)),
    _target("ensemble", "how the r's are combined", ENSEMBLES, (15, 20, 25, 30, 35, 40)),
)
