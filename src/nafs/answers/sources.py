"""What classes are predicted from: vectors, all nodes as a cloud, and each node's own features."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.answers.partly_labelled import Cloud
from nafs.clustering.gaussian_mixture import Mixture
from nafs.clustering.own_features import OwnFeatures
from nafs.graph import Features

_VALUES = 1 << 22  # per block of rows
_COPIES = 8  # of the scores of a block
_SAMPLE = 20_000  # nodes without a label that are learned from
_MOST_SHARES = 1 << 21  # probabilities of all classes that one mixture is fitted to
_MANY_LABELS = 20_000  # from here on, nodes without a label add nothing


def blocks_of(matrix: NDArray[Any], n_rows: int | None = None, n_classes: int = 0) -> list[slice]:
    """Slices of all rows, or of a number of them, so that no copy of the whole matrix is made.

    If scores of some classes are computed for each row, they fit into a block as well, several times.
    """
    n_rows = len(matrix) if n_rows is None else n_rows
    step = max(1, _VALUES // max(1, matrix.shape[1], _COPIES * n_classes))
    return [slice(top, min(top + step, n_rows)) for top in range(0, n_rows, step)]


def classes_nbytes(n_nodes: int, n_labels: int, n_classes: int, width: int) -> int:
    """Approximate bytes of predicting classes from vectors alone."""
    block = 10 * min(_VALUES, n_nodes * max(width, _COPIES * n_classes))
    labelled = 12 * n_labels * width  # their rows, and copies for each fold
    held_out = 88 * n_labels * n_classes  # predictions for each strength of the regression, and copies
    return block + labelled + max(held_out, 8 * n_nodes * n_classes)


class Vectors(NamedTuple):
    """An embedding, and what its rows are multiplied by."""

    matrix: NDArray[Any]
    scales: NDArray[np.float32]

    def rows(self, nodes: Any) -> NDArray[Any]:
        """The scaled vectors of some nodes."""
        return np.asarray(self.matrix[nodes] * self.scales[nodes])

    def scores(self, model: Any, nodes: NDArray[np.int64], temperature: float) -> NDArray[np.float64]:
        """The calibrated logits of some nodes."""
        parts = [logits_of(model, self.rows(nodes[rows])) for rows in blocks_of(self.matrix, len(nodes))]
        return np.concatenate(parts) / temperature

    def logs(self, cloud: Cloud, model: Mixture, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Logarithms of the probabilities of some nodes by a mixture."""
        if np.array_equal(nodes, cloud.nodes):
            return cloud.log_probabilities(model)
        blocks = blocks_of(self.matrix, len(nodes))
        return np.concatenate(
            [cloud.log_probabilities_of(model, self.matrix[nodes[rows]]) for rows in blocks]
        )


def learning_nodes(n_nodes: int, labelled: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """All nodes; in a large graph, the labelled ones and a sample of the others."""
    nodes = np.arange(n_nodes)
    if n_nodes <= _SAMPLE:
        return nodes
    others = np.setdiff1d(nodes, labelled)
    some = np.random.default_rng(seed).choice(others, min(len(others), _SAMPLE), replace=False)
    return np.sort(np.concatenate([labelled, some]))


def cloud_nodes(nodes: NDArray[np.int64], labelled: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """The labelled nodes and some of the others, fewer if there are many classes, which bounds the work."""
    most = max(_MOST_SHARES // n_classes, 2 * len(labelled))
    if len(nodes) <= most:
        return nodes
    others = np.setdiff1d(nodes, labelled)
    step = -(-len(others) // (most - len(labelled)))
    return np.sort(np.concatenate([labelled, others[::step]]))


def cloud_of(
    matrix: NDArray[Any], nodes: NDArray[np.int64], labelled: NDArray[np.int64], n_classes: int
) -> Cloud | None:
    """The nodes along the leading directions, unless labels are so many that the other nodes add nothing."""
    if len(labelled) >= min(_MANY_LABELS, len(nodes)):
        return None
    return Cloud.of(matrix, cloud_nodes(nodes, labelled, n_classes), n_classes)


class Own(NamedTuple):
    """The features before smoothing, and the nodes from which the odds of features are estimated."""

    features: Features
    nodes: NDArray[np.int64]
    sampled: Features

    @classmethod
    def of(cls, features: Features, nodes: NDArray[np.int64]) -> Own:
        """The features of all nodes, and of those to learn from. None of them is negative."""
        return cls(features, nodes, features if len(nodes) == features.shape[0] else features.take(nodes))

    def odds(
        self, scores: NDArray[np.float64], labelled: NDArray[np.int64], places: NDArray[Any], weight: float
    ) -> NDArray[np.float32]:
        """The odds of each feature for each class, from the scores of the sampled nodes and known labels."""
        known = np.searchsorted(self.nodes, labelled), places
        return OwnFeatures(self.sampled, weight).odds(scores.T, known)


class Sources(NamedTuple):
    """Vectors; the cloud, unless labels are so many that it adds nothing; own features, if they are known."""

    vectors: Vectors
    cloud: Cloud | None
    own: Own | None


@contextmanager
def few_labels_expected() -> Iterator[None]:
    """Without scikit-learn's warning that there are many classes for so few labels."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes")
        yield


def fit_regression(
    strength: float, points: NDArray[Any], places: NDArray[Any], *, balanced: bool = False
) -> Any:
    """A logistic regression; a larger strength follows the labels more closely.

    ``balanced``: classes count the same, however many labels each has.
    """
    from sklearn.linear_model import LogisticRegression

    weights = "balanced" if balanced else None
    with few_labels_expected():
        return LogisticRegression(C=strength, max_iter=1000, class_weight=weights).fit(points, places)


def logits_of(model: Any, points: NDArray[Any]) -> NDArray[np.float64]:
    """One column per class, also for two classes."""
    values = np.asarray(model.decision_function(points), np.float64)
    return np.column_stack([-values / 2, values / 2]) if values.ndim == 1 else values


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities, one row for each node."""
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
