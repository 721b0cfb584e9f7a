"""Graphs of other libraries: NetworkX, igraph, PyG. Works on their objects, imports none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs.graph import Graph
from nafs.graph.adjacency import merge_edges, warn_user
from nafs.graph.node_columns import listed
from nafs.graph.numbers import numbers_of
from nafs.readers.edges import Edges, check_weights
from nafs.readers.heterogeneous import EdgeType, meta_path_graph
from nafs.readers.join import isolated_note, without_features
from nafs.readers.summary import columns_line, edges_line

_VECTORS = ("x", "features")


def from_networkx(
    graph: Any,
    *,
    features: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = "weight",
    directed: bool = False,
    self_loops: bool = False,
    missing: Literal["error", "zeros"] = "error",
) -> Graph:
    """A graph from NetworkX; nodes keep their order and their names.

    Parameters
    ----------
    graph : networkx graph of any kind
    features : str or sequence of str, optional
        A node attribute that holds a vector, or several that hold numbers. By default "x" or "features", if
        nodes have it.
    label : str, optional
        Node attribute with the class; by default "label", if nodes have it.
    weight : str, optional
        Edge attribute; an edge without it weighs 1. ``None`` ignores weights.
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`; by default edges are undirected.
    missing : {"error", "zeros"}
        What to do with nodes without features: an error, or zeros and a warning.

    Returns
    -------
    Graph
    """
    check_choice("missing", missing, ("error", "zeros"))
    if not hasattr(graph, "nodes") or not hasattr(graph, "is_multigraph"):
        raise InputTypeError(
            f"expected a NetworkX graph; got {type(graph).__module__}.{type(graph).__qualname__}"
        )
    names = _names(list(graph.nodes))
    attributes = [data for _, data in graph.nodes(data=True)]
    place = {node: i for i, node in enumerate(graph.nodes)}
    ends = np.fromiter((place[end] for u, v in graph.edges() for end in (u, v)), np.int64).reshape(-1, 2)
    weights = None
    if weight is not None and any(weight in data for _, _, data in graph.edges(data=True)):
        weights = [data.get(weight) for _, _, data in graph.edges(data=True)]
    edges = _edges(names, ends, weights, "graph", weight, has_direction=graph.is_directed())
    return _from_lists(edges, attributes, features, label, directed, self_loops, missing)


def from_igraph(
    graph: Any,
    *,
    name: str = "name",
    features: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = "weight",
    directed: bool = False,
    self_loops: bool = False,
    missing: Literal["error", "zeros"] = "error",
) -> Graph:
    """A graph from igraph; vertices keep their order.

    Parameters
    ----------
    graph : igraph.Graph
    name : str
        Vertex attribute with the ids; without it, vertices are numbered 0..n-1.
    features, label, weight, directed, self_loops, missing
        As in :func:`from_networkx`, from vertex and edge attributes.

    Returns
    -------
    Graph
    """
    check_choice("missing", missing, ("error", "zeros"))
    if not hasattr(graph, "vs") or not hasattr(graph, "es"):
        raise InputTypeError(
            f"expected an igraph.Graph; got {type(graph).__module__}.{type(graph).__qualname__}"
        )
    attributes = [vertex.attributes() for vertex in graph.vs]
    named = name in graph.vs.attributes()
    names = _names(graph.vs[name] if named else list(range(graph.vcount())))
    ends = np.asarray(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = None
    if weight is not None and weight in graph.es.attributes():
        weights = list(graph.es[weight])
    edges = _edges(names, ends, weights, "graph", weight, has_direction=graph.is_directed())
    return _from_lists(edges, attributes, features, label, directed, self_loops, missing)


def from_pyg(
    data: Any,
    *,
    directed: bool = False,
    self_loops: bool = False,
    node_type: str | None = None,
    meta_path: Sequence[EdgeType] | None = None,
) -> Graph:
    """A graph from a PyG ``Data`` object: ``edge_index``, ``x``, ``y`` and ``edge_weight``.

    Parameters
    ----------
    data : torch_geometric.data.Data
        Without ``edge_weight``, an ``edge_attr`` of one column is used as weights. ``y`` is used as labels if
        it holds one integer for each node.
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`; by default an edge counts both ways.
    node_type, meta_path : str and sequence of (source type, relation, target type), optional
        For ``HeteroData``: the type of the nodes, and the steps that link two of them, such as
        ``[("paper", "by", "author"), ("author", "wrote", "paper")]``. Weights count the paths.

    Returns
    -------
    Graph
        Nodes are called 0..n-1.
    """
    if hasattr(data, "edge_types") and hasattr(data, "node_types"):
        if node_type is None or meta_path is None:
            raise InputError(
                f"this HeteroData has nodes of the types {', '.join(data.node_types)}: choose one with ",
                Parameter("node_type"),
                " and the steps that link them with ",
                Parameter("meta_path"),
            )
        return meta_path_graph(data, node_type, meta_path, _array, directed=directed, self_loops=self_loops)
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None:
        raise InputTypeError(
            f"expected PyG Data with an edge_index; got {type(data).__module__}.{type(data).__qualname__}"
        )
    ends = _array(edge_index)
    if ends.ndim != 2 or ends.shape[0] != 2:
        raise InputError(f"edge_index must have shape (2, m); got {ends.shape}")
    x = getattr(data, "x", None)
    features = None if x is None else _tensor_matrix(x)
    n = int(data.num_nodes if features is None else features.shape[0])
    if ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < n:
        raise InputError(f"edge_index names node {int(ends.max())}, but there are {n} nodes")
    weights, notes = getattr(data, "edge_weight", None), []
    attributes = getattr(data, "edge_attr", None)
    if weights is None and attributes is not None:
        if attributes.ndim == 1 or attributes.shape[1] == 1:
            weights = attributes
        else:
            notes.append(f"edge_attr has {attributes.shape[1]} columns and is not used")
    values = np.ones(ends.shape[1], bool) if weights is None else _array(weights).reshape(-1)
    if ends.dtype.kind not in "iu":
        raise InputTypeError(f"edge_index must hold whole numbers; got {ends.dtype}")
    matrix = sp.coo_array((values, (ends[0], ends[1])), shape=(n, n))
    adjacency, merging = merge_edges(matrix, directed=directed, self_loops=self_loops)
    labels = None
    y = getattr(data, "y", None)
    if y is not None:
        classes = _array(y)
        if classes.size == n and classes.dtype.kind in "iub":
            labels = classes.reshape(-1)
        else:
            notes.append(
                f"y of shape {classes.shape} and type {classes.dtype} is not one class per node: not used"
            )
    used = "edge_weight" if getattr(data, "edge_weight", None) is not None else "edge_attr"
    meanings = [("weight", None if weights is None else used), ("label", None if labels is None else "y")]
    line = f"{columns_line('graph', meanings, [], [])}; {edges_line(adjacency, merging)}"
    notes += isolated_note(adjacency)
    return Graph(adjacency, features, labels=labels, notes=[line, *notes])


def _array(tensor: Any) -> Any:
    return np.asarray(tensor.detach().cpu().numpy() if hasattr(tensor, "detach") else tensor)


def _tensor_matrix(x: Any) -> Any:
    if getattr(x, "is_sparse", False) or "sparse" in str(getattr(x, "layout", "")):
        coordinates = x.detach().cpu().to_sparse_coo().coalesce()
        return sp.csr_array(
            (_array(coordinates.values()), tuple(_array(coordinates.indices()))),
            shape=tuple(coordinates.shape),
        )
    return _array(x)


def _names(nodes: list[Any]) -> Any:
    """Node names as ids: ints, strings, or both as strings."""
    import pyarrow as pa

    strange = [
        node for node in nodes if not isinstance(node, (int, str, np.integer)) or isinstance(node, bool)
    ]
    if strange:
        raise InputTypeError(
            f"node {strange[0]!r} is neither a whole number nor a string; rename the nodes, for example "
            "with networkx.relabel_nodes(graph, str)"
        )
    if any(isinstance(node, str) or abs(node) >= 2**63 for node in nodes):
        return pa.array([str(node) for node in nodes], pa.large_string())
    return pa.array([int(node) for node in nodes], pa.int64())


def _edges(
    names: Any,
    ends: Any,
    weights: list[Any] | None,
    where: str,
    attribute: str | None,
    *,
    has_direction: bool,
) -> Edges:
    """Edges by node number; edges without a weight get weight 1, with a note."""
    notes, numbers = [], None
    if weights is not None:
        lacking = sum(value is None for value in weights)
        numbers = numbers_of([1 if value is None else value for value in weights], "edge weights")
        if lacking:
            notes.append(f"{lacking:,} of {len(weights):,} edges have no weight and get weight 1")
    edges = Edges(
        names,
        ends[:, 0].astype(np.int32),
        ends[:, 1].astype(np.int32),
        numbers,
        notes,
        has_direction=has_direction,
    )
    check_weights(edges, where)
    edges.columns = columns_line(where, [("weight", None if weights is None else attribute)], [], [])
    return edges


def _from_lists(
    edges: Edges,
    attributes: list[dict[str, Any]],
    features: str | Sequence[str] | None,
    label: str | None,
    directed: bool,
    self_loops: bool,
    missing: str,
) -> Graph:
    import pyarrow as pa

    names = edges.ids
    adjacency, line = edges.adjacency(None, len(names), directed=directed, self_loops=self_loops)
    notes = list(edges.notes)
    wanted = (
        features
        if features is not None
        else next((name for name in _VECTORS if any(name in data for data in attributes)), None)
    )
    matrix, column_names = None, None
    lacking: list[int] = []
    if wanted is not None:
        several = [wanted] if isinstance(wanted, str) else list(wanted)
        matrix, column_names, lacking = _vectors(attributes, several, names)
        notes += _missing_values(attributes, several, lacking, names, missing)
        line += f"; features from {listed(several, 5)}"
    chosen = label or ("label" if any("label" in data for data in attributes) else None)
    if label is not None and not any(label in data for data in attributes):
        raise InputError(f"no node has the attribute {label!r} for labels")
    labels = None if chosen is None else _label_array([data.get(chosen) for data in attributes])
    if chosen is not None:
        line += f"; label = {chosen!r}"
    if wanted is None:
        unused = sorted({name for data in attributes for name in data if name != chosen}, key=str)
        if unused:
            verb = "attribute {} is" if len(unused) == 1 else "attributes {} are"
            notes.append(
                f"node {verb.format(listed(unused, 5))} not used; name those that hold numbers to use them "
                "as features"
            )
    if lacking:
        without_features("nodes", names.take(pa.array(lacking)), len(names), missing, notes)
    notes += isolated_note(adjacency)
    return Graph(
        adjacency, matrix, ids=names, labels=labels, feature_names=column_names, notes=[line, *notes]
    )


def _missing_values(
    attributes: list[dict[str, Any]], several: list[str], lacking: list[int], names: Any, missing: str
) -> list[str]:
    """Report attributes that some nodes lack: by a note and a warning, or by an error."""
    notes, without = [], set(lacking) if missing == "zeros" else set()  # those are reported as nodes
    for name in several:
        absent = [i for i, data in enumerate(attributes) if i not in without and _absent(data.get(name))]
        if not absent:
            continue
        some = ", ".join(repr(names[i].as_py()) for i in absent[:3]) + (", ..." if len(absent) > 3 else "")
        text = f"the feature {name!r} is missing in {len(absent)} of {len(attributes)} nodes ({some})"
        if missing == "error":
            raise InputError(f"{text}; fill it in, or set it to 0 with ", Parameter("missing", "zeros"))
        notes.append(f"{text} and is set to 0 there")
        warn_user(notes[-1])
    return notes


def _label_array(values: list[Any]) -> Any:
    from nafs.graph.ids import as_arrow

    return as_arrow(values, "labels")


def _vectors(
    attributes: list[dict[str, Any]], several: list[str], names: Any
) -> tuple[Any, list[str] | None, list[int]]:
    """The feature matrix, its column names, and which nodes had no features."""
    rows = [_vector(data, several) for data in attributes]
    width = max((len(row) for row in rows if row is not None), default=0)
    if not width:
        raise InputError(f"no node has the attribute {several[0]!r} for features")
    matrix = np.zeros((len(rows), width), np.float32)
    for i, row in enumerate(rows):
        if row is None:
            continue
        name = names[i].as_py()
        if len(row) != width:
            raise InputError(f"node {name!r} has {len(row)} features where others have {width}")
        try:
            with np.errstate(over="ignore"):
                matrix[i] = row
        except (TypeError, ValueError):
            raise InputError(
                f"the features of node {name!r} are not numbers: {row!r}; leave such attributes out, or put "
                "them into a data frame with one row for each node: nafs.from_edges(edges, nodes) encodes "
                "words, categories and dates"
            ) from None
        if not np.isfinite(matrix[i]).all():
            raise InputError(f"the features of node {name!r} hold NaN or inf; fill them in or leave them out")
    plain = len(several) == width
    return matrix, several if plain else None, [i for i, row in enumerate(rows) if row is None]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _absent(value: Any) -> bool:
    """Whether the value of an attribute is missing: None, or a single NaN, as pandas writes it."""
    return value is None or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))


def _vector(data: dict[str, Any], several: list[str]) -> Any:
    """The features of a node, with 0 for missing attributes; ``None`` if all are missing."""
    there = [name for name in several if not _absent(data.get(name))]
    if not there or (len(there) < len(several) and any(np.ndim(data[name]) for name in there)):
        return None
    return np.concatenate(
        [np.atleast_1d(np.asarray(data[name] if name in there else 0.0)) for name in several]
    )
