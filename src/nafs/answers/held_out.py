"""What held-out labels decide: the strength of a regression, its temperature, and what is heard beside it.

The strength of the regression and a temperature are chosen by the log-loss of cross-validation on the
labelled nodes: logits are divided by the temperature, so that about 80 % of the nodes predicted with
probability 0.8 are right. Without it, strong regressions would lose for being too sure, even if they are
right more often. A few labels say little, so one more is counted that could be of any class, and so is every
label of a class that was seen only once: held out, it could not be predicted.

The reported accuracy is that of held-out predictions as well. Labels look more accurate than they are if they
are judged by what they have chosen themselves. Those of one fold are therefore predicted with the strength,
weights and temperatures that are best for the held-out predictions of the other folds. (The models behind
those predictions have seen this fold, and the evidence of own features is made with the first choices of all
labels.) With more than 2,000 labels, which a few choices cannot fit, this is skipped. Models are fitted
without one fold, a fifth of the labels or more, so the final answer is usually a little more accurate.

Two more sources are heard beside the regression, one after the other, each with the weight that makes the
held-out labels likeliest: a mixture in which nodes without a label count too (see
:mod:`nafs.answers.partly_labelled`), and, if the features before smoothing are known, each node's own
features (see :mod:`nafs.clustering.own_features`). A source is left out unless its gain in log-loss exceeds
the standard error of that gain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.answers.sources import Sources, few_labels_expected, fit_regression, logits_of, softmax
from nafs.clustering.own_features import OwnFeatures

STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # C of the logistic regression
MIXTURE_WEIGHTS = (0.1, 0.2, 0.5, 1.0)
OWN_WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)  # of own features
FOLDS = 5
_TEMPERATURES = np.geomspace(0.05, 20, 121)
_MANY = 2000  # labels; so many cannot be fitted by a few choices


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
    """Held-out predictions of the labelled nodes by everything that can be chosen.

    ``places`` has their classes, and ``unknowable`` the share of labels that say nothing. ``regressions`` has
    the logits for each strength, ``logs`` those of the mixture, and ``evidence`` those of own features for
    each weight, already multiplied by it. ``rows`` are the nodes that are looked at.
    """

    places: NDArray[Any]
    unknowable: float
    regressions: dict[float, NDArray[np.float64]]
    logs: NDArray[np.float64] | None = None
    evidence: Mapping[float, NDArray[np.float64]] = MappingProxyType({})
    rows: NDArray[Any] | slice = slice(None)

    def choose(self) -> Fit:
        """What makes the labels likeliest, one choice after the other."""
        _, temperature, strength = min(
            (*self._calibrate(logits[self.rows]), strength) for strength, logits in self.regressions.items()
        )
        fit = Fit(strength, temperature)
        logits = self.logits_for(fit)
        if self.logs is not None:
            logs = self.logs[self.rows]
            chosen = self._best(logits, MIXTURE_WEIGHTS, lambda weight: logits + weight * logs)
            if chosen is not None:
                fit = fit._replace(mixture_weight=chosen[0], mixture_temperature=chosen[1])
                logits = self.logits_for(fit)
        if self.evidence:
            weights = tuple(self.evidence)
            chosen = self._best(logits, weights, lambda weight: logits + self.evidence[weight][self.rows])
            if chosen is not None:
                fit = fit._replace(own_weight=chosen[0], own_temperature=chosen[1])
        return fit

    def logits_for(self, fit: Fit) -> NDArray[np.float64]:
        """The logits that a choice leads to."""
        logits = self.regressions[fit.strength][self.rows] / fit.temperature
        if self.logs is not None and fit.mixture_weight:
            logits = fit.with_mixture(logits, self.logs[self.rows])
        if not fit.own_weight:
            return logits
        return (logits + self.evidence[fit.own_weight][self.rows]) / fit.own_temperature

    @property
    def _labels(self) -> NDArray[Any]:
        return self.places[self.rows]

    def _calibrate(self, logits: NDArray[np.float64]) -> tuple[float, float]:
        """The smallest log-loss, and the temperature that has it."""
        losses: dict[int, float] = {}

        def best_of(places: range) -> int:
            for place in places:
                if place not in losses:
                    losses[place] = _log_loss(logits / _TEMPERATURES[place], self._labels, self.unknowable)
            return min(losses, key=lambda place: losses[place])

        # The loss falls and then rises, so the best of every tenth temperature is near the best of all.
        near = best_of(range(0, len(_TEMPERATURES), 10))
        best = best_of(range(max(0, near - 9), min(len(_TEMPERATURES), near + 10)))
        return losses[best], float(_TEMPERATURES[best])

    def _best(
        self,
        before: NDArray[np.float64],
        weights: Sequence[float],
        weighed: Callable[[float], NDArray[np.float64]],
    ) -> tuple[float, float] | None:
        """The weight whose logits make labels likeliest, with its temperature, if the gain is clear."""
        _, temperature, weight = min((*self._calibrate(weighed(weight)), weight) for weight in weights)
        gains = self._surprises(before) - self._surprises(weighed(weight) / temperature)
        return (weight, temperature) if gains.mean() > gains.std() / np.sqrt(len(gains)) else None

    def _surprises(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        own = softmax(logits)[np.arange(len(logits)), self._labels]
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
    with few_labels_expected():
        parts = list(folds.split(points, codes))
    shape = len(places), len(classes)
    held_out = _HeldOut(places, unknowable, {strength: np.empty(shape) for strength in STRENGTHS})
    models: dict[float, list[Any]] = {strength: [] for strength in STRENGTHS}
    for strength, logits in held_out.regressions.items():
        for train, test in parts:
            model = fit_regression(strength, points[train], places[train])
            logits[test] = logits_of(model, points[test])
            models[strength].append(model)
    mixtures = []
    if cloud is not None:
        mixtures = [cloud.fit(nodes[train], places[train], len(classes)) for train, _ in parts]
        logs = np.empty(shape)
        for (_, test), mixture in zip(parts, mixtures, strict=True):
            logs[test] = cloud.log_probabilities(mixture, nodes[test])
        held_out = held_out._replace(logs=logs)
    fit = held_out.choose()
    if own is not None:
        evidence = {weight: np.empty(shape) for weight in OWN_WEIGHTS}
        for place, (train, test) in enumerate(parts):
            scores = vectors.scores(models[fit.strength][place], own.nodes, fit.temperature)
            if cloud is not None and fit.mixture_weight:
                scores = fit.with_mixture(scores, vectors.logs(cloud, mixtures[place], own.nodes))
            tested = OwnFeatures(own.features.take(nodes[test]), 1.0)
            for weight in OWN_WEIGHTS:
                odds = own.odds(scores, nodes[train], places[train], weight)
                evidence[weight][test] = weight * tested.evidence(odds)
        held_out = held_out._replace(evidence=evidence)
        fit = held_out.choose()
    logits = _nested_logits(held_out, fit, [test for _, test in parts])
    right = logits.argmax(axis=1) == places
    deviation = float(np.std([right[test].mean() for _, test in parts]))
    by_class = {int(code): float(right[codes == code].mean()) for code in classes}
    shares = softmax(logits)
    ranking = {
        int(code): float(roc_auc_score(places == place, shares[:, place]))
        for place, code in enumerate(classes)
    }
    known = len(right) / len(kept)  # a class with one label cannot be right when that is held out
    accuracy = known * float(right.mean())
    return fit._replace(accuracy=accuracy, deviation=known * deviation, by_class=by_class, ranking=ranking)


def _nested_logits(held_out: _HeldOut, fit: Fit, tests: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Logits of held-out labels, each by what the labels of the other folds would have chosen."""
    if len(held_out.places) > _MANY:
        return held_out.logits_for(fit)
    logits = np.empty_like(held_out.regressions[fit.strength])
    for test in tests:
        others = np.setdiff1d(np.arange(len(logits)), test)
        logits[test] = held_out._replace(rows=test).logits_for(held_out._replace(rows=others).choose())
    return logits


def _log_loss(logits: NDArray[np.float64], places: NDArray[Any], unknowable: float = 0.0) -> float:
    """The log-loss of labels, of which a share could be of any class."""
    losses = -np.log(np.maximum(softmax(logits), 1e-12))
    own = losses[np.arange(len(places)), places].mean()
    return float((1 - unknowable) * own + unknowable * losses.mean())
