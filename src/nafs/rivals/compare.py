"""Several methods on one graph: the same splits, seeds and heads for all."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import show_bytes
from nafs._support.errors import InputError
from nafs.graph import Graph
from nafs.rivals.contract import OutOfMemoryError, Rival
from nafs.rivals.judge import judge
from nafs.tasks import random_splits

METRICS = {"links": ("AUC", "AP"), "clustering": ("ACC", "NMI", "ARI"), "classification": ("ACC", "F1")}
WITHOUT_LABELS = ("modularity", "conductance")  # how clusters are evaluated without labels
SHARE = 0.1  # of the time limit; a method that has used it gets no further seeds


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
        """Mean ± deviation of each metric, number of seeds, and seconds and peak memory of one fit."""
        values = self.values[name]
        seeds = str(len(values["seconds"]))
        shown = [f"{np.mean(values[m]):.3f}±{np.std(values[m]):.3f}" for m in self.metrics]
        memory = show_bytes(int(max(values["bytes"]))) if "bytes" in values else ""
        return [*shown, seeds, f"{np.median(values['seconds']):.2g} s", memory]

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
    limit: float = math.inf,
    progress: Callable[[str, int, int], None] | None = None,
) -> Comparison:
    """Evaluate several methods in one task, the quickest ones first.

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
    limit : float
        Seconds for all methods. One whose expected time exceeds what is left is skipped; one that has used a
        tenth of the limit gets no further seeds.
    progress : callable, optional
        Called before each fit with the method's name, the number of fits done and of all fits.

    Returns
    -------
    Comparison
        A method whose extra is missing, that does not fit into memory or time, or that fails is skipped with
        its reason.

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
    start = time.perf_counter()
    spent = dict.fromkeys((rival.name for rival in methods), 0.0)
    ordered = sorted(methods, key=lambda rival: rival.seconds(graph.n_nodes))
    # One seed of every method comes first, so that a limit leaves out as few methods as possible.
    turns = [(rival, 0) for rival in ordered]
    turns += [(rival, seed) for rival in ordered for seed in range(1, seeds)]
    for done, (rival, seed) in enumerate(turns):
        expected, left = rival.seconds(graph.n_nodes), limit - (time.perf_counter() - start)
        if rival.name in result.skipped:
            continue
        if seed and (expected > left or spent[rival.name] > SHARE * limit):  # the seeds it has still count
            continue
        if rival.missing is None and expected > left:
            result.skipped[rival.name] = f"{rival.name}: not measured within {limit:.0f} s"
            continue
        if progress is not None:
            progress(rival.name, done, len(turns))
        began = time.perf_counter()
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
        except InputError:  # about the graph or the task, not about one method
            raise
        except Exception as error:  # the other methods must not be lost with it
            result.skipped[rival.name] = f"{rival.name} failed: {type(error).__name__}: {error}"
        else:
            spent[rival.name] += time.perf_counter() - began
            for name, value in values.items():
                result.values.setdefault(rival.name, {}).setdefault(name, []).append(value)
    return result
