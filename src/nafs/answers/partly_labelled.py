"""A mixture of Gaussians in which nodes without a label count too.

A few labels tell little about where classes lie, but all nodes together show where there are clouds of nodes.
The mixture has one covariance for all classes, on unit rows in two leading directions for each class. Nodes
with a label keep their class; each of the others counts for a tenth of one, which keeps many nodes without a
label from overruling a few with one (Nigam et al., Machine Learning 39, 2000).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.directions import Directions, unit_rows
from nafs.clustering.gaussian_mixture import Mixture, moments, whitening

_UNLABELLED = 0.1  # what a node without a label counts for
_STEPS = 10
_DIRECTIONS = 2  # for each class
_FLOOR = 1e-3  # added to the covariance, relative to the mean variance of all points
_SURE = -20.0  # smallest logarithm of a probability: mixtures are sure of themselves
_LEAST = 1e-9  # nodes that even an empty class has
_VALUES = 1 << 24  # of the rows that directions are found in
_ROWS = 1 << 10  # projected at a time


class Cloud(NamedTuple):
    """Some nodes, labelled or not, along the leading directions of an embedding.

    Attributes
    ----------
    nodes : ndarray of int, sorted
    points : ndarray of shape (nodes, directions)
    axes : ndarray of shape (width, directions)
    """

    nodes: NDArray[np.int64]
    points: NDArray[np.float64]
    axes: NDArray[np.float64]

    @classmethod
    def of(cls, matrix: NDArray[Any], nodes: NDArray[np.int64], n_classes: int) -> Cloud:
        """The leading directions of the vectors of some nodes; of evenly many of them if they are wide."""
        step = -(-len(nodes) * matrix.shape[1] // _VALUES)
        blocks = [nodes[top : top + _ROWS] for top in range(0, len(nodes), _ROWS)]
        # Scaled so that products of columns neither vanish nor overflow.
        largest = max(float(np.abs(matrix[block]).max(initial=0)) for block in blocks) or 1.0
        directions = Directions.of(matrix[nodes[::step]] / largest, _DIRECTIONS * n_classes)
        points = [unit_rows((matrix[block] / largest) @ directions.axes) for block in blocks]
        return cls(nodes, np.concatenate(points).astype(np.float64), directions.axes / np.float64(largest))

    @staticmethod
    def nbytes(n_nodes: int, width: int, n_classes: int) -> int:
        """Approximate bytes that finding the directions and fitting a mixture take."""
        return 8 * min(n_nodes * width, _VALUES) + 14 * 8 * n_nodes * n_classes

    def fit(self, labelled: NDArray[np.int64], places: NDArray[Any], n_classes: int) -> Mixture:
        """Expectation and maximisation from the labels of some of the nodes.

        Examples
        --------
        >>> import numpy as np
        >>> from nafs.answers.partly_labelled import Cloud
        >>> rows = np.repeat(np.eye(2, dtype=np.float32), 20, axis=0)
        >>> cloud = Cloud.of(rows + 0.1 * np.random.default_rng(0).random((40, 2)), np.arange(40), 2)
        >>> mixture = cloud.fit(np.array([0, 20]), np.array([0, 1]), 2)
        >>> np.bincount(cloud.log_probabilities(mixture).argmax(axis=1))
        array([20, 20])
        """
        n, d = self.points.shape
        places_in_cloud = np.searchsorted(self.nodes, labelled)
        weights = np.full(n, _UNLABELLED)
        weights[places_in_cloud] = 1
        known = np.zeros((n_classes, len(labelled)))
        known[places, np.arange(len(labelled))] = 1
        columns = np.ascontiguousarray(self.points.T)
        products, mean, spread = moments(self.points)
        squares = (columns * weights) @ self.points
        covariance = products / n - np.outer(mean, mean)  # that within classes is not known yet
        least = max(_FLOOR * spread / d, 1e-12)
        shares = np.zeros((n_classes, n))
        shares[:, places_in_cloud] = known
        for step in range(_STEPS):
            counted = shares * weights
            sizes = counted.sum(axis=1) + _LEAST
            means = (counted @ self.points) / sizes[:, None]
            if step:
                covariance = (squares - (means.T * sizes) @ means) / sizes.sum()
            covariance.flat[:: d + 1] += least
            whiten = whitening(covariance, least)
            model = Mixture(whiten, means @ whiten, np.log(sizes / sizes.sum()), 0.0)
            shares = np.exp(_log_softmax(model.scores_of(columns)))
            shares[:, places_in_cloud] = known
        return model

    def log_probabilities(
        self, model: Mixture, nodes: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Logarithms of the probabilities of some of the nodes, or of all, shape (nodes, classes)."""
        points = self.points if nodes is None else self.points[np.searchsorted(self.nodes, nodes)]
        return self._bounded(model, points)

    def log_probabilities_of(self, model: Mixture, rows: NDArray[Any]) -> NDArray[np.float64]:
        """The same for any rows of the embedding."""
        return self._bounded(model, unit_rows(rows @ self.axes).astype(np.float64))

    @staticmethod
    def _bounded(model: Mixture, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(_log_softmax(model.scores(points).T).T, _SURE)


def _log_softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of probabilities from scores; one column for each node."""
    moved = scores - scores.max(axis=0)
    return np.asarray(moved - np.log(np.exp(moved).sum(axis=0)))
