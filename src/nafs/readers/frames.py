"""Data frames (pandas, polars, pyarrow, anything that speaks Arrow) and arrays of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from nafs.graph import Graph
from nafs.graph.ids import id_column
from nafs.readers.columns import INDEX, edge_columns, feature_matrix, id_name, label_name, pick
from nafs.readers.edges import Edges, edges_from_columns
from nafs.readers.join import NodeTable, join


def from_edges(
    edges: Any,
    nodes: Any = None,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | Literal[False] | None = None,
    id: str | int | None = None,  # noqa: A002 - what the column is called
    features: Sequence[str] | None = None,
    label: str | None = None,
    directed: bool = False,
    self_loops: bool = False,
) -> Graph:
    """A graph from a table of edges and, if there is one, a table of nodes.

    Parameters
    ----------
    edges : data frame, (sources, targets), (sources, targets, weights), list of pairs, or array (m, 2)
        Ids may be any ints or strings. Of a data frame (pandas, polars, pyarrow) the columns are found by
        usual names (source/target, src/dst, from/to, u/v), or else the first two are taken; a column named
        "weight" holds weights.
    nodes : data frame, optional
        One row for each node: its id, its features, perhaps its label.
    source, target, weight : str or int, optional
        Columns of ``edges``, by name or by number from 1; ``weight=False`` ignores weights.
    id : str or int, optional
        Column of ``nodes``; by default one named id, node or node_id; or else the index of a pandas frame,
        if it is more than a row count; or else a column named name; or else the first.
    features : sequence of str, optional
        Columns of ``nodes``; by default all others. A column may hold lists of equal length.
    label : str, optional
        Column of ``nodes``; by default the one named label or class, if there is one.
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`; by default an edge counts both ways. Weights of an edge that
        is listed twice add up; listed in both directions, the larger one counts.

    Returns
    -------
    Graph
        Nodes in the order of ``nodes``, then ids that only ``edges`` names, in the order in which they
        appear there, source before target. ``notes`` says what did not match.

    Examples
    --------
    >>> from nafs import from_edges
    >>> from_edges((["ann", "bob"], ["bob", "cy"]), {"id": ["cy", "bob", "ann"], "age": [30, 40, 50]})
    Graph(3 nodes, 2 edges, 1 features, ids 'cy', 'bob', 'ann')
    """
    found = _edges(edges, source, target, weight)
    table = None if nodes is None else node_table(table_of(nodes, "nodes"), id, features, label, "nodes")
    return join(found, table, directed=directed, self_loops=self_loops)


def _edges(
    edges: Any,
    source: str | int | None,
    target: str | int | None,
    weight: str | int | Literal[False] | None,
) -> Edges:
    if isinstance(edges, np.ndarray) and edges.ndim == 2:
        columns = list(edges.T if edges.shape[1] in (2, 3) else edges)
        if len(columns) not in (2, 3):
            raise ValueError(
                f"edges must have shape (m, 2), (m, 3) with weights or (2, m); got {edges.shape}"
            )
        return edges_from_columns(*columns)
    if isinstance(edges, tuple) and len(edges) in (2, 3):
        return edges_from_columns(*edges)
    if isinstance(edges, list) and edges and all(isinstance(edge, (list, tuple)) for edge in edges):
        if {len(edge) for edge in edges} not in ({2}, {3}):
            raise ValueError(
                "a list of edges holds pairs (source, target) or triples with a weight, all alike"
            )
        return _edges(tuple(zip(*edges, strict=True)), None, None, None)
    table = table_of(edges, "edges")
    first, second, third = edge_columns(table.column_names, source, target, weight, "edges")
    found = edges_from_columns(table[first], table[second], None if third is None else table[third])
    if third is not None:
        found.notes.append(f"weights come from column {third!r}")
    return found


def table_of(frame: Any, what: str) -> Any:
    """Any data frame as an Arrow table."""
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, dict) or hasattr(frame, "__arrow_c_stream__"):
        try:
            return pa.table(frame)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise TypeError(f"{what}: a column mixes kinds of values ({error})") from None
    raise TypeError(
        f"{what} must be a data frame (pandas, polars, pyarrow), a dict of columns or, for edges, a tuple "
        f"(sources, targets) or an array of shape (m, 2); got {type(frame).__qualname__}"
    )


def node_table(
    table: Any,
    id: str | int | None,  # noqa: A002
    features: Sequence[str] | None,
    label: str | None,
    where: str,
) -> NodeTable:
    """Ids, features and labels out of a table with one row per node."""
    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{where}: the column name {twice!r} comes twice; rename one")
    index = _index_column(table)
    usual = {"id", "node", "node_id", "nodeid"} & {name.lower() for name in names}
    chosen_id = index if index and id is None and not usual else id_name(names, id, where)
    chosen_label = pick(names, label, "labels", where) or label_name([n for n in names if n != chosen_id])
    if features is None:
        columns = [name for name in names if name not in (chosen_id, chosen_label, INDEX)]
    else:
        columns = [str(pick(names, name, "features", where)) for name in features]
    ids = id_column(table[chosen_id], f"{where}: column {chosen_id!r}")
    matrix, found = feature_matrix(table, columns, where) if columns else (None, None)
    labels = None if chosen_label is None else _one_array(table[chosen_label])
    return NodeTable(ids, matrix, found, labels, where)


def _index_column(table: Any) -> str | None:
    """The column that was the index of a pandas frame, unless it only counted rows."""
    about = table.schema.pandas_metadata or {}
    return next((name for name in about.get("index_columns", ()) if isinstance(name, str)), None)


def _one_array(column: Any) -> Any:
    from nafs.graph.ids import as_arrow

    return as_arrow(column, "labels")
