"""Probabilities of classes for all nodes, learned from all labels in the way that held-out labels chose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.answers.held_out import Fit
from nafs.answers.sources import Sources, blocks_of, fit_regression, softmax
from nafs.clustering.own_features import OwnFeatures


class Prediction:
    """A regression, and what counts beside it.

    Parameters
    ----------
    sources : Sources
    nodes : ndarray of int
        The labelled nodes.
    places : ndarray of int
        The class of each, numbered from 0.
    fit : Fit
        What held-out labels chose.
    """

    def __init__(self, sources: Sources, nodes: NDArray[np.int64], places: NDArray[Any], fit: Fit) -> None:
        self._sources, self._fit = sources, fit
        vectors, cloud, own = sources
        rows = vectors.rows(nodes)
        # Where nothing could be held out, a class with many labels would win everywhere by number alone.
        self._regression = fit_regression(fit.strength, rows, places, balanced=fit.accuracy is None)
        self._n_classes = int(places.max()) + 1
        self._mixture = None
        if cloud is not None and fit.mixture_weight:
            self._mixture = cloud.fit(nodes, places, self._n_classes)
        self._own, self._odds = None, np.empty(0, np.float32)
        if own is not None and fit.own_weight:
            self._own = OwnFeatures(own.features, fit.own_weight)
            self._odds = own.odds(self._scores(own.nodes), nodes, places, fit.own_weight)

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Nodes, and the probabilities of the classes for each of them."""
        for rows in blocks_of(self._sources.vectors.matrix, n_classes=self._n_classes):
            yield rows, self._block(rows)

    def _block(self, rows: slice) -> NDArray[np.float64]:
        scores = self._scores(np.arange(rows.start, rows.stop))
        if self._own is not None:
            scores = scores + self._own.evidence(self._odds, rows.start, rows.stop)
        return softmax(scores / self._fit.own_temperature)

    def _scores(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of some nodes before own features are heard."""
        vectors, cloud, _ = self._sources
        scores = vectors.scores(self._regression, nodes, self._fit.temperature)
        if cloud is None or self._mixture is None:
            return scores
        return self._fit.with_mixture(scores, vectors.logs(cloud, self._mixture, nodes))
