"""One measurement: a rival solves a problem, and the same heads judge every rival.

Links are scored by inner products, embeddings are clustered by K-means and classified by a logistic
regression whose strength is chosen on validation nodes. Predictions are judged as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.meter import metered
from nafs.graph import Graph
from nafs.links import score_links, split_links
from nafs.rivals.contract import Problem, Progress, Rival, problem_of
from nafs.tasks import cluster, evaluate_classification
from nafs.tasks.clustering import judge_clusters
from nafs.tasks.links import better_score
from nafs.tasks.result import check_rows

LARGE, STARTS_LARGE = 10_000, 3  # nodes, and starts of K-means there
STARTS = 10  # for each seed, as scikit-learn had by default when the paper was written


def judge(
    rival: Rival,
    graph: Graph,
    task: str,
    seed: int = 0,
    *,
    split: Mapping[str, NDArray[np.int64]] | None = None,
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
        Its labels judge; the rival does not see them.
    task : {"links", "clustering", "classification"}
    seed : int
        Of the rival, of the hidden edges and of K-means.
    split : mapping, optional
        For classification: nodes under "train", "validation" and "test".
    n_clusters : int, optional
        By default the number of classes.
    score : {"inner", "cosine", "auto"}
        How pairs are scored for links; "auto" takes the better one on validation edges.
    dataset : str
        Name of a public data set, for settings that authors published.
    progress : callable, optional

    Returns
    -------
    dict
        AUC and AP; or ACC, NMI, ARI, F1, modularity and conductance; or ACC and F1. Besides, "seconds" of
        the fit and "bytes", the peak of the memory above what the process held before (where the system
        tells).
    """
    rival.check(task)
    if task == "links":
        hidden = split_links(graph, seed=seed)
        result, cost = timed(rival, problem_of(hidden.graph, task, dataset=dataset), seed, progress)
        return {**_links(result, hidden, score), **cost}
    problem = problem_of(graph, task, n_clusters=n_clusters, split=split, dataset=dataset)
    result, cost = timed(rival, problem, seed, progress)
    if task == "clustering":
        return {**clusters_of(result, graph, problem.n_clusters, seed), **cost}
    assert split is not None
    return {**_classes(result, graph, split), **cost}


def clusters_of(result: NDArray[Any], graph: Graph, n_clusters: int, seed: int) -> dict[str, float]:
    """How clusters, or K-means of an embedding, agree with the labels and with the edges."""
    if result.ndim == 2:
        check_rows(result, graph)
        starts = STARTS if len(result) <= LARGE else STARTS_LARGE
        result = cluster(result, n_clusters, method="kmeans", seed=seed, n_init=starts)
    return judge_clusters(np.asarray(result, np.int64), graph.adjacency, graph.labels)


def _links(matrix: NDArray[Any], hidden: Any, score: str) -> dict[str, float]:
    from sklearn.metrics import average_precision_score, roc_auc_score

    check_rows(matrix, hidden.graph)
    way = better_score(matrix, hidden) if score == "auto" else score
    truth = np.concatenate([np.ones(len(hidden.test)), np.zeros(len(hidden.test_none))])
    scores = score_links(matrix, np.concatenate([hidden.test, hidden.test_none]), way)
    return {
        "AUC": float(roc_auc_score(truth, scores)),
        "AP": float(average_precision_score(truth, scores)),
    }


def _classes(result: NDArray[Any], graph: Graph, split: Mapping[str, NDArray[np.int64]]) -> dict[str, float]:
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
    """What a rival returns, with its "seconds", its "cpu" seconds and its "bytes"."""
    return metered(lambda: rival(problem, seed, progress))
