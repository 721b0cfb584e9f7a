"""What the features of a node itself say about its cluster, beside the smoothed ones.

Smoothing makes a node resemble its neighbors, and the directions that clusters are found in hold only what
many nodes have in common. A node's own words can still tell that it belongs elsewhere. They are weighed as in
a naive Bayes classifier: each feature speaks for a cluster by the logarithm of how frequent it is in that
cluster, divided by how frequent it is in all others.

This needs features that are not negative, such as words, tags or purchases. The lengths of rows do not
count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.edges import Edges
from nafs.clustering.kmeans import members_of
from nafs.clustering.measures import mutual_information
from nafs.graph import Features

WEIGHT = 1.5  # of own features beside the score of the smoothed ones
_COMMON = 0.01  # share of all features that is added to each cluster, so that no feature rules one out
_STEPS = 3  # as many as the mixture takes
BLOCK = 1 << 14  # rows at a time
_ASKED = 500  # nodes whose most similar nodes are searched for
_ALIKE = 3  # most similar nodes of each
_DIGITS = 5  # of cosines; smaller differences are rounding
_VALUES = 1 << 22  # of the features of some of them at a time

_TINY = np.finfo(np.float32).tiny

Matrix = NDArray[np.float32]
Known = tuple[NDArray[np.int64], NDArray[np.int64]]  # nodes, and the cluster of each


class OwnFeatures:
    """Evidence for clusters from features that were not smoothed.

    Parameters
    ----------
    features : Features
        Not negative; see :meth:`can_use`.
    weight : float
        How much they count beside the scores that they refine.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.own_features import OwnFeatures
    >>> from nafs.graph import read_features
    >>> words = OwnFeatures(read_features([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]))
    >>> undecided = np.log([[0.9, 0.9, 0.1, 0.1, 0.5], [0.1, 0.1, 0.9, 0.9, 0.5]])  # as to the last node
    >>> words.refine(undecided).argmax(axis=0)
    array([0, 0, 1, 1, 1])
    """

    def __init__(self, features: Features, weight: float = WEIGHT) -> None:
        self.features, self.weight = features, weight
        lengths = np.where(features.norms >= _TINY, features.norms, 1)
        self._scale = (weight / lengths).astype(np.float32)

    @staticmethod
    def nbytes(features: Features, n_rows: int, n_clusters: int) -> int:
        """Approximate bytes of a copy of some rows and of the odds."""
        # Taking rows of a sparse matrix needs the places of all values, three numbers of eight bytes each.
        each = 4 if features.is_sparse else 1
        rows = each * features.nbytes * n_rows // max(1, features.shape[0])
        return int(rows + 64 * n_clusters * features.shape[1])

    @staticmethod
    def can_use(features: Features) -> bool:
        """Whether no value is negative and some are positive."""
        values = features.values
        return bool(values.size) and float(values.min()) >= 0 and float(values.max()) > 0

    def refine(self, scores: NDArray[Any], known: Known | None = None) -> NDArray[Any]:
        """Scores with the evidence of own features.

        Parameters
        ----------
        scores : ndarray of shape (n_clusters, n)
            Logarithms of the probability of each cluster, up to a constant for each node.
        known : pair of ndarrays of int, optional
            Nodes whose cluster is known, and these clusters. They alone decide what such a node counts for.

        Returns
        -------
        ndarray of shape (n_clusters, n)
        """
        return np.asarray(scores + self.evidence(self.odds(scores, known)).T)

    def odds(self, scores: NDArray[Any], known: Known | None = None) -> Matrix:
        """Logarithms of the frequency of each feature in a cluster over that in all others.

        Clusters decide what is frequent, which moves some nodes to other clusters; a few times over.
        """
        odds: Matrix | None = None
        for _ in range(_STEPS):
            odds = self._odds(self._inside(scores, odds, known))
        assert odds is not None
        return odds

    def evidence(self, odds: Matrix, begin: int = 0, end: int | None = None) -> Matrix:
        """What the features of some nodes say for each cluster, shape (nodes, n_clusters)."""
        end = len(self._scale) if end is None else end
        block = self.features.between(begin, end)
        return np.asarray(block.project(np.ascontiguousarray(odds.T)) * self._scale[begin:end, None])

    def information(self, clusters: NDArray[np.int64], n_clusters: int) -> float:
        """What the cluster of a node says about its features: their mutual information in nats."""
        members = members_of(clusters, n_clusters) * self._scale
        return mutual_information(self.features.weighted_sum(members))

    def most_alike(self, edges: Edges) -> Edges | None:
        """Pairs of nodes with the most similar features, but without an edge between them.

        Pairs with an edge are left out, since edges have their own say. The pairs are those of every n-th
        node with the nodes nearest to it by cosine; ``None`` if there are none.
        """
        n, f = self.features.shape
        nodes, rng = np.arange(0, n, -(-n // _ASKED)), np.random.default_rng(0)
        count, step = min(_ALIKE, n - 1), max(1, _VALUES // max(n, f))
        asked, nearest = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for begin in range(0, len(nodes) if count > 0 else 0, step):
            some = nodes[begin : begin + step]
            rows = self.features.take(some).unit_rows().toarray()
            cosines = self.features.project(np.ascontiguousarray(rows.T)).T * (self._scale / self.weight)
            # Which of equally near nodes are taken is left to chance, and not to the order of the nodes.
            cosines = np.round(cosines, _DIGITS) + rng.uniform(0, 0.1**_DIGITS / 2, cosines.shape)
            places = np.full(n, -1)
            places[some] = np.arange(len(some))
            linked = places[edges.first] >= 0
            cosines[places[edges.first[linked]], edges.second[linked]] = 0
            cosines[np.arange(len(some)), some] = 0
            closest = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
            alike = np.take_along_axis(cosines, closest, axis=1) > 0.1**_DIGITS / 2
            asked.append(np.repeat(some, alike.sum(axis=1)))
            nearest.append(closest[alike])
        first, second = np.concatenate(asked), np.concatenate(nearest)
        if not len(first):
            return None
        ends = np.concatenate([first, second]), np.concatenate([second, first])
        return Edges(*ends, np.ones(2 * len(first)))

    def _inside(self, scores: NDArray[Any], odds: Matrix | None, known: Known | None) -> NDArray[np.float64]:
        """The sum of the features in each cluster, by scores and the evidence of odds."""
        inside = np.zeros((len(scores), self.features.shape[1]))
        for begin in range(0, len(self._scale), BLOCK):
            end = min(begin + BLOCK, len(self._scale))
            block = scores[:, begin:end]
            if odds is not None:
                block = block + self.evidence(odds, begin, end).T
            shares = np.exp(block - block.max(axis=0))
            shares /= shares.sum(axis=0)
            if known is not None:
                nodes, clusters = known
                within = (nodes >= begin) & (nodes < end)
                shares[:, nodes[within] - begin] = 0
                shares[clusters[within], nodes[within] - begin] = 1
            weights = (shares * self._scale[begin:end]).astype(np.float32)
            inside += self.features.between(begin, end).weighted_sum(weights)
        return inside

    @staticmethod
    def _odds(inside: NDArray[np.float64]) -> Matrix:
        """Odds by the sums of the features in each cluster, which are changed."""
        total = inside.sum(axis=0)
        spread = np.maximum(_COMMON * total, _TINY)  # so that columns without values have odds as well
        outside = total - inside + spread
        inside += spread
        odds = np.log(inside / inside.sum(axis=1, keepdims=True))
        odds -= np.log(outside / outside.sum(axis=1, keepdims=True))
        return np.asarray(odds, np.float32)
