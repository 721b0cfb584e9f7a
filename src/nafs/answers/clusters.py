"""The cluster of every node, and a table that describes each cluster in words."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.counted import counted
from nafs._support.extras import require
from nafs._support.markup import html_table
from nafs.clustering import Clustering
from nafs.clustering.description import Cluster, NodeFacts, describe_clusters
from nafs.graph import Graph
from nafs.graph.adjacency import find_stack_level
from nafs.readers.joined import with_id_name


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of every node.

    Attributes
    ----------
    ids : Arrow array
    clustering : Clustering
        The labels, how many candidates agreed with them and how much, and the reasons.
    described : list of Cluster
        Name, size, cohesion, typical nodes and words of each cluster.
    id_name : str
        What the user's own table calls the ids.
    """

    ids: Any
    clustering: Clustering
    described: list[Cluster]
    id_name: str = "id"

    def __repr__(self) -> str:
        doubtful = ", doubtful: see explain()" if self.clustering.doubtful and len(self.described) > 1 else ""
        return f"Clusters({len(self.ids)} nodes in {counted(len(self.described), 'cluster')}{doubtful})"

    def _repr_html_(self) -> str:
        table = self.description()
        rows = [
            ["" if value is None else _shown(value) for value in row.values()] for row in table.to_pylist()
        ]
        return html_table(rows, caption=repr(self), header=table.column_names)

    @property
    def labels(self) -> NDArray[np.int64]:
        """Cluster of each node, numbered from 0."""
        return self.clustering.labels

    def explain(self) -> str:
        """How the clusters were found and how far they can be trusted, one line each."""
        return self.clustering.explain()

    def to_arrow(self) -> Any:
        """An Arrow table: ids, number and name of the cluster."""
        import pyarrow as pa

        names = pa.array([cluster.name for cluster in self.described])
        chosen = names.take(pa.array(self.labels))
        table = pa.table({"id": self.ids, "cluster": self.labels, "cluster_name": chosen})
        return with_id_name(table, self.id_name)

    def to_pandas(self) -> Any:
        """The same as a pandas data frame."""
        require("pandas", "to_pandas()")
        return self.to_arrow().to_pandas()

    def description(self) -> Any:
        """A table that describes each cluster: size, cohesion, typical nodes, what distinguishes it."""
        import pyarrow as pa

        shown = self.ids.to_pylist() if len(self.ids) < 10_000 else None

        def typical(rows: list[int]) -> str:
            return ", ".join(str(shown[i] if shown else self.ids[i].as_py()) for i in rows)

        return pa.table(
            {
                "cluster": np.arange(len(self.described)),
                "name": [cluster.name for cluster in self.described],
                "size": [cluster.size for cluster in self.described],
                "cohesion": [cluster.cohesion for cluster in self.described],
                "typical": [typical(cluster.typical) for cluster in self.described],
                "distinguished_by": [cluster.words for cluster in self.described],
            }
        )


def _shown(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def clusters_of(
    matrix: NDArray[Any],
    ids: Any,
    clustering: Clustering,
    graph: Graph | None = None,
    id_name: str = "id",
) -> Clusters:
    """A clustering with its clusters described by the features of a graph, if these have names."""
    facts = None
    if graph is not None and graph.features is not None and graph.feature_names is not None:
        facts = NodeFacts(features=(graph.features.matrix, list(graph.feature_names)))
    described = describe_clusters(clustering.labels, matrix, ids.to_pylist(), facts)
    return Clusters(ids, clustering, described, id_name)


def warn_if_fewer(clusters: Clusters, n_clusters: int | str) -> Clusters:
    """The clusters, with a warning if they are fewer than a caller asked for."""
    count = len(clusters.described)
    if n_clusters != "auto" and count < int(n_clusters):
        # In the words of the reasons, so that the command, which shows both, says it once.
        noun = "cluster" if count == 1 else "clusters"
        message = f"{count} {noun} instead of {n_clusters}: no node is left for the others"
        warnings.warn(message, UserWarning, stacklevel=find_stack_level())
    return clusters
