"""Node classification from several embeddings: the best few on the validation nodes vote.

With few labels, only a handful of validation nodes decide which number of hops and which scaling are best,
and the single best choice is often luck. The mean probability of the five best is more stable.

Each model also competes in versions that hear every node's own features, before smoothing, with different
weights (see :mod:`nafs.clustering.own_features`). How frequent a feature is in a class is estimated from all
nodes, by the probabilities of their classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs._support.blas import one_blas_thread
from nafs._support.counted import counted
from nafs._support.errors import InputError, Parameter
from nafs.clustering.directions import unit_rows
from nafs.clustering.own_features import OwnFeatures
from nafs.graph import Graph
from nafs.pipeline import Job, Settings, sweep
from nafs.selection.preprocessing import own_features_of
from nafs.smoothing.method import AUTO
from nafs.tasks.classification import Split, labelled_parts, random_splits
from nafs.tasks.result import TaskResult, check_rows

HOPS = (4, 8, 15, 30)
STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # C of the logistic regression
VOTERS = 5
OWN_WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5)  # of own features; less than for clusters, whose scores are too sure


class _Voter(NamedTuple):
    """Probabilities of the test nodes, and how good the model is on the validation nodes."""

    accuracy: float
    log_loss: float
    probabilities: NDArray[np.float64]


@one_blas_thread()
def evaluate_class_vote(
    embeddings: Iterable[NDArray[Any]],
    graph: Graph,
    splits: Sequence[Split] | None = None,
    *,
    count: int = 10,
    own_features: bool = True,
) -> TaskResult:
    """Accuracy and macro-F1 on the test nodes of each split.

    Parameters
    ----------
    embeddings : iterable of ndarray of shape (n, d)
        Each is used in three forms: unchanged, with rows of length 1, and with centred rows of length 1. They
        are read one by one and not kept.
    graph : Graph
        With labels.
    splits : sequence of dicts, optional
        Index arrays under "train", "validation" and "test"; random ones by default.
    count : int
        Number of random splits.
    own_features : bool
        Whether models that hear the features before smoothing compete as well.

    Returns
    -------
    TaskResult

    Examples
    --------
    >>> from nafs import embed
    >>> from nafs.datasets import contextual_sbm
    >>> from nafs.tasks import evaluate_class_vote
    >>> graph = contextual_sbm(300, n_classes=3, signal=2.0, seed=0)
    >>> result = evaluate_class_vote([embed(graph, n_hops=k).matrix for k in (2, 4)], graph, count=2)
    >>> result.mean("ACC") > 0.8
    True
    """
    from sklearn.metrics import accuracy_score, f1_score

    user_splits = splits is not None
    splits = random_splits(graph, count=count) if splits is None else splits
    if not splits:
        raise InputError("at least 1 split is needed; got ", Parameter("count", count))
    codes, parts = labelled_parts(graph, splits)
    voters: list[list[_Voter]] = [[] for _ in parts]
    features = own_features_of(graph) if own_features else None
    own = [] if features is None else [OwnFeatures(features, weight) for weight in OWN_WEIGHTS]
    tried = 0
    for matrix in embeddings:
        check_rows(matrix, graph)
        for points in _scalings(matrix):
            for part, best in zip(parts, voters, strict=True):
                best.extend(_candidates(points, codes, part, own))
                best.sort(key=lambda voter: (-voter.accuracy, voter.log_loss))
                del best[VOTERS:]
            tried += 1 + len(own)
    values: dict[str, list[float]] = {"ACC": [], "F1": []}
    for part, best in zip(parts, voters, strict=True):
        classes = np.unique(codes[part["train"]])
        predicted = classes[np.mean([voter.probabilities for voter in best], axis=0).argmax(axis=1)]
        truth = codes[part["test"]]
        values["ACC"].append(float(accuracy_score(truth, predicted)))
        values["F1"].append(float(f1_score(truth, predicted, average="macro", zero_division=0)))
    how = f"{len(voters[0])} best of {tried} models, "
    how += counted(len(splits), f"{'given' if user_splits else 'random'} split")
    return TaskResult("classification", values, how)


def embeddings_for_classes(graph: Graph, settings: Settings) -> Iterator[NDArray[np.float32]]:
    """Candidate embeddings: several numbers of hops, with prepared and with plain features."""
    kinds = (AUTO, "none") if settings.preprocessing == AUTO else (settings.preprocessing,)
    for kind in kinds:
        chosen = replace(settings, preparations=replace(settings.preparations, preprocessing=kind))
        for _, matrix in sweep(Job.of(graph, chosen.with_hops(HOPS[-1])), HOPS):
            yield matrix


def _scalings(matrix: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    points = np.asarray(matrix, np.float64)
    yield points / (np.linalg.norm(points, axis=1).mean() or 1.0)  # so that strengths are comparable
    yield unit_rows(points)
    yield unit_rows(points - points.mean(axis=0))


def _candidates(
    points: NDArray[np.float64], codes: NDArray[Any], part: Split, own: Sequence[OwnFeatures]
) -> Iterator[_Voter]:
    """The best regression on these points, and how it does with own features at each weight."""
    model, points = _regression(points, codes, part)
    probabilities = model.predict_proba(points)
    yield _voter(probabilities, model.classes_, codes, part)
    known = part["train"], np.searchsorted(model.classes_, codes[part["train"]])
    scores = np.log(np.maximum(probabilities, 1e-6)).T.astype(np.float32)
    for features in own:
        refined = features.refine(scores, known)
        shares = np.exp(refined - refined.max(axis=0)).astype(np.float64)
        yield _voter((shares / shares.sum(axis=0)).T, model.classes_, codes, part)


def _voter(
    probabilities: NDArray[np.float64], classes: NDArray[Any], codes: NDArray[Any], part: Split
) -> _Voter:
    """Accuracy and loss on the validation nodes, and the probabilities of the test nodes."""
    accuracy, loss = _rating(probabilities[part["validation"]], classes, codes[part["validation"]])
    return _Voter(accuracy, loss, probabilities[part["test"]])


def _rating(
    probabilities: NDArray[np.float64], classes: NDArray[Any], truth: NDArray[Any]
) -> tuple[float, float]:
    """Accuracy and mean negative logarithm of the probability of the right class."""
    accuracy = float((classes[probabilities.argmax(axis=1)] == truth).mean())
    place = np.searchsorted(classes, truth).clip(0, len(classes) - 1)
    right = np.where(classes[place] == truth, probabilities[np.arange(len(truth)), place], 0)
    return accuracy, float(-np.log(np.maximum(right, 1e-9)).mean())


def _regression(
    points: NDArray[np.float64], codes: NDArray[Any], part: Split
) -> tuple[Any, NDArray[np.float64]]:
    """The regression with the strength that is best on the validation nodes, and the points it takes."""
    from sklearn.linear_model import LogisticRegression

    train, validation = part["train"], part["validation"]
    if points.shape[1] > len(train):
        # The weights lie in the span of the training rows, so nothing is lost by a rotation into it.
        _, _, axes = np.linalg.svd(points[train], full_matrices=False)
        points = points @ axes.T
    models = []
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, max_iter=500, tol=1e-3).fit(points[train], codes[train])
        accuracy, loss = _rating(model.predict_proba(points[validation]), model.classes_, codes[validation])
        models.append((-accuracy, loss, strength, model))
    return min(models)[-1], points
