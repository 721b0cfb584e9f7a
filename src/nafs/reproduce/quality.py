"""What each label-free ingredient contributes on every available data set: where it helps and where it hurts.

The lines of `auto` are measured first, with all seeds; the lines that change one ingredient are measured with
fewer. Every cell is kept, so an interrupted run can be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from nafs.clustering import ClusterSearch
from nafs.clustering.heads import ALL_HEADS, MERGED
from nafs.datasets import Dataset
from nafs.datasets.catalog import CATALOG
from nafs.datasets.download import is_present
from nafs.embedding import embed
from nafs.graph import Graph
from nafs.pipeline import Job, Settings, search_clusters
from nafs.reproduce.further import further_graphs, load_further
from nafs.reproduce.quality_noise import cells as noise_cells
from nafs.reproduce.store import Store, Values, percent
from nafs.reproduce.target import Cell, Effort, Target, dataset
from nafs.tasks import (
    embeddings_for_classes,
    evaluate_class_vote,
    evaluate_classification,
    evaluate_clustering,
    evaluate_links,
)

NAME, TITLE = "quality", "Label-free choices, one by one"
# A rule is developed on one half and checked on the other. Graphs of the same origin are in the same half.
HALVES = {
    "half 1": ("cora", "cora-ml", "acm", "amazon-photo", "digits"),
    "half 2": ("citeseer", "citeseer-full", "pubmed", "wiki", "coauthor-cs", "blogcatalog"),
}
NAMES = tuple(name for half in HALVES.values() for name in half)
CLASSIFIED = ("cora", "citeseer", "pubmed")
FEW = 3  # seeds of the lines that change one ingredient
PREPARED = {"preprocessing": "auto"}
AUTO = {"n_hops": "auto"}
EDGELESS = AUTO | {"structure": "none"}


@dataclass(frozen=True)
class Step:
    """One line: settings of the embedding and of the task; ``without`` names parts of the consensus."""

    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    judge: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    @property
    def is_auto(self) -> bool:
        """Whether this is the line of `auto` itself."""
        return self.title.endswith(": auto")


EDGES = "weights by edges"
OWN = "own features in the last step"
CLUSTERING = (
    Step("20 hops, K-means", {}, {"method": "kmeans", "n_init": 5}),
    Step("+ preprocessing", PREPARED, {"method": "kmeans", "n_init": 5}),
    Step("+ mixture", PREPARED, {"method": "mixture"}),
    Step("+ consensus at 20 hops", PREPARED),
    Step("+ consensus over hops: auto", AUTO),
    Step("auto without preprocessing", AUTO | {"preprocessing": "none"}),
    Step("auto, mean subtracted", AUTO | {"center": "mean"}),
    Step("auto without structural columns", EDGELESS),
    Step(f"auto without {EDGES}", AUTO, without=(EDGES,)),
    *(Step(f"auto without {head}", AUTO, without=(head,)) for head in ALL_HEADS),
    Step(f"auto without {OWN}", AUTO, without=(OWN,)),
    Step("auto without all three uses of edges", AUTO, without=(*MERGED, EDGES)),
)
LINKS = (
    Step("20 hops, inner product", {}, {"score": "inner"}),
    Step("+ preprocessing", PREPARED, {"score": "inner"}),
    Step("+ hops and center by hidden edges, cosine", AUTO, {"score": "cosine"}),
    Step("+ link head: auto", AUTO),
    Step("auto without preprocessing", AUTO | {"preprocessing": "none"}),
    Step("auto, mean not subtracted", AUTO | {"center": "none"}),
    Step("auto, all columns", AUTO | {"dim": "full"}),
    Step("auto without structural columns", EDGELESS),
)
CLASSIFICATION = (
    Step("20 hops", {"dim": "full"}),
    Step("+ preprocessing", PREPARED | {"dim": "full"}),
    Step("+ the five best on validation nodes, own features: auto", AUTO | {"dim": "full"}),
    Step("auto without own features", AUTO | {"dim": "full"}, {"own_features": False}),
    Step("auto, 256 columns", AUTO),
)


def present(names: Sequence[str]) -> list[str]:
    """The data sets whose files are available."""
    further = further_graphs()
    return [name for name in names if name in further or (name in CATALOG and is_present(CATALOG[name]))]


def data_of(name: str) -> Dataset:
    """A data set of the catalog, or one of the further graphs."""
    return load_further(name) if name in further_graphs() else dataset(name)


@lru_cache(maxsize=1)
def _search(name: str, settings: tuple[tuple[str, Any], ...]) -> ClusterSearch:
    """One sweep; consecutive cells share it."""
    graph = data_of(name).graph
    return search_clusters(Job.of(graph, Settings.of(n_clusters=_classes_of(graph), **dict(settings))))


def _classes_of(graph: Graph) -> int:
    """Only the number of classes is used, not the labels: every clustering needs that number."""
    assert graph.labels is not None
    return len(graph.labels.classes)


def _matrix(graph: Graph, settings: Mapping[str, Any], goal: str) -> Any:
    return embed(graph, goal=goal, n_clusters=_classes_of(graph), **settings).matrix


def _clusters(name: str, step: Step, seeds: Sequence[int]) -> Values:
    graph = data_of(name).graph
    if step.settings.get("n_hops") != "auto":
        matrix = _matrix(graph, step.settings, "clusters")
        return evaluate_clustering(matrix, graph, seeds=len(seeds), **step.judge).values
    search = _search(name, tuple(step.settings.items()))
    search.heads = tuple(head for head in ALL_HEADS if head not in step.without)
    search.weigh_by_edges = EDGES not in step.without
    search.use_own_features = OWN not in step.without
    return evaluate_clustering(search, graph, seeds=len(seeds)).values


def _links(name: str, step: Step, seeds: Sequence[int]) -> Values:
    make = partial(_matrix, settings=step.settings, goal="links")
    return evaluate_links(data_of(name).graph, make, splits=len(seeds), first=seeds[0], **step.judge).values


def _classes(name: str, step: Step, _: Sequence[int]) -> Values:
    data = data_of(name)
    assert data.split is not None
    if step.settings.get("n_hops") == "auto":
        embeddings = embeddings_for_classes(data.graph, Settings.of(**step.settings))
        return evaluate_class_vote(embeddings, data.graph, [data.split], **step.judge).values
    return evaluate_classification(
        _matrix(data.graph, step.settings, "clusters"), data.graph, [data.split]
    ).values


def _number(name: str) -> Values:
    """The number of clusters that "auto" chooses, and how much the partitions agree on it."""
    graph = data_of(name).graph
    clustering = search_clusters(Job.of(graph, Settings.of(**AUTO))).cluster("auto")
    return {
        "classes": [float(_classes_of(graph))],
        "chosen": [float(clustering.n_clusters)],
        "agreement": [clustering.agreement],
        "by chance": [clustering.by_chance],
        "doubtful": [float(clustering.doubtful)],
        "numbers": [float(number) for number in clustering.numbers],
        "curve": list(clustering.numbers.values()),
    }


@dataclass(frozen=True)
class Task:
    """The lines of one task and its metrics. Links have one cell for each split."""

    name: str
    datasets: tuple[str, ...]
    steps: tuple[Step, ...]
    metrics: tuple[str, ...]
    measure: Callable[[str, Step, Sequence[int]], Values]
    by_seed: bool = False

    def cells(self, name: str, step: Step, seeds: int) -> list[Cell]:
        """The measurements of one line on one data set."""
        count = 1 if self.name == "classification" else seeds if step.is_auto else min(FEW, seeds)
        parts = [range(seed, seed + 1) for seed in range(count)] if self.by_seed else [range(count)]
        return [
            Cell(
                f"{NAME}/{self.name}/{name}/{step.title}/{part.start}-{part.stop}",
                partial(self.measure, name, step, part),
            )
            for part in parts
        ]

    def values(self, store: Store, name: str, step: Step, seeds: int) -> Values | None:
        """The measurements so far of one line on one data set."""
        return store.together(cell.key for cell in self.cells(name, step, seeds))


TASKS = (
    Task("clustering", NAMES, CLUSTERING, ("ACC", "NMI", "ARI"), _clusters),
    Task("links", NAMES, LINKS, ("AUC", "AP", "AUC hard", "Hits@50", "MRR"), _links, by_seed=True),
    Task("classification", CLASSIFIED, CLASSIFICATION, ("ACC",), _classes),
)


def number_key(name: str) -> str:
    """The key of the cell that holds the chosen number of clusters."""
    return f"{NAME}/number/{name}"


def number_cell(name: str) -> Cell:
    """The measurement of the number of clusters that "auto" chooses."""
    return Cell(number_key(name), partial(_number, name))


def _cells(effort: Effort) -> list[Cell]:
    """All measurements, the lines of `auto` first."""
    by_step = [
        (not step.is_auto, cell)
        for task in TASKS
        for name in present(task.datasets)
        for step in task.steps
        for cell in task.cells(name, step, effort.seeds)
    ]
    numbers = [number_cell(name) for name in present(NAMES)]
    first = [cell for is_later, cell in by_step if not is_later]
    return [*first, *numbers, *noise_cells(), *(cell for is_later, cell in by_step if is_later)]


def mean_of(values: Sequence[Any]) -> str:
    """The mean over data sets of the means over seeds, in percent."""
    return f"{100 * float(np.mean([np.mean(value) for value in values])):.1f}" if values else ""


def table_of(store: Store, task: Task, metric: str, seeds: int) -> list[list[str]]:
    """A row for each line: every data set, the means of both halves, and the mean of all."""
    rows = []
    for step in task.steps:
        values = {name: task.values(store, name, step, seeds) for name in task.datasets}
        measured = {name: cell[metric] for name, cell in values.items() if cell is not None}
        if measured:
            shown = [percent(measured[name]) if name in measured else "" for name in NAMES]
            halves = [_mean_of_half(measured, half, task) for half in HALVES.values()]
            rows.append([step.title, *shown, *halves, _mean_of_half(measured, task.datasets, task)])
    return rows


def _mean_of_half(measured: Mapping[str, Any], half: Sequence[str], task: Task) -> str:
    """The mean over a half; empty while one of its data sets is missing."""
    names = [name for name in present(task.datasets) if name in half]
    return mean_of([measured[name] for name in names]) if set(names) <= set(measured) else ""


def _write(store: Store, effort: Effort) -> list[Path]:
    rows = [
        [task.name, metric, *row]
        for task in TASKS
        for metric in task.metrics
        for row in table_of(store, task, metric, effort.seeds)
    ]
    remarks = [
        "No label was used but the number of classes for clustering and, for classification, the training "
        "and validation nodes of the public split. A line with + has what the lines above it have; the "
        f"others change one thing in `auto`. Mean ± deviation over {effort.seeds} seeds or splits for "
        f"`auto`, over {min(FEW, effort.seeds)} for the other lines."
    ]
    header = ["task", "metric", "setting", *NAMES, *HALVES, "mean"]
    return store.table(NAME, TITLE, remarks, header, rows)


TARGETS = (Target(NAME, TITLE, _cells, _write),)
