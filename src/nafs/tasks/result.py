"""The result of a task: each metric over several seeds or splits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs._support.markup import html_table
from nafs.graph import Graph


@dataclass(frozen=True)
class TaskResult:
    """Metrics of one task, a value for each seed or split; ``print`` shows mean ± deviation.

    Examples
    --------
    >>> from nafs.tasks import TaskResult
    >>> print(TaskResult("clustering", {"NMI": [0.5, 0.7]}, "2 seeds"))
    clustering (2 seeds)
    NMI    0.600 ± 0.100
    """

    task: str
    values: dict[str, list[float]]
    how: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def mean(self, metric: str) -> float:
        """Mean of a metric."""
        return float(np.mean(self.values[metric]))

    def deviation(self, metric: str) -> float:
        """Population standard deviation of a metric over the runs."""
        return float(np.std(self.values[metric]))

    def rows(self) -> list[tuple[str, str]]:
        """Metric and "mean ± deviation"."""
        return [(name, f"{self.mean(name):.3f} ± {self.deviation(name):.3f}") for name in self.values]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        metrics = {name: {"mean": self.mean(name), "deviation": self.deviation(name)} for name in self.values}
        return {"task": self.task, "how": self.how, "metrics": metrics, "settings": self.settings}

    def _repr_html_(self) -> str:
        return html_table(self.rows(), caption=f"{self.task} ({self.how})")

    def __str__(self) -> str:
        width = max(len(name) for name in self.values) + 4
        lines = [f"{name:<{width}}{value}" for name, value in self.rows()]
        return "\n".join([f"{self.task} ({self.how})", *lines])


def check_rows(embedding: Any, graph: Graph) -> NDArray[Any]:
    """The matrix of an embedding; raises if it does not have one row of finite numbers per node."""
    matrix: NDArray[Any] = np.asarray(embedding)
    if matrix.ndim != 2 or len(matrix) != graph.n_nodes or not matrix.shape[1]:
        raise InputError(
            f"the embedding has shape {matrix.shape} for {graph.n_nodes} nodes; one row each is needed"
        )
    if not np.isfinite(matrix.sum(dtype=np.float64)) and not np.isfinite(matrix).all():
        raise InputError("the embedding contains NaN or inf")
    return matrix
