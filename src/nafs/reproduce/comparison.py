"""The tables of link prediction, clustering and classification, and the one against NDLS made from them.

Three columns of truth for each number: the published one; the number of hops of the authors' program for this
data set, measured here; and one number of hops for everything, chosen without looking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nafs.datasets import Dataset
from nafs.embedding import embed
from nafs.reproduce import published
from nafs.reproduce.rivals import CLUSTERING_RIVALS, RIVALS, Rival
from nafs.reproduce.store import Store, Values, percent
from nafs.reproduce.target import Cell, Target, dataset
from nafs.smoothing.method import DEFAULT_R
from nafs.tasks import TaskResult, evaluate_classification, evaluate_clustering, evaluate_links

HOPS = 20  # of the method's default, for every data set
LARGE, STARTS_LARGE = 10_000, 3  # nodes, and starts there: of three, one is good on PubMed
STARTS = 10  # of K-means for each seed, as scikit-learn had by default when the paper was written
HEADER = ["data set", "method", "metric", "published", "paper's hops, here", "nothing chosen, here"]
EXPLANATION = (
    "The paper took the best of 1 to 70 hops for each data set and variant; those of its authors' program "
    f"are taken here. In the last column NAFS has {HOPS} hops everywhere, and the rivals have what their "
    "name says. A published number that the paper's hops do not reach here, by more than two deviations and "
    "half a point, is marked !."
)


@dataclass(frozen=True)
class Task:
    """How embeddings are compared by one task."""

    name: str
    title: str
    datasets: Sequence[str]
    metrics: Sequence[str]
    numbers: published.Numbers
    others: published.Numbers
    hops: Mapping[str, Mapping[str, int]]
    measure: Callable[[Dataset, Rival, int], TaskResult]
    remark: str
    r: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    seeded: bool = True
    rivals: Mapping[str, Rival] = field(default_factory=lambda: RIVALS)

    def cell(self, name: str, method: str, make: Rival, seeds: int) -> Cell:
        """The measurement of one method on one data set."""

        def measure() -> Values:
            return self.measure(dataset(name), make, seeds).values

        return Cell(self.key(name, method, seeds), measure)

    def key(self, name: str, method: str, seeds: int) -> str:
        """Where that measurement is kept."""
        return f"{self.name}/{name}/{method}" + (f"/{seeds} seeds" if self.seeded else "")

    def published_way(self, name: str, variant: str, seeds: int) -> Cell:
        """NAFS with the paper's hops."""
        hops = self.hops[variant][name]
        r = self.r.get(name, DEFAULT_R)
        return self.cell(name, f"NAFS-{variant}, K={hops}, r={r}", nafs(hops, r, variant), seeds)

    def plain_way(self, name: str, variant: str, seeds: int) -> Cell:
        """NAFS with the same hops everywhere."""
        make = nafs(HOPS, DEFAULT_R, variant)
        return self.cell(name, f"NAFS-{variant}, K={HOPS}, r={DEFAULT_R}", make, seeds)


def nafs(hops: int, r: tuple[float, ...], variant: str) -> Rival:
    """The method, with its choices made."""
    return lambda graph: embed(graph, n_hops=hops, r=r, ensemble=variant).matrix


def _links(data: Dataset, make: Rival, seeds: int) -> TaskResult:
    return evaluate_links(data.graph, make, splits=seeds, score="inner")


def _clusters(data: Dataset, make: Rival, seeds: int) -> TaskResult:
    matrix = np.asarray(make(data.graph))
    starts = STARTS if len(matrix) <= LARGE else STARTS_LARGE
    return evaluate_clustering(matrix, data.graph, method="kmeans", seeds=seeds, n_init=starts)


def _classes(data: Dataset, make: Rival, seeds: int) -> TaskResult:
    assert data.split is not None
    return evaluate_classification(np.asarray(make(data.graph)), data.graph, [data.split])


