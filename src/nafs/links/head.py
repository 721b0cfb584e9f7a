"""The link head: a logistic regression on a few numbers that describe a pair of nodes, and on their products.

An embedding shows which nodes are similar, the edges show which nodes are close. Which matters more depends
on the graph, and on whether a node is a hub: citations follow the topic, co-purchases follow earlier
purchases. Products let one number change the weight of another. The weights are fitted on hidden edges
against pairs without an edge, drawn uniformly and, with half the weight, in proportion to degrees; otherwise
the head would mostly learn that hubs have many links.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.graph import Adjacency
from nafs.links.pairs import Pairs, paths_nbytes, shared_neighbors, three_step_paths
from nafs.links.surroundings import Surroundings, surroundings_nbytes

# Each number, and the words for a pair where it is high.
NUMBERS = {
    "cosine": "similar vectors",
    "centred cosine": "similar, also once what all nodes have in common is left out",
    "local cosine": "more similar to each other than to most of the nodes nearest to them",
    "inner": "similar vectors, both of them long",
    "resource allocation": "shared neighbors that have few other links",
    "common neighbors": "many shared neighbors",
    "Jaccard": "a large share of their neighbors in common",
    "three-step paths": "many short paths between them",
    "degrees": "well-connected nodes",
    "degree difference": "a hub and a node with few links",
}
# The words for a low number that speaks for a link; the others are not worth mentioning.
LOW = {"degrees": "nodes with few links", "degree difference": "nodes with about the same number of links"}
LEAST = {"local cosine": 0.0}  # below, its words would not be true, however rare the number is
BY_DEGREE = 1 / 2  # weight of a non-edge drawn by degree, relative to one drawn uniformly
STRENGTH = 0.1  # C of the logistic regression
_FARTHEST = 4.0  # standard deviations; numbers beyond are clipped
_CONSTANT = 1e-9  # deviation, relative to the largest value, below which a number is constant
_VALUES = 1 << 20  # values of the vectors of pairs at a time


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

    @cached_property
    def _surroundings(self) -> Surroundings:
        return Surroundings(self.matrix, self.mean)

    def of(self, pairs: Pairs) -> NDArray[np.float64]:
        """One row for each pair, one column for each of ``NUMBERS``."""
        step = max(1, _VALUES // self.matrix.shape[1])
        parts = [self._block(pairs[top : top + step]) for top in range(0, len(pairs), step)]
        values = np.concatenate(parts) if parts else np.empty((0, len(NUMBERS)))
        numbers = list(NUMBERS)
        values[:, numbers.index("three-step paths")] = three_step_paths(self.graph, pairs) ** 0.25
        nodes, places = np.unique(pairs, return_inverse=True)
        usual = self._surroundings.of(nodes)[places.reshape(pairs.shape)].sum(axis=1)
        centred = values[:, numbers.index("centred cosine")]
        values[:, numbers.index("local cosine")] = 2 * centred - usual
        return values

    def of_each(self, groups: Sequence[Pairs]) -> list[NDArray[np.float64]]:
        """As :meth:`of`, for several groups of pairs at once."""
        return np.split(self.of(np.concatenate(groups)), np.cumsum([len(group) for group in groups])[:-1])

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
                np.zeros(len(pairs)),  # local cosine, from the nodes of all pairs together
                inner / typical,
                np.sqrt(allocated),
                np.log1p(common),
                np.sqrt(common / np.maximum(d + e - common, 1)),
                np.zeros(len(pairs)),  # three-step paths, which are found for all pairs together
                np.log(d) + np.log(e),
                np.abs(np.log(d) - np.log(e)),
            ]
        )


@dataclass(frozen=True)
class LinkHead:
    """Weights of the numbers of a pair, and of their products.

    Attributes
    ----------
    weights, means, spreads : tuple of float
        One for each of ``NUMBERS``.
    products : tuple of tuples of float
        For each two of them, symmetric. With x = (number - mean) / spread, cut off at 4, a pair scores
        Σ weight_i x_i + Σ product_ij x_i x_j.
    """

    weights: tuple[float, ...]
    products: tuple[tuple[float, ...], ...]
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
        return cls.fit_values(*numbers.of_each((edges, uniform, by_degree)))

    @classmethod
    def fit_values(
        cls, edges: NDArray[np.float64], uniform: NDArray[np.float64], by_degree: NDArray[np.float64]
    ) -> LinkHead:
        """As :meth:`fit`, from the numbers of the pairs."""
        from sklearn.linear_model import LogisticRegression

        if not len(edges) or not len(uniform):
            raise InputError("the link head needs hidden edges and pairs without an edge")
        groups = (edges, uniform, by_degree)
        values = np.concatenate(groups)
        truth = np.arange(len(values)) < len(edges)
        shares = np.repeat([1.0, 1.0, BY_DEGREE], [len(group) for group in groups])
        shares[truth] = shares[~truth].sum() / len(edges)  # so that both kinds have the same total weight
        means, spreads = values.mean(axis=0), _spreads(values)
        x = _standard(values, means, spreads)
        first, second = np.triu_indices(x.shape[1])
        terms = np.hstack([x, x[:, first] * x[:, second]])
        sizes = _spreads(terms)
        model = LogisticRegression(C=STRENGTH, max_iter=1000)
        model.fit((terms - terms.mean(axis=0)) / sizes, truth, sample_weight=shares)
        weights = model.coef_[0] / sizes
        products = np.zeros((x.shape[1], x.shape[1]))
        products[first, second] = weights[x.shape[1] :]
        products = (products + products.T) / 2
        rows = tuple(tuple(map(float, row)) for row in products)
        linear, centres, scales = (tuple(map(float, row)) for row in (weights[: x.shape[1]], means, spreads))
        return cls(linear, rows, centres, scales)

    def score(self, numbers: PairNumbers, pairs: Pairs) -> NDArray[np.float64]:
        """Scores of pairs; only their order is meaningful."""
        return np.asarray(self.contributions(numbers.of(pairs)).sum(axis=1))

    def contributions(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each number adds to the score of each pair; a product is shared evenly by its two numbers."""
        x = _standard(values, np.array(self.means), np.array(self.spreads))
        return np.asarray(x * (np.array(self.weights) + x @ np.array(self.products)))

    def reasons(self, values: NDArray[np.float64], most: int = 2) -> list[list[str]]:
        """The numbers that speak for each pair, in words, the strongest first."""
        least = [LEAST.get(name, -np.inf) for name in NUMBERS]
        high = np.asarray(values) > np.maximum(self.means, least)
        contributions = self.contributions(values)
        order = np.argsort(-contributions, axis=1, kind="stable")
        names, reasons = list(NUMBERS), []
        for pair, numbers in enumerate(order):
            words = (
                NUMBERS[names[number]] if high[pair, number] else LOW.get(names[number])
                for number in numbers
                if contributions[pair, number] > 0
            )
            reasons.append([phrase for phrase in words if phrase is not None][:most])
        return reasons

    def explain(self) -> str:
        """The weights at an average pair, the largest first."""
        named = sorted(zip(NUMBERS, self.weights, strict=True), key=lambda entry: -abs(entry[1]))
        return ", ".join(f"{name} {weight:+.2f}" for name, weight in named)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, to be written to a file."""
        values: dict[str, Any] = {name: list(getattr(self, name)) for name in ("weights", "means", "spreads")}
        return values | {"products": [list(row) for row in self.products]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LinkHead:
        """The head that :meth:`as_dict` wrote."""
        if "products" not in values or len(values["weights"]) != len(NUMBERS):
            raise InputError("the link head was written by another version of nafs: embed the graph again")
        weights, means, spreads = (
            tuple(map(float, values[name])) for name in ("weights", "means", "spreads")
        )
        return cls(weights, tuple(tuple(map(float, row)) for row in values["products"]), means, spreads)


def head_nbytes(graph: Adjacency, n_columns: int, n_pairs: int) -> int:
    """Approximate bytes that fitting a head to pairs takes, besides the graph and the vectors."""
    vectors = max(6 * 8 * min(n_pairs * n_columns, _VALUES), surroundings_nbytes(graph.n_nodes, n_columns))
    terms = 3 * 8 * n_pairs * len(NUMBERS) * (len(NUMBERS) + 3) // 2
    return vectors + terms + paths_nbytes(graph)


def _standard(
    values: NDArray[np.float64], means: NDArray[np.float64], spreads: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.asarray(np.clip((values - means) / spreads, -_FARTHEST, _FARTHEST))


def _spreads(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The deviation of each column; 1 for a constant column, whose deviation is 0 or only rounding."""
    spreads = values.std(axis=0)
    return np.where(spreads > _CONSTANT * (1 + np.abs(values).max(axis=0, initial=0)), spreads, 1)


def _cosine(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    sizes = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.asarray(np.einsum("ij,ij->i", a, b) / np.where(sizes > 0, sizes, 1))
