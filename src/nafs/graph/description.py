"""Summary statistics of a graph."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nafs._support.markup import html_table

if TYPE_CHECKING:
    from nafs.graph.graph import Graph

_FEW_EDGES, _FEW_SHARE = 30, 0.01  # edges between labelled nodes, and as a share of all edges


@dataclass(frozen=True)
class Description:
    """The result of :meth:`nafs.Graph.describe`; ``print`` shows it as a table."""

    nodes: int
    edges: int
    directed: bool
    weighted: bool
    isolated: int
    components: int
    largest_component: int
    degree_quantiles: tuple[int, ...]  # min, 25 %, median, 75 %, max
    features: int | None = None
    feature_density: float | None = None
    empty_rows: int | None = None
    classes: int | None = None
    labelled: int | None = None
    homophily: float | None = None
    homophily_by_chance: float | None = None
    labelled_edges: int | None = None

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, value and a remark for each line of the table."""
        kind = "directed" if self.directed else "undirected"
        weights = "weighted" if self.weighted else "unweighted"
        degrees = " / ".join(str(value) for value in self.degree_quantiles)
        size = self.largest_component
        lines = [
            ("nodes", f"{self.nodes:,}", ""),
            ("edges", f"{self.edges:,}", f"{kind}, {weights}"),
            ("isolated nodes", f"{self.isolated:,}", ""),
            (
                "components",
                f"{self.components:,}",
                f"the largest has {size:,} node{'' if size == 1 else 's'}" if self.components > 1 else "",
            ),
            ("degree", degrees, "min / 25 % / median / 75 % / max"),
        ]
        if self.features is not None:
            lines.append(("features", f"{self.features:,}", f"{self.feature_density:.2%} not zero"))
        if self.empty_rows:
            lines.append(("nodes without features", f"{self.empty_rows:,}", "all their features are zero"))
        if self.classes is not None:
            lines.append(("classes", f"{self.classes:,}", f"{self.labelled:,} nodes are labelled"))
        if self.homophily is not None:
            lines.append(
                (
                    "homophily",
                    f"{self.homophily:.3f}",
                    f"of {self.labelled_edges:,} edges between labelled nodes, within a class; "
                    f"{self.homophily_by_chance:.3f} by chance" + self._doubt(),
                )
            )
        return lines

    def _doubt(self) -> str:
        """A remark where few edges say how homophilous the graph is."""
        assert self.labelled_edges is not None
        few = self.labelled_edges < _FEW_EDGES or self.labelled_edges < _FEW_SHARE * self.edges
        return "; too few edges to say much" if few else ""

    def as_dict(self) -> dict[str, Any]:
        """The statistics by name, for JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def _repr_html_(self) -> str:
        return html_table(self.rows())

    def __str__(self) -> str:
        return "\n".join(f"{name:<25}{f'{value}  {remark}'.strip()}" for name, value, remark in self.rows())


def describe(graph: Graph) -> Description:
    """Compute the statistics of a graph."""
    adjacency = graph.adjacency
    degrees = np.diff(adjacency.indptr)
    sizes = np.bincount(adjacency.components)
    quantiles = np.quantile(degrees, [0, 0.25, 0.5, 0.75, 1], method="nearest")
    more: dict[str, Any] = {}
    if graph.features is not None:
        n, f = graph.features.shape
        stored = int(np.count_nonzero(graph.features.values))
        more |= {"features": f, "feature_density": stored / (n * f)}
        more["empty_rows"] = int((graph.features.norms == 0).sum())
    if graph.labels is not None:
        more |= {"classes": len(graph.labels.classes), "labelled": int(graph.labels.known.sum())}
        more |= _homophily(graph)
    return Description(
        nodes=graph.n_nodes,
        edges=graph.n_edges,
        directed=adjacency.directed,
        weighted=adjacency.weights is not None,
        isolated=int((degrees == 0).sum()) if not adjacency.directed else _untouched(graph),
        components=len(sizes),
        largest_component=int(sizes.max()),
        degree_quantiles=tuple(int(value) for value in quantiles),
        **more,
    )


def _untouched(graph: Graph) -> int:
    """Number of nodes of a directed graph without incoming or outgoing edges."""
    touched = np.diff(graph.adjacency.indptr) > 0
    touched[graph.adjacency.indices] = True
    return int((~touched).sum())


def _homophily(graph: Graph) -> dict[str, Any]:
    """Share of edges between labelled nodes that stay within a class, and the same for random end points."""
    assert graph.labels is not None
    codes = graph.labels.codes
    a, b = codes[graph.adjacency.rows], codes[graph.adjacency.indices]
    both = (a >= 0) & (b >= 0)
    if not both.any():
        return {}
    ends = np.bincount(np.concatenate([a[both], b[both]])).astype(float)
    shares = ends / ends.sum()
    return {
        "homophily": float((a[both] == b[both]).mean()),
        "homophily_by_chance": float((shares**2).sum()),
        "labelled_edges": int(both.sum()) // (1 if graph.adjacency.directed else 2),
    }
