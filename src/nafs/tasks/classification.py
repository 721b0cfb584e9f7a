"""Node classification: logistic regression on a frozen embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.counted import counted
from nafs._support.errors import InputError, Parameter
from nafs.graph import Graph
from nafs.tasks.result import TaskResult, check_rows

STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)  # C of the logistic regression, chosen on validation
Split = dict[str, NDArray[np.int64]]


def random_splits(
    graph: Graph, *, train: float = 0.1, validation: float = 0.1, count: int = 10
) -> list[Split]:
    """Stratified random splits of the labelled nodes; nodes outside train and validation are for testing.

    Parameters
    ----------
    graph : Graph
    train, validation : float
        Shares of each class, at least one node of it.
    count : int

    Returns
    -------
    list of dicts
        Under "train", "validation" and "test".
    """
    codes = _codes(graph)
    if not (train > 0 and validation > 0 and train + validation < 1):
        raise InputError(
            Parameter("train"),
            " and ",
            Parameter("validation"),
            f" must be positive and add up to less than 1; got {train} and {validation}",
        )
    splits = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        parts: dict[str, list[NDArray[np.int64]]] = {"train": [], "validation": [], "test": []}
        for code in range(int(codes.max()) + 1):
            nodes = rng.permutation(np.flatnonzero(codes == code))
            first = max(1, round(train * len(nodes)))
            second = first + max(1, round(validation * len(nodes)))
            for name, part in zip(parts, np.split(nodes, [first, second]), strict=True):
                parts[name].append(part)
        splits.append({name: np.sort(np.concatenate(nodes)) for name, nodes in parts.items()})
    return splits


def evaluate_classification(
    matrix: NDArray[Any], graph: Graph, splits: Sequence[Split] | None = None, *, count: int = 10
) -> TaskResult:
    """Accuracy and macro-F1 of logistic regression on the test nodes of each split.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
        An embedding of any origin. It is scaled as a whole to rows of mean length 1; columns are not scaled
        separately.
    graph : Graph
        With labels.
    splits : sequence of dicts, optional
        Index arrays under "train", "validation" and "test"; random ones by default.
    count : int
        Number of random splits.

    Returns
    -------
    TaskResult
    """
    from sklearn.metrics import accuracy_score, f1_score

    matrix = check_rows(matrix, graph)
    codes = _codes(graph)
    matrix = matrix / (np.linalg.norm(matrix, axis=1).mean() or 1.0)  # so that strengths are comparable
    how = (
        f"logistic regression, {counted(len(splits), 'given split')}"
        if splits
        else f"logistic regression, {count} random splits"
    )
    splits = splits or random_splits(graph, count=count)
    if not splits:
        raise InputError("at least 1 split is needed; got ", Parameter("count", count))
    values: dict[str, list[float]] = {"ACC": [], "F1": []}
    for parts in labelled_parts(graph, splits)[1]:
        best = _best_model(matrix, codes, parts)
        predicted, truth = best.predict(matrix[parts["test"]]), codes[parts["test"]]
        values["ACC"].append(float(accuracy_score(truth, predicted)))
        values["F1"].append(float(f1_score(truth, predicted, average="macro", zero_division=0)))
    return TaskResult("classification", values, how)


def labelled_parts(graph: Graph, splits: Sequence[Split]) -> tuple[NDArray[np.int32], list[Split]]:
    """The classes, and the labelled nodes of each split; raises if a split cannot be used."""
    codes, labelled = _codes(graph), []
    for split in splits:
        parts = {name: nodes[codes[nodes] >= 0] for name, nodes in split.items()}
        empty = next((name for name, nodes in parts.items() if not len(nodes)), None)
        if empty is not None:
            raise InputError(f"no labelled node is left for {empty}: the classes are too small to be split")
        if len(np.unique(codes[parts["train"]])) < 2:
            raise InputError("the training nodes have one class only; classification needs two")
        labelled.append(parts)
    return codes, labelled


def _best_model(matrix: NDArray[Any], codes: NDArray[Any], parts: Split) -> Any:
    """The regression with the strength that is best on the validation nodes."""
    from sklearn.linear_model import LogisticRegression

    train, validation = parts["train"], parts["validation"]
    models = []
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, max_iter=500, tol=1e-3)
        models.append(model.fit(matrix[train], codes[train]))
    return max(models, key=lambda model: model.score(matrix[validation], codes[validation]))


def _codes(graph: Graph) -> NDArray[np.int32]:
    if graph.labels is None:
        raise InputError("classification needs labels, and the graph has none")
    if len(graph.labels.classes) < 2:
        raise InputError("classification needs at least 2 classes; there is one")
    return graph.labels.codes
