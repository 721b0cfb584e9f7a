"""The tables of link prediction, clustering and classification.

Three columns of truth for each number: the published one; the paper's own number of hops, which it chose with
the labels of the test, measured here; and one number of hops for everything, chosen without looking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nafs.datasets import Dataset, load_dataset
from nafs.embedding import embed
from nafs.graph import Graph
from nafs.reproduce import published
from nafs.reproduce.rivals import RIVALS
from nafs.reproduce.store import Store, as_csv, as_markdown, show
from nafs.smoothing.method import DEFAULT_R
from nafs.tasks import TaskResult, evaluate_classification, evaluate_clustering, evaluate_links

HOPS = 20  # of the method's default, for every data set
HEADER = ["data set", "method", "metric", "published", "paper's hops, here", "nothing chosen, here"]

Make = Callable[[Graph], Any]
Told = Callable[[str], None]


@dataclass(frozen=True)
class Target:
    """One table: its data sets, its metrics, and how a cell is measured."""

    name: str
    title: str
    datasets: Sequence[str]
    metrics: Sequence[str]
    numbers: published.Numbers
    others: published.Numbers
    hops: dict[str, dict[str, int]]
    r: dict[str, tuple[float, ...]]
    measure: Callable[[Dataset, Make, int], TaskResult]
    remark: str


def _links(data: Dataset, make: Make, seeds: int) -> TaskResult:
    return evaluate_links(data.graph, make, splits=seeds)


def _clusters(data: Dataset, make: Make, seeds: int) -> TaskResult:
    return evaluate_clustering(np.asarray(make(data.graph)), data.graph, seeds=seeds)


def _classes(data: Dataset, make: Make, seeds: int) -> TaskResult:
    assert data.split is not None
    return evaluate_classification(np.asarray(make(data.graph)), data.graph, [data.split])


TARGETS = {
    target.name: target
    for target in (
        Target(
            "links",
            "Link prediction",
            published.CITATIONS,
            ("AUC", "AP"),
            published.LINKS,
            published.LINKS_OF_OTHERS,
            published.LINK_HOPS,
            published.LINK_R,
            _links,
            "Edges split 85/5/10, as many non-edges; inner products; mean ± deviation over {seeds} splits.",
        ),
        Target(
            "clustering",
            "Node clustering",
            published.CLUSTERED,
            ("ACC", "NMI", "ARI"),
            published.CLUSTERS,
            published.CLUSTERS_OF_OTHERS,
            published.CLUSTER_HOPS,
            {},
            _clusters,
            "K-means on the embedding as it is, best of 10 starts; mean ± deviation over {seeds} seeds.",
        ),
        Target(
            "classification",
            "Node classification",
            published.CITATIONS,
            ("ACC",),
            published.CLASSES,
            published.CLASSES_OF_OTHERS,
            published.CLUSTER_HOPS,
            {},
            _classes,
            "Logistic regression on the frozen embedding, public split, strength chosen on validation. The "
            "paper does not say its number of hops for this task; those of its clustering table are taken.",
        ),
    )
}


def reproduce(target: Target, folder: Path, *, seeds: int = 10, told: Told | None = None) -> list[Path]:
    """Measure a table and write it as Markdown and CSV.

    Parameters
    ----------
    target : Target
    folder : Path
        Cells that were measured before are taken from there.
    seeds : int
        Seeds or splits.
    told : callable, optional
        Called with what is measured next.

    Returns
    -------
    list of Path
        The files written.
    """
    store = Store(folder)
    rows: list[list[str]] = []
    for name in target.datasets:
        data = load_dataset(name)

        def cell(method: str, make: Make, data: Dataset = data) -> TaskResult:
            if told is not None:
                told(f"{target.name}: {data.name}, {method}")
            key = f"{target.name}/{data.name}/{method}/{seeds}"
            return store.cell(key, lambda: target.measure(data, make, seeds))

        for method, numbers in target.others.items():
            rows += _rows(name, f"{method} (as published)", target.metrics, numbers[name], None, None)
        for rival, make in RIVALS.items():
            rows += _rows(name, rival, target.metrics, None, None, cell(rival, make))
        for variant in published.VARIANTS:
            r, hops = target.r.get(name, DEFAULT_R), target.hops[variant][name]
            theirs = cell(f"NAFS-{variant}, K={hops}", _nafs(hops, r, variant))
            ours = cell(f"NAFS-{variant}, K={HOPS}", _nafs(HOPS, DEFAULT_R, variant))
            rows += _rows(
                name,
                f"NAFS-{variant} (K={hops})",
                target.metrics,
                target.numbers[variant][name],
                theirs,
                ours,
            )
    remarks = [
        target.remark.format(seeds=seeds),
        f"The paper's hops were chosen with the labels of the test; in the last column "
        f"NAFS has {HOPS} hops everywhere, and the rivals what their name says. "
        "A published number that its own hops do not reach here, by more than two deviations and half a "
        "point, is marked !.",
    ]
    return [
        store.write(f"{target.name}.md", as_markdown(target.title, remarks, HEADER, rows)),
        store.write(f"{target.name}.csv", as_csv(HEADER, rows)),
    ]


def _nafs(hops: int, r: tuple[float, ...], variant: str) -> Make:
    return lambda graph: embed(graph, n_hops=hops, r=r, ensemble=variant).matrix


def _rows(
    dataset: str,
    method: str,
    metrics: Sequence[str],
    numbers: tuple[float, ...] | None,
    theirs: TaskResult | None,
    ours: TaskResult | None,
) -> list[list[str]]:
    found = []
    for i, metric in enumerate(metrics):
        number = None if numbers is None else numbers[i]
        here = "" if theirs is None else show(theirs, metric)
        if theirs is not None and number is not None:
            reach = 100 * (theirs.mean(metric) + 2 * theirs.deviation(metric)) + 0.5
            here += " !" if number > reach else ""
        found.append(
            [
                dataset,
                method,
                metric,
                "" if number is None else f"{number:.1f}",
                here,
                "" if ours is None else show(ours, metric),
            ]
        )
    return found
