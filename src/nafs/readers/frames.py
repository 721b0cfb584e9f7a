"""Data frames (pandas, polars, pyarrow, anything that speaks Arrow) and arrays of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from nafs._support.checks import check_choice
from nafs._support.errors import InputError
from nafs.graph import Graph
from nafs.graph.ids import as_arrow, blanks_note
from nafs.graph.ids import id_column as as_ids
from nafs.graph.label_tables import is_frame, keyed_labels
from nafs.graph.node_columns import choose_id, is_nameless, pick, table_of, with_index, without_index
from nafs.graph.numbers import feature_matrix
from nafs.readers.database import duckdb_connection
from nafs.readers.edges import Edges, edges_from_columns
from nafs.readers.evidence import Evidence
from nafs.readers.join import NodeTable, join
from nafs.readers.mixed import encode, needs_encoding
from nafs.readers.repeated_labels import Columns, has_gaps, without_repeated_labels
from nafs.readers.roles import edge_columns, label_name, usual_pairs
from nafs.tables.doubtful_columns import notes_on_matrix, notes_on_table


def from_edges(
    edges: Any,
    nodes: Any = None,
    *,
    labels: Any = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | Literal[False] | None = None,
    id_column: str | int | None = None,
    features: Sequence[str] | None = None,
    label_column: str | int | None = None,
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    ignore: Sequence[str] = (),
    directed: bool = False,
    self_loops: bool = False,
    missing: Literal["error", "zeros"] = "error",
) -> Graph:
    """A graph from a table of edges and an optional table of nodes.

    Parameters
    ----------
    edges : data frame, (sources, targets), (sources, targets, weights), list of pairs, or array (m, 2)
        Ids may be any ints or strings. The columns of a data frame (pandas, polars, pyarrow) are found as
        :mod:`nafs.readers.roles` describes: by usual names such as source and target, or by shared values.
    nodes : data frame, optional
        One row for each node: its id, its features, and optionally its label.
    labels : data frame with the columns id and class, Series, or mapping of id to class, optional
        Labels that are not in ``nodes``, of all nodes or of some.
    source, target, weight : str or int, optional
        Columns of ``edges``, by name or by number from 1; ``weight=False`` ignores weights.
    id_column : str or int, optional
        Column of ``nodes``; "index" is the index of a pandas frame. By default it is found as
        :mod:`nafs.graph.node_columns` describes: by a usual name, or because it holds the ids of the edges.
    features : sequence of str, optional
        Columns of ``nodes``; by default all others. A column may hold lists of equal length.
    label_column : str or int, optional
        Column of ``nodes``; by default the one named label or class, if there is one.
    text, category : sequences of str
        Columns of ``nodes`` to be read as text or as categories; see
        :func:`nafs.read_graph`.
    ignore : sequence of str
        Columns of ``nodes`` that are not used.
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`; by default edges are undirected. The weights of repeated
        edges add up; of an edge listed in both directions, the larger weight counts.
    missing : {"error", "zeros"}
        What to do with nodes that are not in ``nodes``: an error, or zeros and a warning.

    Returns
    -------
    Graph
        Nodes in the order of ``nodes``, then ids that only ``edges`` names, in the order in which they
        appear there, source before target. ``notes`` says how the columns were used and what did not match.

    Examples
    --------
    >>> from nafs import from_edges
    >>> from_edges((["ann", "bob"], ["bob", "cy"]), {"id": ["cy", "bob", "ann"], "age": [30, 40, 50]})
    Graph(3 nodes, 2 edges, 1 features, ids 'cy', 'bob', 'ann')
    """
    check_choice("missing", missing, ("error", "zeros"))
    table = None

    def read_table(left_out: Sequence[str]) -> NodeTable:
        return node_table(
            nodes,
            listed.ids,
            id_column,
            features,
            label_column,
            "nodes",
            text=text,
            category=category,
            ignore=left_out,
        )

    try:
        listed = listed_edges(edges, source, target, weight)
        table = None if nodes is None else read_table(ignore)
    except InputError as error:
        if source is None and target is None and _are_swapped(edges, nodes):
            raise type(error)(*error.parts, "; are the edges and the nodes swapped?") from None
        raise
    separate = None
    if labels is not None:
        separate = _label_table(labels, listed.ids if table is None else table.ids)
    labelled = table if separate is None else separate
    if table is not None and features is None and labelled is not None and labelled.labels is not None:
        stored, _ = with_index(table_of(nodes, "nodes"), "nodes")
        chosen = {*ignore, *text, *category}
        names = [name for name in stored.column_names if name not in chosen]
        columns = Columns(
            names,
            stored.column,
            stored.select,
            lambda wanted: [name for name in wanted if has_gaps(stored.column(name))],
        )
        table = without_repeated_labels(table, labelled, columns, lambda more: read_table([*ignore, *more]))
    return join(listed, table, separate, directed=directed, self_loops=self_loops, missing=missing)


def _are_swapped(edges: Any, nodes: Any) -> bool:
    """Whether the frame of nodes has columns for the ends of edges, and that of edges none of usual names."""
    if not (is_frame(edges) and is_frame(nodes)):
        return False
    try:
        first, second = table_of(edges, "edges"), table_of(nodes, "nodes")
        return not usual_pairs(first.column_names) and bool(usual_pairs(second.column_names))
    except InputError:
        return False


def _label_table(labels: Any, known: Any) -> NodeTable:
    ids, classes, name = keyed_labels(labels, known)
    return NodeTable(ids, labels=classes, where="labels", label=name)


def listed_edges(
    edges: Any,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | Literal[False] | None = None,
) -> Edges:
    """Edges of a frame, of columns, of pairs or of an array; parameters as in :func:`from_edges`."""
    if isinstance(edges, np.ndarray) and edges.ndim == 2:
        columns = list(edges.T if edges.shape[1] in (2, 3) else edges)
        if len(columns) not in (2, 3):
            raise InputError(
                f"edges must have shape (m, 2), (m, 3) with weights or (2, m); got {edges.shape}"
            )
        return edges_from_columns(*columns)
    if isinstance(edges, tuple) and len(edges) in (2, 3):
        return edges_from_columns(*edges)
    if isinstance(edges, list) and edges and all(isinstance(edge, (list, tuple)) for edge in edges):
        if {len(edge) for edge in edges} not in ({2}, {3}):
            raise InputError(
                "a list of edges must hold only pairs (source, target), or only triples with a weight"
            )
        return listed_edges(tuple(zip(*edges, strict=True)))
    table, _ = with_index(table_of(edges, "edges"), "edges")

    def look(columns: Sequence[str], rows: int | None) -> Evidence:
        return _evidence(table, columns, rows)

    roles = edge_columns(table.column_names, source, target, weight, "edges", look)
    weights = None if roles.weight is None else table[roles.weight]
    numbered = edges_from_columns(table[roles.source], table[roles.target], weights)
    numbered.describe(roles, [name for name in table.column_names if name not in roles.all], "edges")
    return numbered


def _evidence(table: Any, columns: Sequence[str], rows: int | None) -> Evidence:
    """Evidence from the values of a frame's columns."""
    import pyarrow as pa

    plain = {}
    for i, name in enumerate(columns):
        kind = table.schema.field(name).type
        # Types that DuckDB does not know cannot be ids either, except UUIDs.
        odd = isinstance(kind, pa.BaseExtensionType) or pa.types.is_nested(kind)
        plain[f"c{i}"] = table[name]
        if odd:
            uuids = str(kind) == "extension<arrow.uuid>"
            plain[f"c{i}"] = as_ids(table[name], name) if uuids else pa.nulls(table.num_rows, pa.bool_())
    with duckdb_connection() as duck:
        duck.register("given", pa.table(plain))
        described = duck.execute("DESCRIBE SELECT * FROM given").fetchall()
        kinds = {name: str(row[1]) for name, row in zip(columns, described, strict=True)}
        return Evidence(duck, "SELECT * FROM given" + ("" if rows is None else f" LIMIT {rows}"), [], kinds)


def node_table(
    nodes: Any,
    known: Any,
    id_column: str | int | None,
    features: Sequence[str] | None,
    label_column: str | int | None,
    where: str,
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> NodeTable:
    """Ids, features and labels of a frame with one row per node."""
    table, index = with_index(table_of(nodes, where), where)
    names = without_index(table.column_names, index)
    key = choose_id(names, lambda name: table[name], known, index=index, wanted=id_column, where=where)
    others = [name for name in names if name != key]
    left_out = {str(pick(names, name, "columns to ignore", where)) for name in ignore}
    others = [name for name in others if name not in left_out]
    label = pick(names, label_column, "labels", where) or label_name(others)
    if features is None:
        columns = [name for name in others if name != label]
    else:
        wanted = [str(pick(names, name, "features", where)) for name in features]
        columns = [name for name in wanted if name not in left_out]
    ids = as_ids(table[key], f"{where}: column {key!r}")
    matrix = feature_names = encoder = None
    notes = blanks_note(table[key], where)
    if columns and (text or category or needs_encoding(table.select(columns))):
        encoder, matrix = encode(table.select(columns), where, text=text, category=category)
        feature_names = encoder.names()
        notes += notes_on_table(table, encoder, where)
    elif columns:
        matrix, feature_names = feature_matrix(table, columns, where)
        notes += notes_on_matrix(matrix, feature_names, columns, where)
    labels = None if label is None else as_arrow(table[label], "labels")
    name = None if is_nameless(key) else key
    rows = NodeTable(
        ids, matrix, feature_names, labels, where, notes=notes, encoder=encoder, key=name, label=label
    )
    used = {key, label, *columns}
    rows.describe(key, label, [name for name in table.column_names if name not in used])
    return rows
