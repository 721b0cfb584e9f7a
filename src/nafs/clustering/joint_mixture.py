"""The last step of the consensus: a mixture in the embeddings of all numbers of hops together.

Unit rows of all embeddings stand side by side, and the mixture is fitted along their common leading
directions. Each node's shares of the votes are its prior probabilities, so that clusters move only where the
votes are divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.directions import Directions, unit_rows
from nafs.clustering.gaussian_mixture import Mixture, fit_mixture

_STEPS = 3  # more would lead away from the votes where features are weak
_DISSENT = 0.02  # added to each share of the votes
_WIDE = 60  # columns of an embedding up to which there are four for each cluster, and not two

Rows = NDArray[np.float32]


def columns_for(n_clusters: int) -> int:
    """The number of leading directions of each embedding that are used."""
    return min(4 * n_clusters, max(2 * n_clusters, _WIDE))


class JointMixture(NamedTuple):
    """A mixture, and what turns rows of all embeddings into its points."""

    factors: NDArray[np.float32]
    axes: NDArray[np.float32]
    model: Mixture

    def scores(self, embeddings: Sequence[Rows]) -> NDArray[Any]:
        """Scores of all clusters for nodes without votes, shape (nodes, n_clusters)."""
        return self.model.scores(unit_rows(_side_by_side(embeddings, self.factors) @ self.axes))


def fit_joint_mixture(
    embeddings: Sequence[Rows], importance: Sequence[float], shares: NDArray[np.float64]
) -> tuple[JointMixture, NDArray[Any]]:
    """A mixture that starts from the votes, and the scores of the nodes that it is fitted to.

    Parameters
    ----------
    embeddings : sequence of ndarrays of shape (n, columns)
    importance : sequence of float
        How much each embedding counts, relative to the others; at least 0.
    shares : ndarray of shape (n, n_clusters)
        The share of the votes for each cluster.

    Returns
    -------
    JointMixture
    ndarray of shape (n_clusters, n)
        Logarithms of the probability of each cluster, up to a constant for each node.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.joint_mixture import fit_joint_mixture
    >>> rows = np.repeat(np.eye(2, dtype=np.float32), 20, axis=0)
    >>> votes = np.repeat([[0.9, 0.1], [0.1, 0.9]], 20, axis=0)
    >>> votes[0] = 0.4, 0.6  # a node whose votes are divided
    >>> mixture, scores = fit_joint_mixture([rows, rows], [1, 0.5], votes)
    >>> np.bincount(scores.argmax(axis=0)), mixture.scores([rows[:1], rows[:1]]).argmax(axis=1)
    (array([20, 20]), array([0]))
    """
    count = shares.shape[1]
    weights = np.maximum(importance, 1e-9)
    factors = np.sqrt(weights / weights.max()).astype(np.float32)
    joint = Directions.of(_side_by_side(embeddings, factors), 3 * count)
    points = unit_rows(joint.rows)
    prior = log_votes(shares)
    model = fit_mixture(points, shares.argmax(axis=1), count, _STEPS, prior)
    return JointMixture(factors, joint.axes, model), model.scores(points).T + prior


def log_votes(shares: NDArray[np.float64]) -> Rows:
    """Prior probabilities by the votes, as logarithms, shape (n_clusters, n). No cluster is impossible."""
    return np.log(shares.T + _DISSENT).astype(np.float32)


def _side_by_side(embeddings: Sequence[Rows], factors: NDArray[np.float32]) -> Rows:
    return np.hstack([factor * unit_rows(rows) for factor, rows in zip(factors, embeddings, strict=True)])
