"""How much memory predicting classes takes, and what a command's limit leaves room for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import check_limit, left_now
from nafs.answers.partly_labelled import Cloud
from nafs.answers.sources import classes_nbytes, cloud_nodes, learning_nodes
from nafs.clustering.own_features import OwnFeatures
from nafs.graph import Graph
from nafs.pipeline.decide import AUTO_DIM

_SCIKIT_LEARN = 70 * 10**6  # bytes that scikit-learn adds to the program


def check_room(graph: Graph, width: int | str, limit: int | None, all_probabilities: bool) -> None:
    """Raise before any work if there is no room for vectors and classes of all nodes."""
    left = left_now(limit)
    if left is None or limit is None:
        return
    if isinstance(width, str):
        columns = AUTO_DIM if graph.features is None else graph.features.shape[1]
        width = columns if width == "full" else min(columns, AUTO_DIM)
    needed = 4 * graph.n_nodes * width + _needed(graph, width)
    if all_probabilities:
        needed += 24 * graph.n_nodes * _labels(graph)[1]  # columns of the table, and as they are written
    check_limit(
        limit - left + needed,
        limit,
        f"predicting {_labels(graph)[1]:,} classes of {graph.n_nodes:,} nodes takes",
        "raise it",
    )


def _labels(graph: Graph) -> tuple[NDArray[np.int64], int]:
    """The labelled nodes, and the number of classes."""
    assert graph.labels is not None
    return np.flatnonzero(graph.labels.known), len(graph.labels.classes)


def _needed(graph: Graph, width: int) -> int:
    """Bytes of classes from vectors alone, with scikit-learn."""
    labelled, classes = _labels(graph)
    return _SCIKIT_LEARN + classes_nbytes(graph.n_nodes, len(labelled), classes, width)


def what_fits(graph: Graph, width: int, limit: int | None) -> tuple[bool, bool]:
    """Whether the limit leaves room for own features, and for a mixture of all nodes beside them."""
    left = left_now(limit)
    if left is None:
        return True, True
    labelled, classes = _labels(graph)
    left -= _needed(graph, width)
    features, own = graph.features, 0
    if features is not None and OwnFeatures.can_use(features):
        own = features.nbytes + OwnFeatures.nbytes(features, graph.n_nodes, classes)
        own += 200 * len(labelled) * classes
    nodes = cloud_nodes(learning_nodes(graph.n_nodes, labelled, 0), labelled, classes)
    cloud = Cloud.nbytes(len(nodes), width, classes)
    own_fits = own <= left
    return own_fits, cloud + (own if own_fits else 0) <= left
