"""Join edges, features and labels from separate sources by node id.

The rules; every case that occurs is noted on the graph:

* nodes come in the order of the feature table; ids that only edges name follow in order of appearance;
* a node without features is an error, or gets zeros and a warning if that was asked for;
* a node without edges stays, isolated;
* a repeated id in a feature or label table is an error;
* ids that are all written as 1.0 match 1;
* labels of unknown ids are ignored; nodes without a label are unlabelled;
* nodes of a matrix are numbered 0..n-1, unless a feature table of n rows with other ids names them in order.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs._support.errors import InputError, Parameter
from nafs._support.scratch import Allocate
from nafs.graph import Adjacency, Graph, Labels, read_labels
from nafs.graph.adjacency import find_stack_level
from nafs.graph.ids import check_unique, positions, same_kind
from nafs.graph.label_tables import unmatched_ids
from nafs.graph.node_columns import listed_values
from nafs.graph.spellings import difference, whole_like, whole_note
from nafs.readers.edges import Edges
from nafs.readers.mixed import balanced
from nafs.readers.summary import columns_line
from nafs.tables import TableEncoder

_ROWS = 1 << 14  # copied in one go


@dataclass
class NodeTable:
    """Rows that belong to ids: features, labels or both."""

    ids: Any
    features: Any = None
    feature_names: list[str] | None = None
    labels: Any = None
    where: str = "features"
    numbered: bool = False  # rows of a matrix: the ids are 0..n-1
    notes: list[str] = field(default_factory=list)
    allocate: Allocate = np.empty
    columns: str = ""  # how the columns of the table were used
    encoder: TableEncoder | None = None  # of a table of mixed columns
    key: str | None = None  # name of the id column, if the table has a header
    label: str | None = None  # name of the column of the labels, likewise

    def describe(self, key: str, label: str | None, unused: Sequence[str]) -> None:
        """Note how the columns were used."""
        meanings = [("id", key), ("label", label)]
        self.columns = columns_line(self.where, meanings, self.feature_names or [], unused)


def join(
    edges: Edges,
    nodes: NodeTable | None = None,
    labels: NodeTable | None = None,
    *,
    directed: bool = False,
    self_loops: bool = False,
    missing: str = "error",
) -> Graph:
    """One graph from edges and tables."""
    import pyarrow as pa

    notes = [*edges.notes, *(note for table in (nodes, labels) if table for note in table.notes)]
    if nodes is None:
        if edges.header is not None and edges.header.above_codes:
            raise edges.header.unclear()
        ids, features, names, known = edges.ids, None, None, None
        if not len(ids):
            raise InputError("there are neither edges nor a table of nodes: no nodes at all")
        adjacency, line = edges.adjacency(None, len(ids), directed=directed, self_loops=self_loops)
    else:
        check_unique(nodes.ids, nodes.where)
        nodes.ids = _whole(nodes.ids, edges.ids, nodes.where, notes)
        ids, edge_ids = same_kind(nodes.ids, _whole(edges.ids, nodes.ids, "edges", notes))
        places = positions(ids, edge_ids)
        without = np.flatnonzero(places < 0)
        if len(edge_ids) and len(without) == len(edge_ids):
            mismatch = (
                f"{nodes.where}: none of its ids ({_some(ids)}) is among the edges' ids ({_some(edge_ids)})"
            )
            if spelling := difference(ids, edge_ids):
                raise InputError(f"{mismatch}; {spelling}")
            raise InputError(f"{mismatch}; name the id column with ", Parameter("id_column"))
        if edges.header is not None:
            n_known = int((places[list(edges.header.ends)] >= 0).sum())
            if n_known:  # an edge like any other
                notes.remove(edges.header.note)
            elif missing == "error" and len(without) == len(set(edges.header.ends)):
                raise edges.header.error(nodes.where)
        places[without] = len(ids) + np.arange(len(without))
        n = len(ids) + len(without)
        adjacency, line = edges.adjacency(places, n, directed=directed, self_loops=self_loops)
        features, names, known = nodes.features, nodes.feature_names, nodes.labels
        if len(without):
            ids, known = _extend(ids, edge_ids, without, known)
            if features is not None:
                features = _rows(nodes, np.append(np.arange(n - len(without)), np.full(len(without), -1)))
                hint = f"; {edges.header.note}" if edges.header and edges.header.note in notes else ""
                spelling = difference(nodes.ids, edge_ids.take(pa.array(without)))
                hint = f"; {spelling}" if spelling else hint
                without_features(nodes.where, ids[n - len(without) :], n, missing, notes, hint)
    if labels is not None:
        known = _labels_for(ids, labels, notes)
    notes += isolated_note(adjacency)
    graph = Graph(
        adjacency,
        features,
        ids=ids,
        labels=known,
        feature_names=names,
        notes=[whole_line(line, nodes, labels), *notes],
    )
    return graph if nodes is None else _finished(graph, nodes)


def whole_line(edges: str, *tables: NodeTable | None) -> str:
    """One line that says how everything that was read was used."""
    return "; ".join([edges, *(table.columns for table in tables if table is not None and table.columns)])


def attach(
    adjacency: Adjacency,
    nodes: NodeTable | None,
    labels: NodeTable | None,
    notes: list[str],
    ids: Any = None,
    missing: str = "error",
) -> Graph:
    """A graph whose nodes are known, in order, joined with tables; without ids they are numbered 0..n-1.

    The first note, if any, says what was read so far; it is continued.
    """
    import pyarrow as pa

    n = adjacency.n_nodes
    line = whole_line(notes[0] if notes else "", nodes, labels).removeprefix("; ")
    notes = [*([line] if line else []), *notes[1:]]
    notes += [note for table in (nodes, labels) if table for note in table.notes]
    names = pa.array(np.arange(n)) if ids is None else ids
    features = known = feature_names = None
    if nodes is not None:
        check_unique(nodes.ids, nodes.where)
        nodes.ids = _whole(nodes.ids, names, nodes.where, notes)
        other = not pa.types.is_int64(nodes.ids.type) or (positions(names, nodes.ids) < 0).all()
        if ids is None and len(nodes.ids) == n and other:
            ids = names = nodes.ids
            notes.append(f"{nodes.where}: its rows name the {n} nodes of the matrix, in order")
        places = _places(nodes, names, notes)
        if nodes.features is not None:
            if (places < 0).any():
                without_features(nodes.where, names.filter(pa.array(places < 0)), n, missing, notes)
            features = nodes.features if _in_order(places) else _rows(nodes, places)
            feature_names = nodes.feature_names
        if nodes.labels is not None:
            known = nodes.labels.take(pa.array(places, mask=places < 0))
    if labels is not None:
        known = _labels_for(names, labels, notes)
    notes += isolated_note(adjacency)
    graph = Graph(adjacency, features, ids=ids, labels=known, feature_names=feature_names, notes=notes)
    return graph if nodes is None else _finished(graph, nodes)


def _finished(graph: Graph, nodes: NodeTable) -> Graph:
    """The graph with balanced features, and the name of the id column."""
    graph = balanced(graph, nodes.encoder, nodes.where)
    if nodes.key is not None:
        graph.column_names = {"id_column": nodes.key}
    return graph


def without_features(where: str, ids: Any, n: int, missing: str, notes: list[str], hint: str = "") -> None:
    """Report that the nodes with these ids have no features: by a note and a warning, or by an error.

    ``hint`` ends the error, such as with another cause.
    """
    if missing == "error":
        raise InputError(
            f"{where}: {len(ids)} of {n} nodes have no row in it ({_some(ids)}); add them, or fill them "
            "with zeros: ",
            Parameter("missing", "zeros"),
            hint,
        )
    notes.append(f"{len(ids)} of {n} nodes have no features and get zeros ({_some(ids)})")
    warnings.warn(notes[-1], UserWarning, stacklevel=find_stack_level())


def row_numbers(names: Any) -> Any:
    """Row of a matrix for each node: by id where ids are 0..n-1 in any order, by place otherwise."""
    import pyarrow as pa

    if pa.types.is_int64(names.type):
        values = np.asarray(names)
        if np.array_equal(np.sort(values), np.arange(len(values))):
            return values
    return np.arange(len(names))


def _places(table: NodeTable, names: Any, notes: list[str]) -> Any:
    """Row of the table for each node, or -1."""
    import pyarrow as pa

    if table.numbered:
        if len(table.ids) != len(names):
            raise InputError(
                f"{table.where}: it has {len(table.ids)} rows for {len(names)} nodes; one each is needed"
            )
        return row_numbers(names)
    table.ids = _whole(table.ids, names, table.where, notes)
    places = positions(table.ids, whole_like(names, table.ids))
    n_matches = int((places >= 0).sum())
    if not n_matches:
        spelling = difference(names, table.ids)
        raise InputError(
            f"{table.where}: none of its ids ({_some(table.ids)}) is a node ({_some(names)}); ",
            *([spelling] if spelling else ["name the id column with ", Parameter("id_column")]),
        )
    unknown = positions(names, whole_like(table.ids, names)) < 0
    if unknown.any():
        lost = f"{table.where}: {int(unknown.sum()):,} of its {len(unknown):,} ids are not nodes"
        some = _some(table.ids.filter(pa.array(unknown)))
        if spelling := difference(names, table.ids):
            raise InputError(f"{lost} ({some}); {spelling}")
        notes.append(f"{lost} and are ignored ({some})")
    return places


def _whole(ids: Any, known: Any, where: str, notes: list[str]) -> Any:
    """Ids as whole numbers if they have to be to match known ones, with a note."""
    whole = whole_like(ids, known)
    notes += [] if whole is ids else [whole_note(where)]
    return whole


def _in_order(places: Any) -> bool:
    return bool((places == np.arange(len(places))).all())


def _extend(ids: Any, edge_ids: Any, without: Any, labels: Any) -> tuple[Any, Any]:
    """Ids and labels for the ids that only edges name."""
    import pyarrow as pa

    ids = pa.concat_arrays([ids, edge_ids.take(pa.array(without))])
    if labels is not None:
        labels = pa.concat_arrays([labels, pa.nulls(len(without), labels.type)])
    return ids, labels


def _rows(table: NodeTable, places: Any) -> Any:
    """The features in these rows of a table; zeros where there is no row."""
    features, f = table.features, table.features.shape[1]
    if sp.issparse(features):
        padded = sp.vstack([features, sp.csr_array((1, f), dtype=features.dtype)], format="csr")
        return padded[np.where(places < 0, features.shape[0], places)]
    rows = table.allocate((len(places), f), features.dtype)
    for begin in range(0, len(places), _ROWS):
        some = places[begin : begin + _ROWS]
        rows[begin : begin + _ROWS] = features[np.maximum(some, 0)]
        rows[begin : begin + _ROWS][some < 0] = 0
    return rows


def _labels_for(ids: Any, labels: NodeTable, notes: list[str]) -> Labels:
    import pyarrow as pa

    check_unique(labels.ids, labels.where)
    places = _places(labels, ids, notes)
    unmatched = "" if labels.numbered else unmatched_ids(labels.ids, whole_like(ids, labels.ids))
    try:
        known = read_labels(labels.labels.take(pa.array(places, mask=places < 0)), labels.where)
    except InputError as error:
        raise type(error)(*error.parts, f"; {unmatched}" if unmatched else "") from None
    lacking = int((~known.known).sum())
    if lacking:
        notes.append(f"{lacking} of {len(ids)} nodes have no label")
    return replace(known, unmatched=unmatched)


def isolated_note(adjacency: Adjacency) -> list[str]:
    """A note on nodes without edges."""
    alone = np.diff(adjacency.indptr) == 0
    if adjacency.directed:
        alone[adjacency.indices] = False
    return [f"{int(alone.sum())} of {len(alone)} nodes have no edges"] if alone.any() else []


def _some(ids: Any) -> str:
    return listed_values(ids)
