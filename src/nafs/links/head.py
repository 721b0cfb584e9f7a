"""The link head: a logistic regression on a few numbers that describe a pair of nodes.

An embedding shows which nodes are similar, the edges show which nodes are close. Which matters more depends
on the graph: citations follow the topic, co-purchases follow earlier purchases. The weights are fitted on
hidden edges against pairs without an edge, drawn uniformly and, with less weight, in proportion to degrees;
otherwise the head would mostly learn that hubs have many links.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.graph import Adjacency
from nafs.links.pairs import Pairs, shared_neighbors

NUMBERS = {
    "cosine": "similar vectors",
    "centred cosine": "vectors that differ from the mean in the same way",
    "inner": "long vectors in similar directions",
    "resource allocation": "shared neighbors with few other links",
    "common neighbors": "many shared neighbors",
    "Jaccard": "a large share of their neighbors in common",
    "degrees": "well-connected nodes",
    "degree difference": "a hub and a node with few links",
}
BY_DEGREE = 1 / 3  # weight of a non-edge drawn by degree, relative to one drawn uniformly
_BLOCK = 1 << 16  # pairs at a time


class PairNumbers:
    """The numbers of pairs of nodes, from the edges and from vectors.

    Parameters
    ----------
    graph : Adjacency
        Without the hidden edges.
    matrix : ndarray of shape (n, d)
        An embedding.
    """

    def __init__(self, graph: Adjacency, matrix: NDArray[Any]) -> None:
        self.graph, self.matrix = graph, matrix
        self.degrees = np.maximum(np.diff(graph.indptr), 1).astype(np.float64)
        self.mean = matrix.mean(axis=0, dtype=np.float64)

    @cached_property
    def _lengths(self) -> NDArray[np.float64]:
        step = max(1, (1 << 22) // self.matrix.shape[1])
        parts = [
            np.linalg.norm(self.matrix[top : top + step].astype(np.float64), axis=1)
            for top in range(0, len(self.matrix), step)
        ]
        return np.concatenate(parts)

    def of(self, pairs: Pairs) -> NDArray[np.float64]:
        """One row for each pair, one column for each of ``NUMBERS``."""
        step = max(1, min(_BLOCK, (1 << 23) // self.matrix.shape[1]))
        parts = [self._block(pairs[top : top + step]) for top in range(0, len(pairs), step)]
        return np.concatenate(parts) if parts else np.empty((0, len(NUMBERS)))

    def _block(self, pairs: Pairs) -> NDArray[np.float64]:
        first, second = pairs[:, 0], pairs[:, 1]
        a, b = (self.matrix[ends].astype(np.float64) for ends in (first, second))
        inner = np.einsum("ij,ij->i", a, b)
        typical = float((self._lengths**2).mean()) or 1.0
        at, shared = shared_neighbors(self.graph, pairs)
        common = np.bincount(at, minlength=len(pairs)).astype(np.float64)
        allocated = np.bincount(at, weights=1 / self.degrees[shared], minlength=len(pairs))
        # A node without edges counts as one with a single edge: in a split, its edges may be hidden.
        d, e = self.degrees[first], self.degrees[second]
        return np.column_stack(
            [
                _cosine(a, b),
                _cosine(a - self.mean, b - self.mean),
                inner / typical,
                np.sqrt(allocated),
                np.log1p(common),
                np.sqrt(common / np.maximum(d + e - common, 1)),
                np.log(d) + np.log(e),
                np.abs(np.log(d) - np.log(e)),
            ]
        )


@dataclass(frozen=True)
class LinkHead:
    """Weights of the numbers of a pair.

    Attributes
    ----------
    weights, means, spreads : tuple of float
        One for each of ``NUMBERS``: a pair scores Σ weight · (number - mean) / spread.
    """

    weights: tuple[float, ...]
    means: tuple[float, ...]
    spreads: tuple[float, ...]

    @classmethod
    def fit(cls, numbers: PairNumbers, edges: Pairs, uniform: Pairs, by_degree: Pairs) -> LinkHead:
        """Fit the weights on hidden edges and on pairs without an edge.

        Parameters
        ----------
        numbers : PairNumbers
            Of a graph without the hidden edges.
        edges : ndarray of int, shape (count, 2)
            Hidden edges.
        uniform, by_degree : ndarray of int, shape (count, 2)
            Pairs without an edge, drawn uniformly and in proportion to degrees.

        Returns
        -------
        LinkHead
        """
        from sklearn.linear_model import LogisticRegression

        if not len(edges) or not len(uniform):
            raise InputError("the link head needs hidden edges and pairs without an edge")
        groups = (edges, uniform, by_degree)
        values = numbers.of(np.concatenate(groups))
        truth = np.arange(len(values)) < len(edges)
        weights = np.repeat([1.0, 1.0, BY_DEGREE], [len(group) for group in groups])
        weights[truth] = weights[~truth].sum() / len(edges)  # so that both kinds have the same total weight
        means, spreads = values.mean(axis=0), values.std(axis=0)
        spreads = np.where(spreads > 0, spreads, 1)
        model = LogisticRegression(max_iter=1000)
        model.fit((values - means) / spreads, truth, sample_weight=weights)
        return cls(*(tuple(map(float, row)) for row in (model.coef_[0], means, spreads)))

    def score(self, numbers: PairNumbers, pairs: Pairs) -> NDArray[np.float64]:
        """Scores of pairs; only their order is meaningful."""
        return np.asarray(self.contributions(numbers.of(pairs)).sum(axis=1))

    def contributions(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each number adds to the score of each pair."""
        return np.asarray((values - np.array(self.means)) * (np.array(self.weights) / np.array(self.spreads)))

    def explain(self) -> str:
        """The weights, the largest first."""
        named = sorted(zip(NUMBERS, self.weights, strict=True), key=lambda entry: -abs(entry[1]))
        return ", ".join(f"{name} {weight:+.2f}" for name, weight in named)

    def as_dict(self) -> dict[str, list[float]]:
        """Plain values, to be written to a file."""
        return {name: list(getattr(self, name)) for name in ("weights", "means", "spreads")}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LinkHead:
        """The head that :meth:`as_dict` wrote."""
        return cls(*(tuple(map(float, values[name])) for name in ("weights", "means", "spreads")))


def _cosine(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    sizes = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.asarray(np.einsum("ij,ij->i", a, b) / np.where(sizes > 0, sizes, 1))
