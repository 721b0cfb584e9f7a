"""Choices for settings of "auto", and the sweep over hops that they are based on.

The sweep smooths only a few leading directions of the features, which costs a fraction of the full run.
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
from nafs.links import LinkHead
from nafs.selection.settings import Preparations
from nafs.smoothing.method import MethodSettings

LADDER = (1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 45, 60)  # candidates of n_hops="auto"
COLUMNS = 64  # approximate number of leading directions in the sweep
PATIENCE = 3  # steps of the ladder without improvement before the search stops
LARGE = 50_000  # nodes; choices for larger graphs save time where that hardly changes them

Remake = Callable[[Adjacency], Features]


@dataclass(frozen=True)
class Choice:
    """The chosen settings, and why.

    Attributes
    ----------
    n_hops : int
    preprocessing, center : str
    reasons : tuple of str
        One line per choice.
    curve : dict
        The criterion for each number of hops that was tried.
    score : str
        For links: the score with the highest AUC.
    head : LinkHead, optional
        For links: the head that scores pairs of nodes, fitted on the hidden edges.
    suggest_by : str
        For links: "head", or "cosine" if that puts more hidden edges first.
    directions : ndarray, optional
        For clusters: the directions that the prepared features were reduced to.
    clustering : Clustering, optional
        For clusters: the clusters that the number of hops was chosen with, and how reliable they are.
    """

    n_hops: int
    preprocessing: str
    center: str
    reasons: tuple[str, ...] = ()
    curve: dict[int, float] = field(default_factory=dict)
    score: str | None = None
    clustering: Clustering | None = field(default=None, compare=False)
    head: LinkHead | None = None
    directions: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    suggest_by: str | None = None

    def explain(self) -> str:
        """The reasons, one line each."""
        return "\n".join(self.reasons) or "nothing was chosen automatically"


@dataclass(frozen=True, eq=False)
class Question:
    """The inputs of the search for the number of hops.

    ``held`` counts the bytes in use by copies of the inputs. ``remake`` recomputes structural features from a
    graph, because hidden edges must not influence them.
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

    def with_two_r(self) -> Question:
        """The same with two r's, placed so that their mean is about the mean of all r's."""
        r = self.method.method(0).r
        side = len(r) // 6
        return replace(self, method=replace(self.method, r=tuple(sorted({r[side], r[len(r) - 1 - side]}))))

    def sweep_nbytes(self, size: FeatureSize, ladder: tuple[int, ...], *, held: int = 0) -> int:
        """Bytes that count towards the limit in :meth:`sweep` over features of a given size."""
        method = replace(self.method.method(ladder[-1]), ensemble="mean")
        held += self.held + size.nbytes
        return memory.sweep_nbytes(Problem(self.graph, size, method, self.resources, held))

    def sweep(
        self, graph: Adjacency, narrow: Features, ladder: tuple[int, ...], *, held: int = 0
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Embeddings of the reduced features for each step of the ladder; ``held`` bytes are in use."""
        method = replace(self.method.method(ladder[-1]), ensemble="mean")
        held += self.held + narrow.nbytes
        return memory.sweep(
            Problem(graph, FeatureSize.of(narrow), method, self.resources, held), narrow, ladder
        )


def search_is_over(curve: dict[int, float], tolerance: float = 0.0) -> bool:
    """Whether the last steps brought no improvement of more than the tolerance."""
    return list(curve).index(fewest_hops(curve, tolerance)) + PATIENCE < len(curve)


def fewest_hops(curve: dict[int, float], tolerance: float = 0.0) -> int:
    """The smallest number of hops whose value is within the tolerance of the best.

    Examples
    --------
    >>> from nafs.selection.choice import fewest_hops
    >>> fewest_hops({1: 0.8, 2: 0.9, 3: 0.901}), fewest_hops({1: 0.8, 2: 0.9, 3: 0.901}, 0.002)
    (3, 2)
    """
    least = max(curve.values()) - tolerance
    return next(hops for hops, value in curve.items() if value >= least)
