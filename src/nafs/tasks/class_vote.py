"""Node classification from several embeddings: the best few on the validation nodes vote.

With few labels, only a handful of validation nodes decide which number of hops and which scaling are best,
and the single best choice is often luck. The mean probability of the three best is more stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs.clustering.directions import unit_rows
from nafs.graph import Graph
from nafs.pipeline import Job, Settings, sweep
from nafs.smoothing.method import AUTO
from nafs.tasks.classification import Split, labelled_parts, random_splits
from nafs.tasks.result import TaskResult, check_rows

HOPS = (4, 8, 15, 30)
STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # C of the logistic regression
VOTERS = 3


class _Voter(NamedTuple):
    """Probabilities of the test nodes, and how good the model is on the validation nodes."""

    accuracy: float
    log_loss: float
    probabilities: NDArray[np.float64]


def evaluate_class_vote(
    embeddings: Iterable[NDArray[Any]],
    graph: Graph,
    splits: Sequence[Split] | None = None,
    *,
    count: int = 10,
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
    for matrix in embeddings:
        check_rows(matrix, graph)
        for points in _scalings(matrix):
            for part, candidates in zip(parts, voters, strict=True):
                candidates.append(_voter(points, codes, part))
    values: dict[str, list[float]] = {"ACC": [], "F1": []}
    for part, candidates in zip(parts, voters, strict=True):
        best = sorted(candidates, key=lambda voter: (-voter.accuracy, voter.log_loss))[:VOTERS]
        classes = np.unique(codes[part["train"]])
        predicted = classes[np.mean([voter.probabilities for voter in best], axis=0).argmax(axis=1)]
        truth = codes[part["test"]]
        values["ACC"].append(float(accuracy_score(truth, predicted)))
        values["F1"].append(float(f1_score(truth, predicted, average="macro", zero_division=0)))
    how = f"{VOTERS} best of {len(voters[0])} logistic regressions, {len(splits)} "
    how += "given split(s)" if user_splits else "random splits"
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


def _voter(points: NDArray[np.float64], codes: NDArray[Any], part: Split) -> _Voter:
    """The regression with the strength that is best on the validation nodes."""
    from sklearn.linear_model import LogisticRegression

    train, validation, test = part["train"], part["validation"], part["test"]
    if points.shape[1] > len(train):
        # The weights lie in the span of the training rows, so nothing is lost by a rotation into it.
        _, _, axes = np.linalg.svd(points[train], full_matrices=False)
        points = points @ axes.T
    best = None
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, max_iter=500, tol=1e-3).fit(points[train], codes[train])
        seen = model.predict_proba(points[validation])
        accuracy = float((model.classes_[seen.argmax(axis=1)] == codes[validation]).mean())
        place = np.searchsorted(model.classes_, codes[validation]).clip(0, len(model.classes_) - 1)
        right = np.where(model.classes_[place] == codes[validation], seen[np.arange(len(seen)), place], 0)
        loss = float(-np.log(np.maximum(right, 1e-9)).mean())
        if best is None or (accuracy, -loss) > (best.accuracy, -best.log_loss):
            best = _Voter(accuracy, loss, model.predict_proba(points[test]))
    assert best is not None
    return best
