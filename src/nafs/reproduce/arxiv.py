"""Accuracy against time on ogbn-arxiv, measured if the data set is present."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from nafs.datasets.catalog import find
from nafs.datasets.download import is_present
from nafs.pictures.plots import COLOURS, MARKERS, new_figure
from nafs.reproduce.comparison import HOPS, missing_extra, nafs, source_of
from nafs.reproduce.store import Store, Values, percent, seconds
from nafs.reproduce.target import Cell, Effort, Target, dataset
from nafs.rivals import RIVALS, Rival, judge
from nafs.smoothing.method import DEFAULT_R

NAME, TITLE = "ogbn-arxiv", "Accuracy against time on ogbn-arxiv"
FAST = ("raw features", "SGC", "SSGC", "SIGN")
TRAINED = ("GCN", "JK-Net", "C&S", "GAT", "PPRGo", "APPNP", "DAGNN")


def _methods(effort: Effort) -> list[Rival]:
    names = {"none": (), "fast": FAST, "all": FAST + TRAINED}[effort.rivals]
    ready = [RIVALS[name] for name in names if RIVALS[name].missing is None]
    return [*ready, nafs(HOPS, DEFAULT_R, "mean")]


def _key(rival: Rival) -> str:
    return f"{NAME}/{rival.name}"


def _measure(rival: Rival) -> Values:
    data = dataset(NAME)
    start = time.perf_counter()
    values = judge(rival, data.graph, "classification", 0, split=data.split, dataset=NAME)
    values["total"] = time.perf_counter() - start
    return {name: [value] for name, value in values.items()}


def _cells(effort: Effort) -> list[Cell]:
    if not is_present(find(NAME)):
        return []
    return [
        Cell(_key(rival), partial(_measure, rival), (source_of(rival), "nafs.rivals.judge:classification"))
        for rival in _methods(effort)
    ]


def _write(store: Store, effort: Effort) -> list[Path]:
    header = ["method", "ACC", "fit", "in all"]
    if not is_present(find(NAME)):
        remark = (
            f"Not measured: {NAME} is not in the data folder. Run `nafs datasets fetch {NAME}`, or put "
            f"{', '.join(file.path for file in find(NAME).files)} into the folder NAFS_DATA_HOME."
        )
        return store.table(NAME, TITLE, [remark], header, [])
    figure = new_figure(6.5, 4.5)
    axis = figure.subplots()
    rows = []
    for i, rival in enumerate(_methods(effort)):
        cell = store[_key(rival)]
        rows.append([rival.name, percent(cell["ACC"]), seconds(cell["seconds"]), seconds(cell["total"])])
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        axis.plot(
            cell["total"], [100 * cell["ACC"][0]], marker, color=colour, markersize=10, label=rival.name
        )
    axis.set_xscale("log")
    axis.set_xlabel("seconds to fit and to classify")
    axis.set_ylabel("test accuracy, percent")
    axis.set_title(TITLE)
    axis.grid(alpha=0.3)
    axis.legend()
    remarks = [
        "Published split. Embeddings are evaluated by logistic regression, with the regularisation chosen on "
        "the validation nodes; networks are evaluated directly.",
        *missing_extra("classification"),
        f"![]({NAME}.png)",
    ]
    files = store.table(NAME, TITLE, remarks, header, rows)
    return [*files, store.figure(NAME, figure)]


TARGETS = (Target(NAME, TITLE, _cells, _write),)