LINKS = Task(
    "links",
    "Link prediction",
    published.CITATIONS,
    ("AUC", "AP"),
    published.LINKS,
    published.LINKS_OF_OTHERS,
    published.LINK_HOPS,
    _links,
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
    _clusters,
    f"K-means on the embedding as it is, best of {STARTS} starts ({STARTS_LARGE} on PubMed); mean ± "
    "deviation over {seeds} seeds. AGC and spectral clustering have the input of K-means that their papers "
    "prescribe.",
    rivals=CLUSTERING_RIVALS,
)
CLASSIFICATION = Task(
    "classification",
    "Node classification",
    published.CITATIONS,
    ("ACC",),
    published.CLASSES,
    published.CLASSES_OF_OTHERS,
    published.CLUSTER_HOPS,
    _classes,
    "Logistic regression on the frozen embedding, public split, strength chosen on validation. The "
    "paper does not say its number of hops for this task; those of its clustering table are taken.",
    seeded=False,
)


def comparison_cells(task: Task, seeds: int) -> list[Cell]:
    """Every method on every data set of a task."""
    found = []
    for name in task.datasets:
        found += [task.cell(name, rival, make, seeds) for rival, make in task.rivals.items()]
        for variant in published.VARIANTS:
            found += [task.published_way(name, variant, seeds), task.plain_way(name, variant, seeds)]
    return list({cell.key: cell for cell in found}.values())  # the paper's hops may be 20 too


def write_comparison(task: Task, store: Store, seeds: int) -> list[Path]:
    """The table of a task."""
    rows: list[list[str]] = []
    for name in task.datasets:
        for method, numbers in task.others.items():
            rows += rows_of(name, f"{method} (as published)", task.metrics, numbers[name])
        for rival in task.rivals:
            rows += rows_of(name, rival, task.metrics, ours=store[task.key(name, rival, seeds)])
        for variant in published.VARIANTS:
            rows += variant_rows(task, store, name, variant, seeds)
    remarks = [task.remark.format(seeds=seeds), EXPLANATION]
    return store.table(task.name, task.title, remarks, HEADER, rows)


def variant_rows(task: Task, store: Store, name: str, variant: str, seeds: int) -> list[list[str]]:
    """The rows of one of the paper's three variants."""
    return rows_of(
        name,
        f"NAFS-{variant} (K={task.hops[variant][name]})",
        task.metrics,
        task.numbers[variant][name],
        store[task.published_way(name, variant, seeds).key],
        store[task.plain_way(name, variant, seeds).key],
    )


def rows_of(
    first: str,
    method: str,
    metrics: Sequence[str],
    numbers: tuple[float, ...] | None = None,
    theirs: Values | None = None,
    ours: Values | None = None,
) -> list[list[str]]:
    """One row for each metric: published, with the paper's hops, with ours."""
    found = []
    for i, metric in enumerate(metrics):
        number = None if numbers is None else numbers[i]
        here = "" if theirs is None else percent(theirs[metric])
        if theirs is not None and number is not None and out_of_reach(number, theirs[metric]):
            here += " !"
        shown = "" if number is None else f"{number:.1f}"
        found.append([first, method, metric, shown, here, "" if ours is None else percent(ours[metric])])
    return found


def out_of_reach(number: float, values: Sequence[float]) -> bool:
    """Whether a published number lies above what was measured by two deviations and half a point."""
    return number > 100 * (float(np.mean(values)) + 2 * float(np.std(values))) + 0.5


def _target(task: Task) -> Target:
    return Target(task.name, task.title, partial(comparison_cells, task), partial(write_comparison, task))


def _against_ndls(seeds: int) -> list[Any]:
    return [
        cell
        for task in (CLUSTERING, LINKS)
        for name in task.datasets
        for cell in (
            task.cell(name, "NDLS", RIVALS["NDLS"], seeds),
            task.published_way(name, "concat", seeds),
            task.plain_way(name, "concat", seeds),
        )
    ]


def _write_against_ndls(store: Store, seeds: int) -> list[Path]:
    rows: list[list[str]] = []
    for task, numbers in ((CLUSTERING, published.NDLS_CLUSTERS), (LINKS, published.NDLS_LINKS)):
        for name in task.datasets:
            found = store[task.key(name, "NDLS", seeds)]
            both = [
                *rows_of(name, "NDLS", task.metrics, numbers[name], None, found),
                *variant_rows(task, store, name, "concat", seeds),
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
