"""Graphs of other libraries: NetworkX, igraph, PyG. Only their objects are touched, nothing is imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs.graph import Graph, read_adjacency
from nafs.readers.columns import numbers_of
from nafs.readers.edges import Edges
from nafs.readers.join import isolated_note, without_features

_VECTORS = ("x", "features")


def from_networkx(
    graph: Any,
    *,
    features: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = "weight",
    directed: bool = False,
    self_loops: bool = False,
) -> Graph:
    """A graph from NetworkX; nodes keep their order and their names.

    Parameters
    ----------
    graph : networkx graph of any kind
    features : str or sequence of str, optional
        A node attribute that holds a vector, or several that hold numbers. By default "x" or "features",
        where nodes have that. A node without them gets zeros, with a warning.
    label : str, optional
        Node attribute with the class; by default "label", where nodes have that.
    weight : str, optional
        Edge attribute; an edge without it weighs 1. ``None`` ignores weights.
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`; by default an edge counts both ways.

    Returns
    -------
    Graph
    """
    if not hasattr(graph, "nodes") or not hasattr(graph, "is_multigraph"):
        raise TypeError(f"expected a NetworkX graph; got {type(graph).__module__}.{type(graph).__qualname__}")
    names = _names(list(graph.nodes))
    attributes = [data for _, data in graph.nodes(data=True)]
    place = {node: i for i, node in enumerate(graph.nodes)}
    ends = np.fromiter((place[end] for u, v in graph.edges() for end in (u, v)), np.int64).reshape(-1, 2)
    weights = None
    if weight is not None and any(weight in data for _, _, data in graph.edges(data=True)):
        weights = [data.get(weight, 1) for _, _, data in graph.edges(data=True)]
    one_way = graph.is_directed() and not directed
    return _from_lists(names, attributes, ends, weights, features, label, directed, self_loops, one_way)


def from_igraph(
    graph: Any,
    *,
    name: str = "name",
    features: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = "weight",
    directed: bool = False,
    self_loops: bool = False,
) -> Graph:
    """A graph from igraph; vertices keep their order.

    Parameters
    ----------
    graph : igraph.Graph
    name : str
        Vertex attribute with the ids; where it is missing vertices are called 0..n-1.
    features, label, weight, directed, self_loops
        As in :func:`from_networkx`, from vertex and edge attributes.

    Returns
    -------
    Graph
    """
    if not hasattr(graph, "vs") or not hasattr(graph, "es"):
        raise TypeError(f"expected an igraph.Graph; got {type(graph).__module__}.{type(graph).__qualname__}")
    attributes = [vertex.attributes() for vertex in graph.vs]
    named = name in graph.vs.attributes()
    names = _names(graph.vs[name] if named else list(range(graph.vcount())))
    ends = np.asarray(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = None
    if weight is not None and weight in graph.es.attributes():
        weights = [1 if value is None else value for value in graph.es[weight]]
    one_way = graph.is_directed() and not directed
    return _from_lists(names, attributes, ends, weights, features, label, directed, self_loops, one_way)


def from_pyg(data: Any, *, directed: bool = False, self_loops: bool = False) -> Graph:
    """A graph from a PyG ``Data`` object: ``edge_index``, ``x``, ``y`` and ``edge_weight``.

    Parameters
    ----------
    data : torch_geometric.data.Data
        Without ``edge_weight``, an ``edge_attr`` of one column is taken for weights. ``y`` is taken for
        labels if it holds one whole number for each node.
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`; by default an edge counts both ways.

    Returns
    -------
    Graph
        Nodes are called 0..n-1.
    """
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None:
        raise TypeError(
            f"expected PyG Data with an edge_index; got {type(data).__module__}.{type(data).__qualname__}"
        )
    ends = _array(edge_index)
    if ends.ndim != 2 or ends.shape[0] != 2:
        raise ValueError(f"edge_index must have shape (2, m); got {ends.shape}")
    x = getattr(data, "x", None)
    features = None if x is None else _tensor_matrix(x)
    n = int(data.num_nodes if features is None else features.shape[0])
    if ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < n:
        raise ValueError(f"edge_index names node {int(ends.max())}, but there are {n} nodes")
    weights, notes = getattr(data, "edge_weight", None), []
    attributes = getattr(data, "edge_attr", None)
    if weights is None and attributes is not None:
        if attributes.ndim == 1 or attributes.shape[1] == 1:
            weights = attributes
        else:
            notes.append(f"edge_attr has {attributes.shape[1]} columns and is not used")
    values = np.ones(ends.shape[1], bool) if weights is None else _array(weights).reshape(-1)
    matrix = sp.coo_array((values, (ends[0], ends[1])), shape=(n, n))
    adjacency = read_adjacency(matrix, directed=directed, self_loops=self_loops)
    labels = None
    y = getattr(data, "y", None)
    if y is not None:
        found = _array(y)
        if found.size == n and found.dtype.kind in "iub":
            labels = found.reshape(-1)
        else:
            notes.append(
                f"y of shape {found.shape} and type {found.dtype} is no class for each node: not used"
            )
    notes += isolated_note(adjacency)
    return Graph(adjacency, features, labels=labels, notes=notes)


def _array(tensor: Any) -> Any:
    return np.asarray(tensor.detach().cpu().numpy() if hasattr(tensor, "detach") else tensor)


def _tensor_matrix(x: Any) -> Any:
    if getattr(x, "is_sparse", False) or "sparse" in str(getattr(x, "layout", "")):
        found = x.detach().cpu().to_sparse_coo().coalesce()
        return sp.csr_array(
            (_array(found.values()), tuple(_array(found.indices()))), shape=tuple(found.shape)
        )
    return _array(x)


def _names(nodes: list[Any]) -> Any:
    """Node names as ids: ints, strings, or both as strings."""
    import pyarrow as pa

    strange = [
        node for node in nodes if not isinstance(node, (int, str, np.integer)) or isinstance(node, bool)
    ]
    if strange:
        raise TypeError(
            f"node {strange[0]!r} is neither a whole number nor a string; rename the nodes, for example "
            "with networkx.relabel_nodes(graph, str)"
        )
    if any(isinstance(node, str) or abs(node) >= 2**63 for node in nodes):
        return pa.array([str(node) for node in nodes], pa.large_string())
    return pa.array([int(node) for node in nodes], pa.int64())


def _from_lists(
    names: Any,
    attributes: list[dict[str, Any]],
    ends: Any,
    weights: list[Any] | None,
    features: str | Sequence[str] | None,
    label: str | None,
    directed: bool,
    self_loops: bool,
    one_way: bool,
) -> Graph:
    import pyarrow as pa

    numbers = None if weights is None else numbers_of(weights, "edge weights")
    edges = Edges(names, ends[:, 0].astype(np.int32), ends[:, 1].astype(np.int32), numbers)
    adjacency = edges.adjacency(None, len(names), directed=directed, self_loops=self_loops)
    notes: list[str] = []
    wanted = (
        features
        if features is not None
        else next((name for name in _VECTORS if any(name in data for data in attributes)), None)
    )
    matrix, column_names, lacking = (
        _vectors(attributes, wanted, names) if wanted is not None else (None, None, [])
    )
    chosen = label or ("label" if any("label" in data for data in attributes) else None)
    if label is not None and not any(label in data for data in attributes):
        raise ValueError(f"no node has the attribute {label!r} for labels")
    labels = None if chosen is None else _label_array([data.get(chosen) for data in attributes])
    if one_way:
        notes.append("the graph is directed; its edges count both ways (directed=True keeps the direction)")
    if wanted is None:
        unused = sorted({name for data in attributes for name, value in data.items() if _is_number(value)})
        if unused:
            notes.append(
                f"node attributes {', '.join(unused[:5])} are not used; features=[...] makes them features"
            )
    if len(lacking):
        without_features("nodes", names.take(pa.array(lacking)), len(names), "zeros", notes)
    notes += isolated_note(adjacency)
    return Graph(adjacency, matrix, ids=names, labels=labels, feature_names=column_names, notes=notes)


def _label_array(values: list[Any]) -> Any:
    from nafs.graph.ids import as_arrow

    return as_arrow(values, "labels")


def _vectors(
    attributes: list[dict[str, Any]], wanted: str | Sequence[str], names: Any
) -> tuple[Any, list[str] | None, list[int]]:
    """The feature matrix, its column names, and which nodes had no features."""
    several = [wanted] if isinstance(wanted, str) else list(wanted)
    rows = [_vector(data, several) for data in attributes]
    width = max((len(row) for row in rows if row is not None), default=0)
    if not width:
        raise ValueError(f"no node has the attribute {several[0]!r} for features")
    matrix = np.zeros((len(rows), width), np.float32)
    for i, row in enumerate(rows):
        if row is None:
            continue
        if len(row) != width:
            raise ValueError(f"node {names[i].as_py()!r} has {len(row)} features where others have {width}")
        try:
            matrix[i] = row
        except (TypeError, ValueError):
            raise ValueError(f"the features of node {names[i].as_py()!r} are not numbers: {row!r}") from None
    plain = len(several) == width
    return matrix, several if plain else None, [i for i, row in enumerate(rows) if row is None]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _vector(data: dict[str, Any], several: list[str]) -> Any:
    """The features of a node: of several attributes a missing one is 0; without any there are none."""
    there = [name for name in several if data.get(name) is not None]
    if not there or (len(there) < len(several) and any(np.ndim(data[name]) for name in there)):
        return None
    return np.concatenate(
        [np.atleast_1d(np.asarray(data[name] if name in there else 0.0)) for name in several]
    )
