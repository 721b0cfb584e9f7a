"""What is chosen where the settings leave something open, and the sweep that choices are made with.

Choices are made on a few leading directions of the features, for which smoothing costs a fraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nafs.clustering import Clustering
from nafs.engines import memory
from nafs.engines.base import FeatureSize, Problem
from nafs.engines.resources import Resources
from nafs.graph import Adjacency, Features
from nafs.selection.settings import Preparations
from nafs.smoothing.method import MethodSettings

LADDER = (1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 45, 60)  # numbers of hops that "auto" chooses from
COLUMNS = 64  # leading directions of the features that choices are made with, about
PATIENCE = 3  # steps of the ladder without a better value after which the search stops

Remake = Callable[[Adjacency], Features]


@dataclass(frozen=True)
class Choice:
    """What was chosen, and why.

    Attributes
    ----------
    n_hops : int
    preprocessing, center : str
    reasons : tuple of str
        A line for each choice.
    curve : dict
        The criterion at each number of hops that was tried.
    score : str
        For links: the score with the best result.
    clustering : Clustering, optional
        For clusters: the clusters that the number of hops was chosen with, and how sure they are.
    """

    n_hops: int
    preprocessing: str
    center: str
    reasons: tuple[str, ...] = ()
    curve: dict[int, float] = field(default_factory=dict)
    score: str | None = None
    clustering: Clustering | None = None

    def explain(self) -> str:
        """The reasons, one line each."""
        return "\n".join(self.reasons) or "nothing was left to choose"


@dataclass(frozen=True, eq=False)
class Question:
    """What a choice of the number of hops is made from.

    ``held`` are the bytes that copies of the inputs hold; ``remake`` makes the features from a graph where
    they come from the edges, because hidden edges must not show in them.
    """

    graph: Adjacency
    features: Features
    method: MethodSettings
    preparations: Preparations
    resources: Resources
    preprocessing: str
    centers: tuple[str, ...]
    held: int = 0
    remake: Remake | None = None

    def sweep(
        self, graph: Adjacency, narrow: Features, ladder: tuple[int, ...]
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Embeddings of a few directions along the ladder."""
        method = replace(self.method.method(ladder[-1]), ensemble="mean")
        held = self.held + narrow.nbytes
        return memory.sweep(
            Problem(graph, FeatureSize.of(narrow), method, self.resources, held), narrow, ladder
        )


def search_is_over(curve: dict[int, float]) -> bool:
    """Whether the last steps have all been below the best."""
    values = list(curve.values())
    return len(values) - 1 - int(np.argmax(values)) >= PATIENCE
