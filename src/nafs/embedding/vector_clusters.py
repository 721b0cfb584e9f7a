"""Clusters of the vectors of one embedding, where none were found along with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.clustering import Clustering, ClusterSearch
from nafs.graph import Graph

_ONE = (
    "these are clusters of one embedding; those of several numbers of hops, which are found along with an "
    "embedding whose number of hops is left to auto, are usually better"
)


def cluster_vectors(
    matrix: NDArray[Any], n_hops: int, n_clusters: int | str, graph: Graph | None, seed: int
) -> Clustering:
    """A consensus of several methods and starts; the edges of a graph help to choose the number."""
    most = n_clusters if isinstance(n_clusters, int) else None
    adjacency = None if graph is None else graph.adjacency
    search = ClusterSearch([(n_hops, np.asarray(matrix, np.float32))], most, graph=adjacency)
    clustering = search.cluster(n_clusters, seed)
    return replace(clustering, reasons=(*clustering.reasons, _ONE))
