"""One measurement: a rival solves a problem, and every rival is evaluated in the same way.

Links are scored by inner products, embeddings are clustered by K-means and classified by a logistic
regression whose strength is chosen on validation nodes. Predictions are evaluated directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.meter import metered
from nafs.clustering.kmeans import kmeans_by_seed
from nafs.graph import Graph
from nafs.links import score_links, split_links
from nafs.rivals.contract import Problem, Progress, Rival, problem_of
from nafs.tasks import evaluate_classification
from nafs.tasks.clustering import judge_clusters
from nafs.tasks.links import better_score
from nafs.tasks.result import check_rows

Split = Mapping[str, NDArray[np.int64]]
LARGE, STARTS_LARGE = 10_000, 3  # nodes, and starts of K-means there
STARTS = 10  # for each seed: scikit-learn's default when the paper was written


def judge(
    rival: Rival,
    graph: Graph,
    task: str,
    seed: int = 0,
    *,
    split: Split | None = None,
    n_clusters: int | None = None,
    score: str = "inner",
    dataset: str = "",
    progress: Progress | None = None,
) -> dict[str, float]:
    """Metrics of a rival for one seed, with the seconds and bytes that it took.

    Parameters
    ----------
    rival : Rival
    graph : Graph
        With labels for the evaluation; the rival does not see them.
    task : {"links", "clustering", "classification"}
    seed : int
        Of the rival, of the hidden edges and of K-means.
    split : mapping, optional
        For classification: nodes under "train", "validation" and "test".
    n_clusters : int, optional
        By default the number of classes.
    score : {"inner", "cosine", "auto"}
        How pairs are scored for links; "auto" uses the score that is better on validation edges.
    dataset : str
        Name of a public data set, for settings that authors published.
    progress : callable, optional

    Returns
    -------
    dict
        AUC and AP; or ACC, NMI, ARI, F1, modularity and conductance; or ACC and F1. Also "seconds" of the fit
        and "bytes", the peak memory beyond what the process held before (on Linux).
    """
    rival.check(task)
    if task == "links":
        return links(rival, graph, seed, score, dataset, progress)
    if task == "clustering":
        return clustering(rival, graph, seed, n_clusters, dataset, progress)
    return classification(rival, graph, seed, split, dataset, progress)


def links(
    rival: Rival, graph: Graph, seed: int, score: str, dataset: str, progress: Progress | None
) -> dict[str, float]:
    """How well hidden edges are separated from non-edges."""
    hidden = split_links(graph, seed=seed)
    result, cost = timed(rival, problem_of(hidden.graph, "links", dataset=dataset), seed, progress)
    return {**_ranking(result, hidden, score), **cost}


def clustering(
    rival: Rival, graph: Graph, seed: int, n_clusters: int | None, dataset: str, progress: Progress | None
) -> dict[str, float]:
    """How well clusters agree with the labels and with the edges."""
    problem = problem_of(graph, "clustering", n_clusters=n_clusters, dataset=dataset)
    result, cost = timed(rival, problem, seed, progress)
    return {**clusters_of(result, graph, problem.n_clusters, seed), **cost}


def classification(
    rival: Rival, graph: Graph, seed: int, split: Split | None, dataset: str, progress: Progress | None
) -> dict[str, float]:
    """Accuracy on the test nodes."""
    problem = problem_of(graph, "classification", split=split, dataset=dataset)
    assert split is not None  # checked by problem_of
    result, cost = timed(rival, problem, seed, progress)
    return {**_classes(result, graph, split), **cost}


def clusters_of(result: NDArray[Any], graph: Graph, n_clusters: int, seed: int) -> dict[str, float]:
    """How well clusters, or K-means of an embedding, agree with the labels and with the edges."""
    if result.ndim == 2:
        check_rows(result, graph)
        starts = STARTS if len(result) <= LARGE else STARTS_LARGE
        result = kmeans_by_seed(result, n_clusters, starts)(seed)
    return judge_clusters(np.asarray(result, np.int64), graph.adjacency, graph.labels)


def _ranking(matrix: NDArray[Any], hidden: Any, score: str) -> dict[str, float]:
    from sklearn.metrics import average_precision_score, roc_auc_score

    check_rows(matrix, hidden.graph)
    way = better_score(matrix, hidden) if score == "auto" else score
    truth = np.concatenate([np.ones(len(hidden.test)), np.zeros(len(hidden.test_none))])
    scores = score_links(matrix, np.concatenate([hidden.test, hidden.test_none]), way)
    return {
        "AUC": float(roc_auc_score(truth, scores)),
        "AP": float(average_precision_score(truth, scores)),
    }


def _classes(result: NDArray[Any], graph: Graph, split: Split) -> dict[str, float]:
    from sklearn.metrics import accuracy_score, f1_score

    if result.ndim == 2:
        values = evaluate_classification(result, graph, [dict(split)]).values
        return {name: numbers[0] for name, numbers in values.items()}
    assert graph.labels is not None
    codes = graph.labels.codes
    test = split["test"][codes[split["test"]] >= 0]
    return {
        "ACC": float(accuracy_score(codes[test], result[test])),
        "F1": float(f1_score(codes[test], result[test], average="macro", zero_division=0)),
    }


def timed(
    rival: Rival, problem: Problem, seed: int, progress: Progress | None = None
) -> tuple[NDArray[Any], dict[str, float]]:
    """The result of a rival, with its "seconds", its "cpu" seconds and its "bytes"."""
    return metered(lambda: rival(problem, seed, progress))
