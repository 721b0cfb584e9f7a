"""What held-out labels decide: the strength of a regression, its temperature, and the weight of own features.

The strength of the regression is chosen by the log-loss of cross-validation on the labelled nodes. The same
held-out predictions then set a temperature: logits are divided by the number that makes the held-out labels
likeliest, so that about 80 % of the nodes predicted with probability 0.8 are right. A few labels say little,
so one more is counted that could be of any class, and so is every label of a class that was seen only once:
held out, it could not be predicted. The reported accuracy is that of the held-out predictions. It is a
little too high where labels are few, because the same predictions made the choices.

If the features before smoothing are known, each node's own features are heard beside its vector (see
:mod:`nafs.clustering.own_features`), with the weight that makes the held-out labels likeliest. They are left
out unless the gain in log-loss exceeds its standard error.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.clustering.own_features import OwnFeatures
from nafs.graph import Features

STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # C of the logistic regression
OWN_WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)  # of own features
FOLDS = 5
_VALUES = 1 << 22  # per block of rows
_SAMPLE = 20_000  # nodes without a label from which the odds of features are estimated
_TEMPERATURES = np.geomspace(0.05, 20, 121)


def blocks_of(matrix: NDArray[Any], n_rows: int | None = None) -> list[slice]:
    """Slices of all rows, or of a number of them, so that no copy of the whole matrix is made."""
    n_rows = len(matrix) if n_rows is None else n_rows
    step = max(1, _VALUES // max(1, matrix.shape[1]))
    return [slice(top, min(top + step, n_rows)) for top in range(0, n_rows, step)]


class Vectors(NamedTuple):
    """An embedding, and what its rows are multiplied by."""

    matrix: NDArray[Any]
    scales: NDArray[np.float32]

    def rows(self, nodes: Any) -> NDArray[Any]:
        """The scaled vectors of some nodes."""
        return np.asarray(self.matrix[nodes] * self.scales[nodes])

    def scores(self, model: Any, nodes: NDArray[np.int64], temperature: float) -> NDArray[np.float64]:
        """The calibrated logits of some nodes."""
        parts = [_logits(model, self.rows(nodes[rows])) for rows in blocks_of(self.matrix, len(nodes))]
        return np.concatenate(parts) / temperature


class Own(NamedTuple):
    """The features before smoothing, and the nodes from which the odds of features are estimated."""

    features: Features
    nodes: NDArray[np.int64]
    sampled: Features

    @classmethod
    def of(cls, features: Features, labelled: NDArray[np.int64], seed: int) -> Own:
        """All nodes, or the labelled ones and a sample of the others. No feature is negative."""
        nodes = np.arange(features.shape[0])
        if len(nodes) <= _SAMPLE:
            return cls(features, nodes, features)
        others = np.setdiff1d(nodes, labelled)
        more = min(len(others), _SAMPLE)
        some = np.random.default_rng(seed).choice(others, more, replace=False)
        nodes = np.sort(np.concatenate([labelled, some]))
        return cls(features, nodes, features.take(nodes))

    def odds(
        self, scores: NDArray[np.float64], labelled: NDArray[np.int64], places: NDArray[Any], weight: float
    ) -> NDArray[np.float32]:
        """The odds of each feature for each class, from the scores of the sampled nodes and known labels."""
        known = np.searchsorted(self.nodes, labelled), places
        return OwnFeatures(self.sampled, weight).odds(scores.T, known)


class Fit(NamedTuple):
    """What held-out labels decide: strength, temperature before and after own features, and their weight."""

    strength: float = 1.0
    temperature: float = 1.0
    weight: float = 0.0
    final_temperature: float = 1.0
    accuracy: float | None = None
    deviation: float | None = None


def validate(
    vectors: Vectors, nodes: NDArray[np.int64], codes: NDArray[Any], own: Own | None, seed: int
) -> Fit:
    """Choose by held-out predictions of the labelled nodes."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

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
    best: tuple[float, float, NDArray[Any], list[Any]] | None = None
    for strength in STRENGTHS:
        held_out = np.empty((len(codes), len(classes)))
        models = []
        for train, test in parts:
            model = LogisticRegression(C=strength, max_iter=1000).fit(points[train], codes[train])
            held_out[test] = _logits(model, points[test])
            models.append(model)
        loss = _log_loss(held_out, places)
        if best is None or loss < best[0]:
            best = loss, strength, held_out, models
    assert best is not None
    _, strength, held_out, models = best

    def calibrate(logits: NDArray[np.float64]) -> tuple[float, float]:
        losses = [_log_loss(logits / value, places, unknowable) for value in _TEMPERATURES]
        return min(losses), float(_TEMPERATURES[int(np.argmin(losses))])

    def surprises(logits: NDArray[np.float64]) -> NDArray[np.float64]:
        return -np.log(np.maximum(softmax(logits)[np.arange(len(places)), places], 1e-12))

    fit = Fit(strength, calibrate(held_out)[1])
    if own is not None:
        calibrated = held_out / fit.temperature
        weighed = {weight: calibrated.copy() for weight in OWN_WEIGHTS}
        for (train, test), model in zip(parts, models, strict=True):
            scores = vectors.scores(model, own.nodes, fit.temperature)
            tested = OwnFeatures(own.features.take(nodes[test]), 1.0)
            for weight in OWN_WEIGHTS:
                odds = own.odds(scores, nodes[train], places[train], weight)
                weighed[weight][test] += weight * tested.evidence(odds)
        _, temperature, weight = min((*calibrate(logits), weight) for weight, logits in weighed.items())
        gains = surprises(calibrated) - surprises(weighed[weight] / temperature)
        if gains.mean() > gains.std() / np.sqrt(len(gains)):
            held_out = weighed[weight]
            fit = fit._replace(weight=weight, final_temperature=temperature)
    right = held_out.argmax(axis=1) == places
    deviation = float(np.std([right[test].mean() for _, test in parts]))
    return fit._replace(accuracy=float(right.mean()), deviation=deviation)


def _logits(model: Any, points: NDArray[Any]) -> NDArray[np.float64]:
    """One column per class, also for two classes."""
    values = np.asarray(model.decision_function(points), np.float64)
    return np.column_stack([-values / 2, values / 2]) if values.ndim == 1 else values


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities, one row for each node."""
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _log_loss(logits: NDArray[np.float64], places: NDArray[Any], unknowable: float = 0.0) -> float:
    """The log-loss of labels, of which a share could be of any class."""
    losses = -np.log(np.maximum(softmax(logits), 1e-12))
    own = losses[np.arange(len(places)), places].mean()
    return float((1 - unknowable) * own + unknowable * losses.mean())
