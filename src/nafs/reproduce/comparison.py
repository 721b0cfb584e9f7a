"""The tables of link prediction, clustering and classification, and the one against NDLS made from them.

For every method: the published number, and our measurement with the settings of its paper. NAFS has a second
measurement, with one number of hops for all data sets, chosen in advance. A cell is one seed of one method on
one data set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import show_bytes
from nafs.datasets.catalog import find
from nafs.embedding import embed
from nafs.reproduce import published
from nafs.reproduce.store import Store, Values, megabytes, percent, seconds
from nafs.reproduce.target import Cell, Effort, Target, dataset
from nafs.rivals import RIVALS, OutOfMemoryError, Problem, Rival, judge, problem_of, rivals_for
from nafs.rivals.contract import TASKS
from nafs.rivals.judge import STARTS, STARTS_LARGE, clusters_of, timed
from nafs.smoothing.method import DEFAULT_R

HOUR = 3600.0  # seconds
HOPS = 20  # the method's default, for every data set
HEADER = ["data set", "method", "metric", "published", "here", f"{HOPS} hops, here", "time", "memory"]
EXPLANATION = (
    "Rivals have the settings of their papers. NAFS has the hops of its authors' program for each data set "
    f"and variant, the best of 1 to 70, and in the next column {HOPS} hops everywhere. A published number of "
    "NAFS that is not reached here, by more than two deviations and half a point, is marked !. Time is "
    "that of one fit, memory its peak above what the process held before."
)


@dataclass(frozen=True)
class Task:
    """How methods are compared in one task."""

    name: str
    title: str
    datasets: Sequence[str]
    metrics: Sequence[str]
    numbers: published.Numbers
    others: published.Numbers
    hops: Mapping[str, Mapping[str, int]]
    remark: str
    r: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def seeds(self, name: str, rival: Rival, count: int) -> range:
        """The seeds that make a difference: of the rival, of the hidden edges, or of K-means.

        A fit that takes more than an hour (AGE on PubMed) has two at most.
        """
        if rival.seconds(find(name).nodes or 0) > HOUR:
            count = min(count, 2)
        return range(count if rival.seeded or self.name != "classification" else 1)

    def key(self, name: str, method: str, seed: int) -> str:
        """The key of a measurement."""
        return f"{self.name}/{name}/{method}/seed {seed}"

    def keys(self, name: str, rival: Rival, count: int) -> list[str]:
        """The keys of the measurements for all seeds."""
        return [self.key(name, rival.name, seed) for seed in self.seeds(name, rival, count)]

    def cells(self, name: str, rival: Rival, count: int) -> list[Cell]:
        """The measurements of one method on one data set."""
        code = (source_of(rival), f"nafs.rivals.judge:{self.name}")
        return [
            Cell(self.key(name, rival.name, seed), partial(measure, rival, name, self.name, seed), code)
            for seed in self.seeds(name, rival, count)
        ]

    def published_way(self, name: str, variant: str) -> Rival:
        """NAFS with the paper's hops."""
        return nafs(self.hops[variant][name], self.r.get(name, DEFAULT_R), variant)

    def plain_way(self, variant: str) -> Rival:
        """NAFS with the same hops everywhere."""
        return nafs(HOPS, DEFAULT_R, variant)

    def rivals(self, name: str, tier: str) -> dict[str, Rival]:
        """The installed rivals of a tier for a data set."""
        nodes = find(name).nodes
        in_tier = rivals_for(self.name, tier, nodes) if nodes else rivals_for(self.name, tier)
        return {rival.name: rival for rival in in_tier.values() if rival.missing is None}


def source_of(rival: Rival) -> str:
    """The source that a rival's result depends on: the module that defines it."""
    fit: Any = rival.fit
    while isinstance(fit, partial):
        fit = fit.func
    return "nafs.embedding:embed" if fit.__module__ == __name__ else str(fit.__module__)


