"""What a user wants changed, by id, read into places of nodes; nothing is changed yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs.graph.ids import id_column, positions, same_kind
from nafs.model.neighbors import Edges, NeighborLists


@dataclass(frozen=True, eq=False)
class Nodes:
    """Ids by place, and which of them are there; a node that left keeps its place."""

    ids: Any
    alive: NDArray[np.bool_]

    def places(self, ids: Any, what: str) -> NDArray[np.int64]:
        """Where nodes are; an id that is not there is an error."""
        wanted = id_column(ids, what)
        places = positions(*same_kind(self.ids, wanted))
        unknown = (places < 0) | ~self.alive[np.maximum(places, 0)]
        if unknown.any():
            first = wanted[int(np.flatnonzero(unknown)[0])].as_py()
            raise InputError(Parameter(what), f": unknown id {first!r}")
        return places

    def without(self, places: NDArray[np.int64]) -> Nodes:
        """The same with some nodes gone."""
        alive = self.alive.copy()
        alive[places] = False
        return Nodes(self.ids, alive)

    def including(self, wanted: Any) -> Nodes:
        """The same with unknown ids at the end; those that come back have their old place."""
        import pyarrow as pa

        ids, wanted = same_kind(self.ids, wanted)
        unknown = wanted.filter(pa.array(positions(ids, wanted) < 0)).unique()
        ids = pa.concat_arrays([ids, unknown]) if len(unknown) else ids
        alive = np.concatenate([self.alive, np.ones(len(unknown), bool)])
        alive[positions(ids, wanted)] = True
        return Nodes(ids, alive)


@dataclass(frozen=True, eq=False)
class Request:
    """Nodes afterwards, those that left, the new weight of each changed pair, and new rows of features."""

    nodes: Nodes
    removed: NDArray[np.int64]
    edges: Edges
    refeatured: NDArray[np.int64]
    rows: NDArray[np.float32]


def read_request(
    nodes: Nodes,
    lists: NeighborLists,
    n_columns: int,
    edges: tuple[Any, ...] | None,
    features: tuple[Any, Any] | None,
    remove_edges: tuple[Any, Any] | None,
    remove_nodes: Any,
) -> Request:
    """Check what is asked for; removals come first, then additions."""
    changed: Edges = {}
    removed = np.zeros(0, np.int64)
    if remove_nodes is not None:
        removed = np.unique(nodes.places(remove_nodes, "remove_nodes"))
        for node in removed.tolist():
            for other in lists.row(node)[0].tolist():
                changed[min(node, other), max(node, other)] = 0.0
    if remove_edges is not None:
        ends = [nodes.places(part, "remove_edges").tolist() for part in remove_edges]
        for a, b in zip(*ends, strict=True):
            if b not in lists.row(a)[0]:
                raise InputError(
                    Parameter("remove_edges"), f": no edge between {nodes.ids[a]} and {nodes.ids[b]}"
                )
            changed[min(a, b), max(a, b)] = 0.0
    nodes = nodes.without(removed)
    places, rows = np.zeros(0, np.int64), np.zeros((0, n_columns), np.float32)
    if features is not None:
        wanted = id_column(features[0], "features")
        nodes = nodes.including(wanted)
        rows = check_rows(features[1], len(wanted), n_columns)
        places = nodes.places(wanted, "features")
        if len(np.unique(places)) < len(places):
            raise InputError(Parameter("features"), " name an id twice; keep one row for each")
    if edges is not None:
        nodes = _add_edges(nodes, edges, changed)
    return Request(nodes, removed[~nodes.alive[removed]], changed, places, rows)


def check_rows(rows: Any, n_rows: int, n_columns: int) -> NDArray[np.float32]:
    """Rows of features that fit the model."""
    checked = np.asarray(rows, np.float32).reshape(n_rows, -1)
    if checked.shape[1] != n_columns:
        raise InputError(
            Parameter("features"), f" have {checked.shape[1]} columns; the model has {n_columns}"
        )
    if not np.isfinite(checked).all():
        raise InputError(Parameter("features"), " contain NaN or inf; fill or drop them")
    return checked


def _add_edges(nodes: Nodes, edges: tuple[Any, ...], changed: Edges) -> Nodes:
    """Write new edges into ``changed``; self-loops are left out."""
    ends = [id_column(part, "edges") for part in edges[:2]]
    weights = np.ones(len(ends[0])) if len(edges) < 3 else np.asarray(edges[2], np.float64)
    if not len(ends[0]) == len(ends[1]) == len(weights):
        raise InputError(Parameter("edges"), " need as many targets and weights as sources")
    if not ((weights > 0) & np.isfinite(weights)).all():
        raise InputError(Parameter("edges"), ": weights must be positive numbers")
    for part in ends:
        nodes = nodes.including(part)
    sources, targets = (nodes.places(part, "edges").tolist() for part in ends)
    for a, b, weight in zip(sources, targets, weights.tolist(), strict=True):
        if a != b:
            changed[min(a, b), max(a, b)] = weight
    return nodes
