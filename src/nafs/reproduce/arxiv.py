"""Accuracy against time on ogbn-arxiv, measured if the data set is present."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from nafs.datasets.catalog import find
from nafs.datasets.download import is_present
from nafs.pictures.plots import COLOURS, MARKERS, new_figure
from nafs.reproduce.comparison import HOPS, nafs
from nafs.reproduce.rivals import Rival, raw, sgc, sign, ssgc
from nafs.reproduce.store import Store, Values, percent, seconds
from nafs.reproduce.target import Cell, Target, dataset
from nafs.smoothing.method import DEFAULT_R
from nafs.tasks import evaluate_classification

NAME, TITLE = "ogbn-arxiv", "Accuracy against time on ogbn-arxiv"
METHODS: dict[str, Rival] = {
    "raw features": raw,
    "SGC, 2 hops": sgc,
    "SSGC, 16 hops": ssgc,
    "SIGN, 3 hops": sign,
    f"NAFS-mean, {HOPS} hops": nafs(HOPS, DEFAULT_R, "mean"),
}


def _measure(make: Rival) -> Values:
    data = dataset(NAME)
    assert data.split is not None
    start = time.perf_counter()
    matrix = make(data.graph)
    embedded = time.perf_counter()
    result = evaluate_classification(matrix, data.graph, [data.split])
    classified = time.perf_counter()
    return {**result.values, "embed": [embedded - start], "classify": [classified - embedded]}


def _cells(_: int) -> list[Cell]:
    if not is_present(find(NAME)):
        return []
    return [Cell(f"{NAME}/{method}", partial(_measure, make)) for method, make in METHODS.items()]


def _write(store: Store, _: int) -> list[Path]:
    header = ["method", "ACC", "embed", "classify"]
    if not is_present(find(NAME)):
        remark = (
            f"Not measured: {NAME} is not in the data folder. Run `nafs datasets fetch {NAME}`, or put "
            f"{', '.join(file.path for file in find(NAME).files)} into the folder NAFS_DATA_HOME."
        )
        return store.table(NAME, TITLE, [remark], header, [])
    figure = new_figure(6.5, 4.5)
    axis = figure.subplots()
    rows = []
    for method, colour, marker in zip(METHODS, COLOURS, MARKERS, strict=False):
        cell = store[f"{NAME}/{method}"]
        rows.append([method, percent(cell["ACC"]), seconds(cell["embed"]), seconds(cell["classify"])])
        total = cell["embed"][0] + cell["classify"][0]
        axis.plot([total], [100 * cell["ACC"][0]], marker, color=colour, markersize=10, label=method)
    axis.set_xscale("log")
    axis.set_xlabel("seconds to embed and to classify")
    axis.set_ylabel("test accuracy, percent")
    axis.set_title(TITLE)
    axis.grid(alpha=0.3)
    axis.legend()
    remark = "Logistic regression on the frozen embedding, published split, strength chosen on validation."
    files = store.table(NAME, TITLE, [remark, f"![]({NAME}.png)"], header, rows)
    return [*files, store.figure(NAME, figure)]


TARGETS = (Target(NAME, TITLE, _cells, _write),)
