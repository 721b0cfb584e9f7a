"""What a rival is, and what it may know about a graph.

A rival is asked to solve a :class:`Problem`. The problem holds only what the rival may know: no labels for
clustering and links, the labels of training and validation nodes for classification, and for links only the
edges that were not hidden. A rival therefore cannot see the data that it is evaluated on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.budget import free_memory, show_bytes
from nafs._support.errors import InputError, MemoryLimitError, MissingExtraError
from nafs.graph import Graph
from nafs.structure import structural_features

TASKS = ("links", "clustering", "classification")
CORA = 2708  # nodes
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph and a task, without the answers.

    Attributes
    ----------
    graph : Graph
        Undirected, with features and without labels.
    task : {"links", "clustering", "classification"}
    n_clusters : int
        Number of classes or clusters; 0 if the task does not need it.
    codes : ndarray of int, optional
        For classification: the class of each training and validation node, -1 for all others.
    train, validation : ndarray of int, optional
        Those nodes.
    dataset : str
        Name of a public data set for which authors published settings; empty for any other graph.
    """

    graph: Graph
    task: str
    n_clusters: int = 0
    codes: NDArray[np.int64] | None = None
    train: NDArray[np.int64] | None = None
    validation: NDArray[np.int64] | None = None
    dataset: str = ""

    @property
    def features(self) -> Any:
        """The features, a float32 ndarray or a SciPy CSR array."""
        assert self.graph.features is not None
        return self.graph.features.sparse if self.graph.features.dense is None else self.graph.features.dense

    @property
    def dense_features(self) -> NDArray[np.float32]:
        """The features as a float32 ndarray."""
        features = self.features
        return np.asarray(features.toarray() if sp.issparse(features) else features, np.float32)


class OutOfMemoryError(MemoryLimitError):
    """A rival needs more memory than is free; ``needs`` is the number of bytes."""

    needs = 0


def dense_bytes(graph: Graph, width: int = 0) -> int:
    """Bytes of a dense float32 matrix with the graph's features, or ``width`` columns, and of two copies."""
    columns = width or (128 if graph.features is None else graph.features.shape[1])
    return 12 * graph.n_nodes * columns + 2 * graph.nbytes


def square_bytes(graph: Graph, copies: int = 1) -> int:
    """Bytes of n × n float32 matrices, besides the features."""
    return 4 * copies * graph.n_nodes**2 + dense_bytes(graph)


Fit = Callable[..., NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Rival:
    """A system to compare with.

    Attributes
    ----------
    name : str
    tasks : tuple of str
        The tasks that the system can solve.
    fit : callable
        ``fit(problem, seed, progress, **settings)`` returns an embedding, one row for each node, or a
        prediction, one cluster or class for each node. It calls ``progress(done, total)`` after each epoch
        or hop; an exception raised there stops it.
    settings : mapping
        Keyword arguments of ``fit``.
    tuned : mapping
        Settings that replace some of those, under the name of a task or of a data set for which authors
        published others.
    reference : str
        The paper that defines it.
    extra : str, optional
        The extra that installs its dependencies.
    cost : float
        Seconds on Cora, on one core.
    growth : float
        Exponent with which the cost grows with the number of nodes.
    seeded : bool
        Whether the seed makes a difference.
    memory : callable
        Estimated bytes that ``fit`` takes for a graph.
    """

    name: str
    tasks: tuple[str, ...]
    fit: Fit
    reference: str
    cost: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    tuned: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    extra: str | None = None
    growth: float = 1.0
    seeded: bool = True
    memory: Callable[[Graph], int] = dense_bytes

    def seconds(self, n_nodes: int = CORA) -> float:
        """Estimated seconds on one core for a graph of that size."""
        return float(self.cost * (n_nodes / CORA) ** self.growth)

    @property
    def missing(self) -> str | None:
        """The first module of its extra that is not installed."""
        return next((name for name in MODULES.get(self.extra or "", ()) if find_spec(name) is None), None)

    def settings_for(self, problem: Problem) -> dict[str, Any]:
        """The settings for a task and, where authors published some, for a data set."""
        tuned = self.tuned.get
        return {**self.settings, **tuned(problem.task, {}), **tuned(problem.dataset, {})}

    def check(self, task: str) -> None:
        """Raise if the rival cannot solve a task or its extra is missing."""
        if task not in self.tasks:
            raise InputError(f"{self.name} cannot do {task}, only {' and '.join(self.tasks)}")
        if self.missing is not None:
            raise MissingExtraError(f"{self.name} needs {self.missing}: pip install 'nafs[{self.extra}]'")

    def __call__(self, problem: Problem, seed: int = 0, progress: Progress | None = None) -> NDArray[Any]:
        """Solve a problem."""
        self.check(problem.task)
        needs, limit = self.memory(problem.graph), free_memory()
        if needs > limit:
            free = f"{show_bytes(limit)} are free"
            error = OutOfMemoryError(f"{self.name}: out of memory (needs {show_bytes(needs)}; {free})")
            error.needs = needs
            raise error
        result = self.fit(problem, seed, progress or silent, **self.settings_for(problem))
        return np.asarray(result)


MODULES = {"rivals": ("torch", "torch_geometric", "gensim")}


def silent(done: int, total: int) -> None:
    """A progress callback that does nothing."""


def problem_of(
    graph: Graph,
    task: str,
    *,
    n_clusters: int | None = None,
    split: Mapping[str, NDArray[np.int64]] | None = None,
    dataset: str = "",
) -> Problem:
    """The problem for a graph, without the labels that are used for evaluation.

    Parameters
    ----------
    graph : Graph
        Undirected. If it has no features, structural ones are added.
    task : {"links", "clustering", "classification"}
    n_clusters : int, optional
        By default the number of classes.
    split : mapping, optional
        For classification: nodes under "train" and "validation".
    dataset : str
        Name of a public data set.

    Returns
    -------
    Problem

    Examples
    --------
    >>> from nafs.datasets import contextual_sbm
    >>> from nafs.rivals import problem_of
    >>> problem = problem_of(contextual_sbm(100, n_classes=3), "clustering")
    >>> problem.n_clusters, problem.graph.labels
    (3, None)
    """
    if graph.adjacency.directed:
        raise InputError("rivals are defined for undirected graphs: read the graph with directed=False")
    labels = graph.labels
    features = structural_features(graph) if graph.features is None else graph.features
    bare = Graph(graph.adjacency, features)
    clusters = n_clusters or (0 if labels is None else len(labels.classes))
    if task != "classification":
        if task == "clustering" and clusters < 2:
            raise InputError("clustering needs labels or the number of clusters")
        return Problem(bare, task, clusters, dataset=dataset)
    if labels is None or split is None:
        raise InputError("classification needs labels, and the graph has none")
    known = np.full(graph.n_nodes, -1, np.int64)
    parts = {}
    for part in ("train", "validation"):
        nodes = split[part][labels.codes[split[part]] >= 0]
        parts[part] = nodes
        known[nodes] = labels.codes[nodes]
    return Problem(bare, task, len(labels.classes), known, parts["train"], parts["validation"], dataset)
