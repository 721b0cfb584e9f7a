"""One function for every kind of graph object: it finds the reader for its argument."""

from __future__ import annotations

from typing import Any

from nafs._support.errors import InputTypeError
from nafs.graph import Graph
from nafs.readers.frames import from_edges
from nafs.readers.frameworks import from_igraph, from_networkx, from_pyg


def as_graph(graph: Any) -> Graph:
    """Convert any supported graph object: a Graph, NetworkX, igraph, PyG ``Data``, or tables.

    Parameters
    ----------
    graph : Graph, NetworkX or igraph graph, PyG Data, data frame of edges, or pair (edges, nodes) of frames

    Returns
    -------
    Graph
        A ``Graph`` is returned as it is.

    Examples
    --------
    >>> import networkx as nx
    >>> from nafs.readers.anything import as_graph
    >>> as_graph(nx.path_graph(3))
    Graph(3 nodes, 2 edges)
    """
    if isinstance(graph, Graph):
        return graph
    if _is_table(graph):
        return from_edges(graph)
    # A library is recognised by its objects, so that none has to be imported.
    if hasattr(graph, "nodes") and hasattr(graph, "is_multigraph"):
        return from_networkx(graph)
    if hasattr(graph, "vs") and hasattr(graph, "es"):
        return from_igraph(graph)
    if hasattr(graph, "edge_types") and hasattr(graph, "node_types"):
        raise InputTypeError(
            "this is a PyG HeteroData with several kinds of nodes: embed one kind over a meta-path, "
            "nafs.from_pyg(data, node_type=..., meta_path=[...])"
        )
    if hasattr(graph, "edge_index"):
        return from_pyg(graph)
    if isinstance(graph, tuple) and len(graph) == 2 and all(_is_table(part) for part in graph):
        return from_edges(*graph)
    kind = f"{type(graph).__module__}.{type(graph).__qualname__}".removeprefix("builtins.")
    raise InputTypeError(
        f"{kind} is not a graph; pass a Graph, a NetworkX, igraph or PyG graph, a data frame "
        "of edges or a pair (edges, nodes), or make a Graph with nafs.read_graph, from_edges or "
        "Graph(adjacency, features)"
    )


def _is_table(value: Any) -> bool:
    """Whether a value is a data frame: pandas, polars, pyarrow, or anything that speaks Arrow."""
    return hasattr(value, "__arrow_c_stream__") or (hasattr(value, "columns") and hasattr(value, "iloc"))
