"""The figure of t-SNE maps of Cora: NAFS keeps the classes apart over 200 hops, unlike Â^k X."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from nafs.estimator import NAFS
from nafs.pictures.layout import tsne
from nafs.pictures.plots import new_figure
from nafs.reproduce.store import Store, Values
from nafs.reproduce.target import Cell, Effort, Target, dataset
from nafs.tasks import evaluate_clustering

NAME, TITLE, DATASET = "maps", "Maps of Cora over hops", "cora"
HOPS = (0, 5, 10, 20, 50, 100, 150, 200)
ROWS = {"NAFS": "adaptive", "Â^k X": "last"}
_CLASS_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


def _measure(weighting: str, seeds: int) -> Values:
    """Coordinates of the map, and the NMI of K-means, for each number of hops."""
    graph = dataset(DATASET).graph
    assert graph.labels is not None
    cell: Values = {}
    for hop, matrix in NAFS(max(HOPS), 0.5, weighting=weighting).sweep(graph, hops=HOPS):
        # After many hops rows differ only by rounding errors, which t-SNE magnifies.
        places = tsne(matrix, n_threads=2).round(2)
        cell[f"{hop} x"], cell[f"{hop} y"] = places.T.tolist()
        result = evaluate_clustering(matrix, graph, method="kmeans", seeds=seeds, n_init=3)
        cell[f"{hop} NMI"] = result.values["NMI"]
    return cell


def _key(row: str, seeds: int) -> str:
    return f"{NAME}/{DATASET}/{row}/{seeds} seeds"


def _cells(effort: Effort) -> list[Cell]:
    seeds = effort.seeds
    return [Cell(_key(row, seeds), partial(_measure, weighting, seeds)) for row, weighting in ROWS.items()]


def _write(store: Store, effort: Effort) -> list[Path]:
    seeds = effort.seeds
    labels = dataset(DATASET).graph.labels
    assert labels is not None
    figure = new_figure(2.1 * len(HOPS), 4.9)
    axes = figure.subplots(2, len(HOPS))
    rows = []
    colours = np.asarray(_CLASS_COLOURS)[labels.codes % len(_CLASS_COLOURS)]
    for line, row in zip(axes, ROWS, strict=True):
        cell = store[_key(row, seeds)]
        scores = [100 * float(np.mean(cell[f"{hop} NMI"])) for hop in HOPS]
        rows.append([row, *(f"{score:.1f}" for score in scores)])
        for axis, hop, score in zip(line, HOPS, scores, strict=True):
            axis.scatter(cell[f"{hop} x"], cell[f"{hop} y"], c=colours, s=1.5, linewidths=0)
            axis.set_title("the features" if hop == 0 else f"{hop} hops", fontsize=11)
            axis.set_xlabel(f"NMI {score:.0f}")
            axis.set_xticks([])
            axis.set_yticks([])
        line[0].set_ylabel(row, fontsize=13)
    figure.suptitle("Cora: t-SNE of the embedding, coloured by class; NMI of K-means on it, in percent")
    remarks = [
        f"NMI of K-means, mean over {seeds} seeds, at r = 0.5. The figure shows t-SNE maps of them.",
        f"![]({NAME}.png)",
    ]
    header = ["", *(f"{hop} hops" for hop in HOPS)]
    return [*store.table(NAME, TITLE, remarks, header, rows), store.figure(NAME, figure)]


TARGETS = (Target(NAME, TITLE, _cells, _write),)