@lru_cache(maxsize=64)
def nafs(hops: int, r: tuple[float, ...], variant: str) -> Rival:
    """The method as a rival, with its choices made."""

    def fit(problem: Problem, seed: int, progress: Any) -> NDArray[Any]:
        return embed(problem.graph, n_hops=hops, r=r, ensemble=variant, dim="full").matrix

    name = f"NAFS-{variant}, K={hops}, r={','.join(f'{value:g}' for value in r)}"
    wide = len(r) if variant == "concat" else 1
    return Rival(
        name,
        TASKS,
        fit,
        "Zhang et al., NAFS: A simple yet tough-to-beat baseline, ICML 2022",
        cost=1,
        seeded=False,
        memory=lambda graph: (
            wide * graph.n_nodes * (128 if graph.features is None else graph.features.shape[1]) * 12
        ),
    )


def measure(rival: Rival, name: str, task: str, seed: int) -> Values:
    """One cell; for a rival that does not fit into memory, the bytes that it needs."""
    data = dataset(name)
    try:
        if task == "clustering" and not rival.seeded:
            result, cost = _fitted(rival, name)
            assert data.graph.labels is not None
            values = {**clusters_of(result, data.graph, len(data.graph.labels.classes), seed), **cost}
        else:
            values = judge(rival, data.graph, task, seed, split=data.split, dataset=name)
    except OutOfMemoryError as error:
        return {"needs": [float(error.needs)]}
    return {metric: [value] for metric, value in values.items()}


@lru_cache(maxsize=1)
def _fitted(rival: Rival, name: str) -> tuple[NDArray[Any], dict[str, float]]:
    """The result of a rival without randomness, shared by all seeds of K-means."""
    return timed(rival, problem_of(dataset(name).graph, "clustering", dataset=name), 0)


LINKS = Task(
    "links",
    "Link prediction",
    published.CITATIONS,
    ("AUC", "AP"),
    published.LINKS,
    published.LINKS_OF_OTHERS,
    published.LINK_HOPS,
    "Edges split 85/5/10, as many non-edges; inner products; mean ± deviation over {seeds} splits.",
    published.LINK_R,
)
CLUSTERING = Task(
    "clustering",
    "Node clustering",
    published.CLUSTERED,
    ("ACC", "NMI", "ARI"),
    published.CLUSTERS,
    published.CLUSTERS_OF_OTHERS,
    published.CLUSTER_HOPS,
    f"K-means on the embedding as it is, best of {STARTS} starts ({STARTS_LARGE} on PubMed); mean ± "
    "deviation over {seeds} seeds. AGC, MGAE, SAGSC and spectral clustering (SC) have the input of "
    "K-means that their papers prescribe; DAEGC, GCC, S²CAG and M-S²CAG find clusters themselves.",
)
CLASSIFICATION = Task(
    "classification",
    "Node classification",
    published.CITATIONS,
    ("ACC",),
    published.CLASSES,
    published.CLASSES_OF_OTHERS,
    published.CLUSTER_HOPS,
    "Public split. Rivals that are trained with labels are judged as they are, at their best epoch on "
    "validation nodes (mean ± deviation over {seeds} seeds); embeddings by a logistic regression whose "
    "strength is chosen on validation nodes. The paper does not say its number of hops for this task; "
    "those of its clustering table are used.",
)


def comparison_cells(task: Task, effort: Effort) -> list[Cell]:
    """Every method on every data set of a task."""
    cells: list[Cell] = []
    for name in task.datasets:
        methods = list(task.rivals(name, effort.rivals).values())
        for variant in published.VARIANTS:
            methods += [task.published_way(name, variant), task.plain_way(variant)]
        for rival in methods:
            cells += task.cells(name, rival, effort.seeds)
    return list({cell.key: cell for cell in cells}.values())  # the paper's hops may be 20 too


def write_comparison(task: Task, store: Store, effort: Effort) -> list[Path]:
    """The table of a task."""
    rows: list[list[str]] = []
    for name in task.datasets:
        for rival in RIVALS.values():
            numbers = task.others.get(rival.name, {}).get(name)
            values = (
                store.together(task.keys(name, rival, effort.seeds)) if task.name in rival.tasks else None
            )
            if values is not None or numbers is not None:
                rows += rows_of(name, rival.name, task.metrics, numbers, values)
        for variant in published.VARIANTS:
            rows += variant_rows(task, store, name, variant, effort.seeds)
    remarks = [task.remark.format(seeds=effort.seeds), EXPLANATION, *missing_extra(task.name)]
    return store.table(task.name, task.title, remarks, HEADER, rows)


