"""Validate an update and convert its ids to places of nodes; nothing is changed yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.counted import counted
from nafs._support.errors import InputError, Parameter
from nafs.graph.adjacency import Adjacency, Merging, merge_edges
from nafs.graph.ids import id_column, is_text, positions, same_kind
from nafs.graph.node_columns import listed_values
from nafs.graph.spellings import difference
from nafs.graph.unknown_ids import meant
from nafs.model.neighbors import NeighborLists, Pairs
from nafs.readers.summary import edges_line

_NONE = np.zeros(0, np.int64)
_UNDIRECTED = Adjacency(np.zeros(1, np.int64), np.zeros(0, np.int32))


@dataclass(frozen=True, eq=False)
class Nodes:
    """Ids by place, and which nodes are alive; a removed node keeps its place."""

    ids: Any
    alive: NDArray[np.bool_]

    def places(self, ids: Any, parameter: str) -> NDArray[np.int64]:
        """Places of nodes; an unknown id is an error."""
        wanted = id_column(ids, parameter)
        places = positions(self.ids, wanted)
        self.refuse_unknown(places, wanted, parameter)
        return places

    def refuse_unknown(self, places: NDArray[np.int64], wanted: Any, parameter: str) -> None:
        """Raise if nodes do not exist, naming their ids."""
        import pyarrow as pa

        known = places >= 0
        known[known] = self.alive[places[known]]
        if not known.all():
            unknown = wanted.take(np.flatnonzero(~known)).unique()
            count = "unknown id" if len(unknown) == 1 else f"{len(unknown):,} unknown ids:"
            hint = meant(str(unknown[0].as_py()), self.ids.filter(pa.array(self.alive)))
            raise InputError(Parameter(parameter), f": {count} {listed_values(unknown)}; {hint}")


@dataclass(frozen=True, eq=False)
class Request:
    """A checked update.

    Attributes
    ----------
    nodes : Nodes
        Afterwards.
    removed : ndarray of places
        Nodes to remove; the same update may add them again.
    fresh : ndarray of places
        New nodes.
    pairs : Pairs
        New weight of each changed entry of the adjacency matrix; 0 removes it.
    refeatured : ndarray of places
        Nodes with new features.
    rows : ndarray of shape (len(refeatured), f)
    note : str
        What was done to the new edges, such as merging duplicates.
    """

    nodes: Nodes
    removed: NDArray[np.int64]
    fresh: NDArray[np.int64]
    pairs: Pairs
    refeatured: NDArray[np.int64]
    rows: NDArray[np.float32]
    note: str = ""

    @property
    def leaving(self) -> NDArray[np.int64]:
        """Nodes that are gone afterwards."""
        return self.removed[~self.nodes.alive[self.removed]]

    def refuse_missing(self) -> None:
        """Raise if new nodes have no features, among them nodes that are removed and come back."""
        back = self.removed[self.nodes.alive[self.removed]]
        without = np.setdiff1d(np.concatenate([self.fresh, back]), self.refeatured)
        if len(without):
            raise InputError(
                f"{counted(len(without), 'new node')} with edges but no features "
                f"({listed_values(self.nodes.ids.take(without))}); add rows with ",
                Parameter("features"),
                ", or fill them with zeros: ",
                Parameter("missing", "zeros"),
            )


def read_request(
    nodes: Nodes,
    lists: NeighborLists,
    readers: NeighborLists,
    n_columns: int,
    *,
    edges: tuple[Any, ...] | None = None,
    features: tuple[Any, Any] | None = None,
    remove_edges: tuple[Any, Any] | None = None,
    remove_nodes: Any = None,
    self_loops: bool = False,
) -> Request:
    """Check an update. Removals come first, then additions."""
    columns: dict[str, Any] = {}
    if remove_nodes is not None:
        columns["remove_nodes"] = id_column(remove_nodes, "remove_nodes")
    if remove_edges is not None:
        columns |= _ends(remove_edges, "remove_edges")
    if features is not None:
        columns["features"] = id_column(features[0], "features")
    if edges is not None:
        columns |= _ends(edges, "edges")
    after, places = _look_up(nodes, columns)

    removed = np.unique(places.get("remove_nodes", _NONE))
    directed = readers is not lists
    cuts = [_edges_of(removed, lists, readers, directed=directed)]
    if remove_edges is not None:
        a, b = places["remove_edges 0"], places["remove_edges 1"]
        cuts.append(_existing(nodes, lists, a, b))
        if not directed:
            cuts.append(_existing(nodes, lists, b, a))
    new, note = _new_edges(places, edges, directed=directed, self_loops=self_loops)
    pairs = _last_of_each([*cuts, new])

    refeatured, rows = places.get("features", _NONE), np.zeros((0, n_columns), np.float32)
    if features is not None:
        rows = check_rows(features[1], len(refeatured), n_columns)
        if len(np.unique(refeatured)) < len(refeatured):
            raise InputError(Parameter("features"), " repeat an id; keep one row for each")
    was_there = np.zeros(len(after.alive), bool)
    was_there[: len(nodes.alive)] = nodes.alive
    fresh = np.flatnonzero(after.alive & ~was_there)
    return Request(after, removed, fresh, pairs, refeatured, rows, note)


def check_weights(weights: Any, count: int, parameter: str) -> NDArray[np.float64]:
    """Weights of edges, one for each."""
    try:
        checked = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise InputError(Parameter(parameter), ": weights must be numbers, one for each edge") from None
    if checked.shape != (count,):
        raise InputError(
            Parameter(parameter),
            f": {count} edges need a flat list of {count} weights; got the shape {checked.shape}",
        )
    with np.errstate(over="ignore"):
        stored = checked.astype(np.float32)  # as they are kept
    bad = ~((stored > 0) & np.isfinite(stored))
    if bad.any():
        raise InputError(
            Parameter(parameter),
            f": weights must be positive numbers that float32 can hold; number {int(bad.argmax())} is "
            f"{checked[bad.argmax()]:g}",
        )
    return checked


def check_rows(rows: Any, n_rows: int, n_columns: int) -> NDArray[np.float32]:
    """Rows of features that fit the model."""
    checked = np.asarray(rows, np.float32).reshape(n_rows, -1)
    if checked.shape[1] != n_columns and n_rows:
        raise InputError(
            Parameter("features"), f" have {checked.shape[1]} columns; the model has {n_columns}"
        )
    if not np.isfinite(checked).all():
        raise InputError(Parameter("features"), " contain NaN or inf; fill or drop them")
    return checked


def _ends(edges: tuple[Any, ...], parameter: str) -> dict[str, Any]:
    if len(edges) < 2:
        raise InputError(Parameter(parameter), " need sources and targets")
    ends = {f"{parameter} {side}": id_column(edges[side], parameter) for side in (0, 1)}
    if len({len(part) for part in ends.values()}) > 1:
        raise InputError(Parameter(parameter), " need as many targets as sources")
    return ends


def _look_up(nodes: Nodes, columns: dict[str, Any]) -> tuple[Nodes, dict[str, NDArray[np.int64]]]:
    """The nodes after the update, and the places of all ids, in one pass over the ids of the model."""
    import pyarrow as pa

    if not columns:
        return nodes, {}
    ids = nodes.ids
    kinds = {str(part.type) for part in columns.values()} | {str(ids.type)}
    if len(kinds) > 1:
        ids, *values = (part.cast(pa.large_string()) for part in (ids, *columns.values()))
        columns = dict(zip(columns, values, strict=True))
    every = pa.concat_arrays(list(columns.values()))
    positions_of_all = positions(ids, every)
    split = np.split(positions_of_all, np.cumsum([len(part) for part in columns.values()])[:-1])
    places = dict(zip(columns, split, strict=True))
    alive = nodes.alive.copy()
    for name, part in columns.items():
        if name.startswith("remove"):
            nodes.refuse_unknown(places[name], part, name.split()[0])
    alive[places.get("remove_nodes", _NONE)] = False
    added = [name for name in columns if not name.startswith("remove")]
    unknown = [columns[name].filter(pa.array(places[name] < 0)) for name in added]
    new = pa.concat_arrays(unknown).unique() if unknown else pa.array([], ids.type)
    if len(new):
        if is_text(ids) and (spelling := difference(ids, new)):
            raise InputError(f"new ids ({listed_values(new)}) resemble ids of the model; {spelling}")
        for name in added:
            missing = places[name] < 0
            places[name] = places[name].copy()
            places[name][missing] = len(ids) + positions(new, columns[name].filter(pa.array(missing)))
        ids = pa.concat_arrays([*same_kind(ids, new)])
        alive = np.concatenate([alive, np.ones(len(new), bool)])
    for name in added:
        alive[places[name]] = True
    return Nodes(ids, alive), places


def _edges_of(
    removed: NDArray[np.int64], lists: NeighborLists, readers: NeighborLists, *, directed: bool
) -> Pairs:
    """All entries of removed nodes, with weight 0."""
    owners, neighbors, _ = lists.entries(removed)
    own = removed[owners].astype(np.int32)
    parts = [Pairs(own, neighbors, np.zeros(len(own), np.float32))]
    owners, others, _ = readers.entries(removed)
    if directed or len(removed):
        own = removed[owners].astype(np.int32)
        parts.append(Pairs(others, own, np.zeros(len(own), np.float32)))
    return _joined(parts)


def _existing(nodes: Nodes, lists: NeighborLists, a: NDArray[np.int64], b: NDArray[np.int64]) -> Pairs:
    """Entries to remove, which must exist."""
    unique = np.unique(a)
    owners, neighbors, _ = lists.entries(unique)
    n = max(len(nodes.alive), 1)
    stored = unique[owners] * n + neighbors
    missing = np.flatnonzero(~np.isin(a * n + b, stored))
    if len(missing):
        first = int(missing[0])
        ends = [nodes.ids[int(end[first])].as_py() for end in (a, b)]
        raise InputError(Parameter("remove_edges"), f": no edge between {ends[0]!r} and {ends[1]!r}")
    return Pairs(a.astype(np.int32), b.astype(np.int32), np.zeros(len(a), np.float32))


def _new_edges(
    places: dict[str, NDArray[np.int64]],
    edges: tuple[Any, ...] | None,
    *,
    directed: bool,
    self_loops: bool,
) -> tuple[Pairs, str]:
    """New entries, merged by the rules for reading a graph."""
    if edges is None or not len(places["edges 0"]):
        return _joined([]), ""
    sources, targets = places["edges 0"], places["edges 1"]
    weights: Any = np.ones(len(sources), bool)
    if len(edges) > 2 and edges[2] is not None:
        weights = check_weights(edges[2], len(sources), "edges")
    low, high = np.minimum(sources, targets), np.maximum(sources, targets)
    distinct = len(np.unique(low * (int(high.max()) + 1) + high)) == len(low) and bool((low < high).all())
    if distinct and not directed and weights.dtype == bool:  # nothing to merge
        count = len(sources)
        readers = np.concatenate([sources, targets]).astype(np.int32)
        others = np.concatenate([targets, sources]).astype(np.int32)
        note = edges_line(_UNDIRECTED, Merging(count, 0, 0, 0, 0, count))
        return Pairs(readers, others, np.ones(2 * count, np.float32)), f"new edges: {note}"
    unique, local = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    count = len(sources)
    matrix = sp.coo_array((weights, (local[:count], local[count:])), (len(unique), len(unique)))
    adjacency, merging = merge_edges(matrix, directed=directed, self_loops=self_loops)
    values = adjacency.weights
    pairs = Pairs(
        unique[adjacency.rows].astype(np.int32),
        unique[adjacency.indices].astype(np.int32),
        np.ones(adjacency.n_stored, np.float32) if values is None else values,
    )
    return pairs, f"new edges: {edges_line(adjacency, merging)}"


def _joined(parts: list[Pairs]) -> Pairs:
    empty = Pairs(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    parts = [empty, *parts]
    return Pairs(
        np.concatenate([part.readers for part in parts]),
        np.concatenate([part.sources for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def _last_of_each(parts: list[Pairs]) -> Pairs:
    """Each entry once, with its last weight."""
    pairs = _joined(parts)
    if not len(pairs):
        return pairs
    order = np.lexsort((np.arange(len(pairs)), pairs.sources, pairs.readers))
    readers, sources = pairs.readers[order], pairs.sources[order]
    last = np.append((readers[1:] != readers[:-1]) | (sources[1:] != sources[:-1]), True)
    return Pairs(readers[last], sources[last], pairs.weights[order][last])
