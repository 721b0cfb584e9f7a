"""What held-out labels decide: the strength of a regression, its temperature, and what is heard beside it.

The strength of the regression is chosen by the log-loss of cross-validation on the labelled nodes. The same
held-out predictions then set a temperature: logits are divided by the number that makes the held-out labels
likeliest, so that about 80 % of the nodes predicted with probability 0.8 are right. A few labels say little,
so one more is counted that could be of any class, and so is every label of a class that was seen only once:
held out, it could not be predicted. The reported accuracy is that of the held-out predictions. It is a
little too high where labels are few, because the same predictions made the choices.

Two more sources are heard beside the regression, one after the other, each with the weight that makes the
held-out labels likeliest: a mixture in which nodes without a label count too (see
:mod:`nafs.answers.partly_labelled`), and, if the features before smoothing are known, each node's own
features (see :mod:`nafs.clustering.own_features`). A source is left out unless its gain in log-loss exceeds
the standard error of that gain.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.answers.sources import Sources, logits_of, softmax
from nafs.clustering.own_features import OwnFeatures

STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # C of the logistic regression
MIXTURE_WEIGHTS = (0.1, 0.2, 0.5, 1.0)
OWN_WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)  # of own features
FOLDS = 5
_TEMPERATURES = np.geomspace(0.05, 20, 121)


class Fit(NamedTuple):
    """What held-out labels decide: the strength of the regression, weights, and temperatures after each step.

    Logits are divided by the temperature after the regression, after the mixture and after own features.
    ``by_class`` has the accuracy on the held-out labels of each class, and ``ranking`` the AUC of its
    probability: how often a node of the class gets a higher one than another node.
    """

    strength: float = 1.0
    temperature: float = 1.0
    mixture_weight: float = 0.0
    mixture_temperature: float = 1.0
    own_weight: float = 0.0
    own_temperature: float = 1.0
    accuracy: float | None = None
    deviation: float | None = None
    by_class: Mapping[int, float] = MappingProxyType({})
    ranking: Mapping[int, float] = MappingProxyType({})

    def with_mixture(self, scores: NDArray[np.float64], logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the regression together with those of the mixture."""
        return np.asarray((scores + self.mixture_weight * logs) / self.mixture_temperature)


class _HeldOut(NamedTuple):
    """The places of the held-out labels among the classes, and the share of labels that say nothing."""

    places: NDArray[Any]
    unknowable: float

    def calibrate(self, logits: NDArray[np.float64]) -> tuple[float, float]:
        """The smallest log-loss, and the temperature that has it."""
        losses = [_log_loss(logits / value, self.places, self.unknowable) for value in _TEMPERATURES]
        return min(losses), float(_TEMPERATURES[int(np.argmin(losses))])

    def best(
        self, before: NDArray[np.float64], logits: dict[float, NDArray[np.float64]]
    ) -> tuple[float, float] | None:
        """The weight whose logits make labels likeliest, with its temperature, if the gain is clear."""
        _, temperature, weight = min((*self.calibrate(each), weight) for weight, each in logits.items())
        gains = self._surprises(before) - self._surprises(logits[weight] / temperature)
        return (weight, temperature) if gains.mean() > gains.std() / np.sqrt(len(gains)) else None

    def _surprises(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        own = softmax(logits)[np.arange(len(self.places)), self.places]
        return np.asarray(-np.log(np.maximum(own, 1e-12)))


def validate(sources: Sources, nodes: NDArray[np.int64], codes: NDArray[Any], seed: int) -> Fit:
    """Choose by held-out predictions of the labelled nodes."""
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    vectors, cloud, own = sources
    kept = np.isin(codes, [code for code in np.unique(codes) if (codes == code).sum() >= 2])
    unknowable = (1 + int((~kept).sum())) / (1 + len(codes))
    nodes, codes = nodes[kept], codes[kept]
    classes, counts = np.unique(codes, return_counts=True)
    if len(classes) < 2:
        return Fit()
    points, places = vectors.rows(nodes), np.searchsorted(classes, codes)
    folds = StratifiedKFold(min(FOLDS, int(counts.min())), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes")  # few labels are expected
        parts = list(folds.split(points, codes))
    strength, held_out, models = _best_regression(points, places, parts)
    judge = _HeldOut(places, unknowable)
    fit = Fit(strength, judge.calibrate(held_out)[1])
    logits = held_out / fit.temperature
    mixtures = []
    if cloud is not None:
        mixtures = [cloud.fit(nodes[train], places[train], len(classes)) for train, _ in parts]
        logs = np.empty_like(logits)
        for (_, test), mixture in zip(parts, mixtures, strict=True):
            logs[test] = cloud.log_probabilities(mixture, nodes[test])
        chosen = judge.best(logits, {weight: logits + weight * logs for weight in MIXTURE_WEIGHTS})
        if chosen is not None:
            fit = fit._replace(mixture_weight=chosen[0], mixture_temperature=chosen[1])
            logits = fit.with_mixture(logits, logs)
    if own is not None:
        weighed = {weight: logits.copy() for weight in OWN_WEIGHTS}
        for place, (train, test) in enumerate(parts):
            scores = vectors.scores(models[place], own.nodes, fit.temperature)
            if cloud is not None and fit.mixture_weight:
                scores = fit.with_mixture(scores, vectors.logs(cloud, mixtures[place], own.nodes))
            tested = OwnFeatures(own.features.take(nodes[test]), 1.0)
            for weight in OWN_WEIGHTS:
                odds = own.odds(scores, nodes[train], places[train], weight)
                weighed[weight][test] += weight * tested.evidence(odds)
        chosen = judge.best(logits, weighed)
        if chosen is not None:
            fit = fit._replace(own_weight=chosen[0], own_temperature=chosen[1])
            logits = weighed[chosen[0]]
    right = logits.argmax(axis=1) == places
    deviation = float(np.std([right[test].mean() for _, test in parts]))
    by_class = {int(code): float(right[codes == code].mean()) for code in classes}
    shares = softmax(logits)
    ranking = {
        int(code): float(roc_auc_score(places == place, shares[:, place]))
        for place, code in enumerate(classes)
    }
    return fit._replace(accuracy=float(right.mean()), deviation=deviation, by_class=by_class, ranking=ranking)


def _best_regression(
    points: NDArray[Any], places: NDArray[Any], parts: Sequence[tuple[NDArray[Any], NDArray[Any]]]
) -> tuple[float, NDArray[np.float64], list[Any]]:
    """The strength with the smallest log-loss, its held-out logits, and the model of each fold."""
    from sklearn.linear_model import LogisticRegression

    best: tuple[float, float, NDArray[np.float64], list[Any]] | None = None
    for strength in STRENGTHS:
        held_out = np.empty((len(places), int(places.max()) + 1))
        models = []
        for train, test in parts:
            model = LogisticRegression(C=strength, max_iter=1000).fit(points[train], places[train])
            held_out[test] = logits_of(model, points[test])
            models.append(model)
        loss = _log_loss(held_out, places)
        if best is None or loss < best[0]:
            best = loss, strength, held_out, models
    assert best is not None
    return best[1:]


def _log_loss(logits: NDArray[np.float64], places: NDArray[Any], unknowable: float = 0.0) -> float:
    """The log-loss of labels, of which a share could be of any class."""
    losses = -np.log(np.maximum(softmax(logits), 1e-12))
    own = losses[np.arange(len(places)), places].mean()
    return float((1 - unknowable) * own + unknowable * losses.mean())