def missing_extra(task: str) -> list[str]:
    """A remark if rivals cannot run because their extra is not installed."""
    absent = [rival for rival in RIVALS.values() if task in rival.tasks and rival.missing is not None]
    if not absent:
        return []
    names = ", ".join(rival.name for rival in absent)
    return [
        f"Not measured, because {absent[0].missing} is not installed: {names} (pip install 'nafs[rivals]')."
    ]


def variant_rows(task: Task, store: Store, name: str, variant: str, seeds: int) -> list[list[str]]:
    """The rows of one of the paper's three variants."""
    ways = task.published_way(name, variant), task.plain_way(variant)
    return rows_of(
        name,
        f"NAFS-{variant} (K={task.hops[variant][name]})",
        task.metrics,
        task.numbers[variant][name],
        *(store.together(task.keys(name, rival, seeds)) for rival in ways),
        mark=True,
    )


def rows_of(
    first: str,
    method: str,
    metrics: Sequence[str],
    numbers: tuple[float, ...] | None = None,
    measured: Values | None = None,
    plain: Values | None = None,
    *,
    mark: bool = False,
) -> list[list[str]]:
    """One row for each metric: published, measured, with hops of our effort, seconds and memory."""
    rows = []
    for i, metric in enumerate(metrics):
        number = None if numbers is None else numbers[i]
        shown = show(measured, metric)
        if mark and measured is not None and number is not None and out_of_reach(number, measured[metric]):
            shown += " !"
        printed = "" if number is None else f"{number:.1f}"
        rows.append([first, method, metric, printed, shown, show(plain, metric), *show_cost(measured)])
    return rows


def show(values: Values | None, metric: str) -> str:
    """Mean and deviation of a metric, or why there is none."""
    if values is None:
        return ""
    if "needs" in values:
        return f"out of memory (needs {show_bytes(int(values['needs'][0]))})"
    return percent(values[metric])


def show_cost(values: Values | None) -> list[str]:
    """Time and memory of one fit."""
    if values is None or "seconds" not in values:
        return ["", ""]
    return [seconds(values["seconds"]), megabytes(values["bytes"]) if "bytes" in values else ""]


def out_of_reach(number: float, values: Sequence[float]) -> bool:
    """Whether a published number exceeds the measurement by two deviations and half a point."""
    return number > 100 * (float(np.mean(values)) + 2 * float(np.std(values))) + 0.5


def _target(task: Task) -> Target:
    return Target(task.name, task.title, partial(comparison_cells, task), partial(write_comparison, task))


def _against_ndls(effort: Effort) -> list[Cell]:
    return [
        cell
        for task in (CLUSTERING, LINKS)
        for name in task.datasets
        for rival in (RIVALS["NDLS"], task.published_way(name, "concat"), task.plain_way("concat"))
        for cell in task.cells(name, rival, effort.seeds)
    ]


def _write_against_ndls(store: Store, effort: Effort) -> list[Path]:
    rows: list[list[str]] = []
    for task in (CLUSTERING, LINKS):
        for name in task.datasets:
            values = store.together(task.keys(name, RIVALS["NDLS"], effort.seeds))
            both = [
                *rows_of(name, "NDLS", task.metrics, published.NDLS[task.name][name], values),
                *variant_rows(task, store, name, "concat", effort.seeds),
            ]
            rows += [[task.name, *row] for row in both]
    remarks = [
        "NDLS (Zhang et al., NeurIPS 2021) smooths each node until it is within 0.02 of its stationary "
        "state; the cells are those of the tables of clustering and link prediction.",
        EXPLANATION,
    ]
    return store.table("ndls", "Comparison with NDLS", remarks, ["task", *HEADER], rows)


TARGETS = (
    *(_target(task) for task in (LINKS, CLUSTERING, CLASSIFICATION)),
    Target("ndls", "Comparison with NDLS", _against_ndls, _write_against_ndls),
)
