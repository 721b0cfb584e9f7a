"""Link prediction: hide some edges, embed what is left, and tell hidden edges from pairs that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs.graph import Graph
from nafs.links import SCORES, LinkSplit, score_links, split_links
from nafs.tasks.result import TaskResult, check_rows

Embed = Callable[[Graph], NDArray[Any]]


def better_score(matrix: NDArray[Any], split: LinkSplit) -> str:
    """The score that tells the validation edges best from pairs that are none."""
    from sklearn.metrics import roc_auc_score

    pairs = np.concatenate([split.validation, split.validation_none])
    truth = np.arange(len(pairs)) < len(split.validation)
    return max(SCORES, key=lambda score: float(roc_auc_score(truth, score_links(matrix, pairs, score))))


def evaluate_links(
    graph: Graph,
    embed: Embed,
    *,
    splits: int = 5,
    score: str = "auto",
    validation: float = 0.05,
    test: float = 0.10,
) -> TaskResult:
    """AUC and AP of hidden edges against non-edges, over several splits.

    Parameters
    ----------
    graph : Graph
    embed : callable
        Takes the graph without its hidden edges and returns a matrix with one row per node.
    splits : int
    score : {"auto", "inner", "cosine"}
        Inner product or cosine; "auto" takes whichever has the better AUC on the validation edges.
    validation, test : float
        Shares of the edges that are hidden; the test edges are judged.

    Returns
    -------
    TaskResult
        AUC and AP against uniform non-edges; "AUC hard" and "AP hard" against non-edges drawn by degree.
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    check_choice("score", score, ("auto", *SCORES))
    if splits < 1:
        raise InputError(Parameter("splits"), f" must be at least 1; got {splits}")
    values: dict[str, list[float]] = {"AUC": [], "AP": [], "AUC hard": [], "AP hard": []}
    for seed in range(splits):
        split = split_links(graph, validation=validation, test=test, seed=seed)
        matrix = np.asarray(embed(split.graph))
        check_rows(matrix, graph)
        taken = better_score(matrix, split) if score == "auto" else score
        truth = np.concatenate([np.ones(len(split.test)), np.zeros(len(split.test))])
        for suffix, none in (("", split.test_none), (" hard", split.test_hard)):
            scores = score_links(matrix, np.concatenate([split.test, none]), taken)
            values[f"AUC{suffix}"].append(float(roc_auc_score(truth, scores)))
            values[f"AP{suffix}"].append(float(average_precision_score(truth, scores)))
    names = {
        "inner": "inner product",
        "cosine": "cosine",
        "auto": "inner product or cosine by validation edges",
    }
    how = f"{names[score]}, {splits} split{'s' if splits > 1 else ''}"
    return TaskResult(
        "link prediction", values, how, {"score": score, "validation": validation, "test": test}
    )
