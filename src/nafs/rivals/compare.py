"""Several methods on one graph: the same splits, seeds and heads for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import show_bytes
from nafs.graph import Graph
from nafs.rivals.contract import OutOfMemoryError, Rival
from nafs.rivals.judge import judge
from nafs.tasks import random_splits

METRICS = {"links": ("AUC", "AP"), "clustering": ("ACC", "NMI", "ARI"), "classification": ("ACC", "F1")}
WITHOUT_LABELS = ("modularity", "conductance")  # how clusters are evaluated without labels


@dataclass(frozen=True)
class Comparison:
    """The results of several methods in one task.

    ``values`` holds the numbers of each metric, one for each seed, under the method's name; ``skipped`` says
    why a method has none.
    """

    task: str
    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that all methods have; the first one decides the order."""
        known = next(iter(self.values.values()), {})
        return tuple(name for name in (*METRICS[self.task], *WITHOUT_LABELS[:1]) if name in known)

    def ordered(self) -> list[str]:
        """Names of methods, the best one first."""
        first = self.metrics[0] if self.metrics else ""
        return sorted(self.values, key=lambda name: -float(np.mean(self.values[name][first])))

    def row(self, name: str) -> list[str]:
        """Mean ± deviation of each metric, the seconds of one fit and the peak of its memory."""
        values = self.values[name]
        shown = [f"{np.mean(values[m]):.3f}±{np.std(values[m]):.3f}" for m in self.metrics]
        memory = show_bytes(int(max(values["bytes"]))) if "bytes" in values else ""
        return [*shown, f"{np.median(values['seconds']):.2g} s", memory]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"task": self.task, "values": self.values, "skipped": self.skipped}


def compare(
    graph: Graph,
    task: str,
    methods: Sequence[Rival],
    *,
    seeds: int = 10,
    split: Mapping[str, NDArray[np.int64]] | None = None,
    n_clusters: int | None = None,
    score: str = "auto",
    dataset: str = "",
    progress: Callable[[str, int, int], None] | None = None,
) -> Comparison:
    """Evaluate several methods in one task.

    Parameters
    ----------
    graph : Graph
    task : {"links", "clustering", "classification"}
    methods : sequence of Rival
    seeds : int
        Seeds and hidden edges or, for classification without a split, random splits.
    split : mapping, optional
        For classification: nodes under "train", "validation" and "test".
    n_clusters : int, optional
        By default the number of classes.
    score : {"auto", "inner", "cosine"}
        How pairs are scored for links.
    dataset : str
        Name of a public data set, for settings that authors published.
    progress : callable, optional
        Called before each fit with the method's name, the number of fits done and of all fits.

    Returns
    -------
    Comparison
        A method whose extra is missing, or that does not fit into memory, is skipped with its reason.

    Examples
    --------
    >>> from nafs.datasets import contextual_sbm
    >>> from nafs.rivals import RIVALS, compare
    >>> graph = contextual_sbm(200, n_classes=3, signal=3.0, seed=0)
    >>> comparison = compare(graph, "links", [RIVALS["SGC"], RIVALS["raw features"]], seeds=2)
    >>> comparison.ordered()
    ['SGC', 'raw features']
    """
    result = Comparison(task)
    splits = None
    if task == "classification" and split is None:
        splits = random_splits(graph, count=seeds)
    for i, rival in enumerate(methods):
        for seed in range(seeds):
            if progress is not None:
                progress(rival.name, i * seeds + seed, len(methods) * seeds)
            try:
                values = judge(
                    rival,
                    graph,
                    task,
                    seed,
                    split=split if splits is None else splits[seed],
                    n_clusters=n_clusters,
                    score=score,
                    dataset=dataset,
                )
            except (ImportError, OutOfMemoryError) as error:
                result.skipped[rival.name] = str(error)
                break
            for name, value in values.items():
                result.values.setdefault(rival.name, {}).setdefault(name, []).append(value)
    return result
