"""What each label-free ingredient brings, on every data set at hand: where it helps and where it hurts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nafs.datasets.catalog import find
from nafs.datasets.download import is_present
from nafs.embedding import embed
from nafs.graph import Graph
from nafs.pipeline import Job, Settings, search_clusters
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
CLUSTERED = ("cora", "citeseer", "pubmed", "wiki", "amazon-photo", "acm", "coauthor-cs", "digits")
LINKED = ("cora", "citeseer", "pubmed", "wiki", "amazon-photo", "acm")
CLASSIFIED = ("cora", "citeseer", "pubmed")
# Means of both halves are shown, so that a rule that fits one of them only is seen at once.
HALVES = {
    "mean of half 1": ("cora", "acm", "amazon-photo", "digits"),
    "mean of half 2": ("citeseer", "pubmed", "wiki", "coauthor-cs"),
}
WIDE = ("coauthor-cs",)  # so many features that K-means on the embedding itself would take an hour
AUTO = {"n_hops": "auto"}

# Settings of the embedding, and of the task.
Steps = Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]
CLUSTERING: Steps = {
    "20 hops, K-means": ({}, {"method": "kmeans", "n_init": 5}),
    "+ preprocessing": ({"preprocessing": "auto"}, {"method": "kmeans", "n_init": 5}),
    "+ mixture": ({"preprocessing": "auto"}, {"method": "mixture"}),
    "+ consensus at 20 hops": ({"preprocessing": "auto"}, {}),
    "+ consensus over hops: auto": (AUTO, {}),
    "auto without preprocessing": (AUTO | {"preprocessing": "none"}, {}),
    "auto, mixture": (AUTO, {"method": "mixture"}),
    "auto, center mean": (AUTO | {"center": "mean"}, {}),
}
LINKS: Steps = {
    "20 hops, inner product": ({}, {"score": "inner"}),
    "+ preprocessing": ({"preprocessing": "auto"}, {"score": "inner"}),
    "+ hops and center: auto, cosine": (AUTO, {"score": "cosine"}),
    "+ link head: auto": (AUTO, {}),
    "auto without preprocessing": (AUTO | {"preprocessing": "none"}, {}),
    "auto, center none": (AUTO | {"center": "none"}, {}),
}
CLASSIFICATION: Steps = {
    "20 hops": ({}, {}),
    "+ preprocessing": ({"preprocessing": "auto"}, {}),
    "+ three best on validation nodes: auto": (AUTO, {}),
}


def _made(graph: Graph, settings: Mapping[str, Any], goal: str) -> Any:
    assert graph.labels is not None
    # Of the labels their number is used, as every clustering has to be told it.
    classes = len(graph.labels.classes)
    return embed(graph, goal=goal, n_clusters=classes, dim="full", **settings).matrix


def _clusters(name: str, settings: Mapping[str, Any], judge: Mapping[str, Any], seeds: int) -> Values:
    graph = dataset(name).graph
    assert graph.labels is not None
    if settings.get("n_hops") == "auto" and "method" not in judge:
        # Every seed makes the whole choice again.
        chosen = Settings.of(n_clusters=len(graph.labels.classes), dim="full", **settings)
        return evaluate_clustering(search_clusters(Job.of(graph, chosen)), graph, seeds=seeds).values
    return evaluate_clustering(_made(graph, settings, "clusters"), graph, seeds=seeds, **judge).values


def _links(name: str, settings: Mapping[str, Any], judge: Mapping[str, Any], seeds: int) -> Values:
    make = partial(_made, settings=settings, goal="links")
    return evaluate_links(dataset(name).graph, make, splits=seeds, **judge).values


def _classes(name: str, settings: Mapping[str, Any], _: Mapping[str, Any], __: int) -> Values:
    data = dataset(name)
    assert data.split is not None
    if settings.get("n_hops") == "auto":
        embeddings = embeddings_for_classes(data.graph, Settings.of(dim="full", **settings))
        return evaluate_class_vote(embeddings, data.graph, [data.split]).values
    return evaluate_classification(_made(data.graph, settings, "clusters"), data.graph, [data.split]).values


Measure = Callable[[str, Mapping[str, Any], Mapping[str, Any], int], Values]
TASKS: dict[str, tuple[tuple[str, ...], Steps, tuple[str, ...], Measure]] = {
    "clustering": (CLUSTERED, CLUSTERING, ("ACC", "NMI", "ARI"), _clusters),
    "links": (LINKED, LINKS, ("AUC", "AP", "AUC hard", "Hits@50", "MRR"), _links),
    "classification": (CLASSIFIED, CLASSIFICATION, ("ACC",), _classes),
}


def _key(task: str, name: str, step: str, seeds: int) -> str:
    return f"{NAME}/{task}/{name}/{step}/{seeds} seeds"


def _present(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if is_present(find(name))]


def _cells(effort: Effort) -> list[Cell]:
    seeds = effort.seeds
    return [
        Cell(_key(task, name, step, seeds), partial(measure, name, settings, judge, seeds))
        for task, (names, steps, _, measure) in TASKS.items()
        for name in _present(names)
        for step, (settings, judge) in steps.items()
        if _is_due(name, judge)
    ]


def _is_due(name: str, judge: Mapping[str, Any]) -> bool:
    return name not in WIDE or judge.get("method") != "kmeans"


def _mean(values: Sequence[Any]) -> str:
    return f"{100 * float(np.mean([np.mean(value) for value in values])):.1f}" if values else ""


def _write(store: Store, effort: Effort) -> list[Path]:
    seeds = effort.seeds
    rows = []
    for task, (names, steps, metrics, _) in TASKS.items():
        here = _present(names)
        for metric in metrics if here else ():
            for step, (_, judge) in steps.items():
                found = {
                    name: store[_key(task, name, step, seeds)][metric]
                    for name in here
                    if _is_due(name, judge)
                }
                shown = [percent(found[name]) if name in found else "" for name in CLUSTERED]
                means = [np.mean(values) for name, values in found.items() if name not in WIDE]
                mean = _mean(means)
                halves = [_mean([found[name] for name in half if name in found]) for half in HALVES.values()]
                rows.append([task, metric, step, *shown, *halves, mean])
    remarks = [
        "Nothing here has seen a label but the number of clusters and, for classification, the training and "
        "validation nodes of the public split. A line with + has what the lines above it have; the others "
        f"change one thing in `auto`. Mean ± deviation over {seeds} seeds or splits; the last column is the "
        f"mean over data sets but {' and '.join(WIDE)}, where K-means takes too long.",
    ]
    header = ["task", "metric", "setting", *CLUSTERED, *HALVES, "mean"]
    return store.table(NAME, TITLE, remarks, header, rows)


TARGETS = (Target(NAME, TITLE, _cells, _write),)
