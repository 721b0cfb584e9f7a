"""Link prediction: hide some edges, embed the remaining graph, and separate hidden edges from non-edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs.graph import Graph
from nafs.links import (
    SCORES,
    LinkHead,
    LinkSplit,
    PairNumbers,
    ranking_measures,
    score_links,
    split_links,
)
from nafs.tasks.result import TaskResult, check_rows

Embed = Callable[[Graph], NDArray[Any]]


def better_score(matrix: NDArray[Any], split: LinkSplit) -> str:
    """The product of vectors that best separates the validation edges from non-edges."""
    from sklearn.metrics import roc_auc_score

    pairs = np.concatenate([split.validation, split.validation_none])
    truth = np.arange(len(pairs)) < len(split.validation)
    return max(SCORES, key=lambda score: float(roc_auc_score(truth, score_links(matrix, pairs, score))))


def evaluate_links(
    graph: Graph,
    embed: Embed,
    *,
    splits: int = 5,
    first: int = 0,
    score: str = "auto",
    validation: float = 0.05,
    test: float = 0.10,
) -> TaskResult:
    """How well hidden edges are separated from non-edges, over several splits.

    Parameters
    ----------
    graph : Graph
    embed : callable
        Takes the graph without its hidden edges and returns a matrix with one row per node.
    splits : int
    first : int
        Seed of the first split; the others follow.
    score : {"auto", "head", "inner", "cosine"}
        The link head, which is fitted on the validation edges (see :mod:`nafs.links.head`), or inner
        product or cosine alone. "auto" is the head.
    validation, test : float
        Shares of the edges that are hidden; the result is that of the test edges.

    Returns
    -------
    TaskResult
        AUC, AP, Hits@10, 50 and 100, and MRR, each test edge against as many uniform non-edges as there
        are test edges; "AUC hard" and "AP hard" against non-edges drawn by degree.
    """
    check_choice("score", score, ("auto", "head", *SCORES))
    if splits < 1:
        raise InputError(Parameter("splits"), f" must be at least 1; got {splits}")
    values: dict[str, list[float]] = {}
    for seed in range(first, first + splits):
        split = split_links(graph, validation=validation, test=test, seed=seed)
        matrix = np.asarray(embed(split.graph))
        check_rows(matrix, graph)
        scores_of = _scorer(matrix, split, score)
        edges, none, hard = (scores_of(pairs) for pairs in (split.test, split.test_none, split.test_hard))
        measures = ranking_measures(edges, none)
        against_hard = ranking_measures(edges, hard)
        measures |= {f"{name} hard": against_hard[name] for name in ("AUC", "AP")}
        for name, value in measures.items():
            values.setdefault(name, []).append(value)
    names = {"inner": "inner product", "cosine": "cosine"}
    how = f"{names.get(score, 'link head')}, {splits} split{'s' if splits > 1 else ''}"
    return TaskResult(
        "link prediction", values, how, {"score": score, "validation": validation, "test": test}
    )


def _scorer(
    matrix: NDArray[Any], split: LinkSplit, score: str
) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """A function that scores pairs: the head fitted on the validation edges, or a product of vectors."""
    if score in SCORES:
        return lambda pairs: score_links(matrix, pairs, score)
    numbers = PairNumbers(split.graph.adjacency, matrix)
    head = LinkHead.fit(numbers, split.validation, split.validation_none, split.validation_hard)
    return lambda pairs: head.score(numbers, pairs)
