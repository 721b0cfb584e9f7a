"""Edges, features and labels that come apart, brought together by node id.

The rules, each of which leaves a note on the graph:

* nodes come in the order of the feature table; ids that only edges name follow in order of appearance;
* a node that has no features gets zeros (with a warning); a node without edges stays, isolated;
* an id that comes twice in a feature or label table is refused;
* labels of ids that are no nodes are left out; nodes without a label are unlabelled;
* nodes of a matrix are called 0..n-1, unless a feature table of n rows with other ids names them in order.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs.graph import Adjacency, Graph
from nafs.graph.adjacency import find_stack_level
from nafs.graph.ids import check_unique, positions, same_kind
from nafs.readers.edges import Edges


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


def join(
    edges: Edges,
    nodes: NodeTable | None = None,
    labels: NodeTable | None = None,
    *,
    directed: bool = False,
    self_loops: bool = False,
) -> Graph:
    """One graph from edges and tables."""
    notes = [*edges.notes, *(note for table in (nodes, labels) if table for note in table.notes)]
    if nodes is None:
        ids, features, names, known = edges.ids, None, None, None
        if not len(ids):
            raise ValueError("there are neither edges nor a table of nodes: no nodes at all")
        adjacency = edges.adjacency(None, len(ids), directed=directed, self_loops=self_loops)
    else:
        check_unique(nodes.ids, nodes.where)
        ids, edge_ids = same_kind(nodes.ids, edges.ids)
        places = positions(ids, edge_ids)
        missing = np.flatnonzero(places < 0)
        if len(edge_ids) and len(missing) == len(edge_ids):
            raise ValueError(
                f"{nodes.where}: none of its ids ({_some(ids)}) is among the edges' ids ({_some(edge_ids)}); "
                "is the id column right?"
            )
        places[missing] = len(ids) + np.arange(len(missing))
        n = len(ids) + len(missing)
        adjacency = edges.adjacency(places, n, directed=directed, self_loops=self_loops)
        features, names, known = nodes.features, nodes.feature_names, nodes.labels
        if len(missing):
            ids, features, known = _extend(ids, edge_ids, missing, features, known)
            if features is not None:
                lacking = _some(ids[n - len(missing) :])
                text = f"{len(missing)} of {n} nodes have no features and get zeros ({lacking})"
                notes.append(text)
                warnings.warn(text, UserWarning, stacklevel=find_stack_level())
    if labels is not None:
        known = _labels_for(ids, labels, notes)
    notes += _isolated_note(adjacency)
    return Graph(
        adjacency,
        features,
        ids=ids,
        labels=known,
        feature_names=names,
        notes=notes,
    )


def attach(
    adjacency: Adjacency, nodes: NodeTable | None, labels: NodeTable | None, notes: list[str]
) -> Graph:
    """A graph from a matrix, whose nodes are called 0..n-1, and tables."""
    import pyarrow as pa

    n = adjacency.n_nodes
    notes += [note for table in (nodes, labels) if table for note in table.notes]
    for table in (nodes, labels):
        if table is not None and table.numbered and len(table.ids) != n:
            raise ValueError(f"{table.where}: it has {len(table.ids)} rows for {n} nodes; one each is needed")
    ids, given = pa.array(np.arange(n)), None
    features, names, known = None, None, None
    if nodes is not None:
        check_unique(nodes.ids, nodes.where)
        if len(nodes.ids) == n and (positions(ids, nodes.ids) < 0).all():
            given = ids = nodes.ids
            notes.append(f"{nodes.where}: its rows name the {n} nodes of the matrix, in order")
        places = positions(nodes.ids, ids)
        strangers = len(nodes.ids) - int((places >= 0).sum())
        if strangers:
            raise ValueError(
                f"{nodes.where}: {strangers} of its {len(nodes.ids)} ids ({_some(nodes.ids)}) are not nodes "
                f"of the matrix, which are called 0..{n - 1}"
            )
        rows = np.where(places < 0, len(nodes.ids), places)
        lacking = int((places < 0).sum())
        if lacking and nodes.features is not None:
            notes.append(f"{lacking} of {n} nodes have no features and get zeros")
            warnings.warn(notes[-1], UserWarning, stacklevel=find_stack_level())
        if nodes.features is not None:
            features = nodes.features if _in_order(places) else _pad(nodes.features, 1)[rows]
            names = nodes.feature_names
        if nodes.labels is not None:
            known = nodes.labels.take(pa.array(places, mask=places < 0))
    if labels is not None:
        known = _labels_for(ids, labels, notes)
    notes += _isolated_note(adjacency)
    return Graph(adjacency, features, ids=given, labels=known, feature_names=names, notes=notes)


def _in_order(places: Any) -> bool:
    return bool((places == np.arange(len(places))).all())


def _extend(ids: Any, edge_ids: Any, missing: Any, features: Any, labels: Any) -> tuple[Any, Any, Any]:
    """Rows for the ids that only edges name."""
    import pyarrow as pa

    ids = pa.concat_arrays([ids, edge_ids.take(pa.array(missing))])
    if features is not None:
        features = _pad(features, len(missing))
    if labels is not None:
        labels = pa.concat_arrays([labels, pa.nulls(len(missing), labels.type)])
    return ids, features, labels


def _pad(features: Any, rows: int) -> Any:
    if sp.issparse(features):
        return sp.vstack(
            [features, sp.csr_array((rows, features.shape[1]), dtype=features.dtype)], format="csr"
        )
    return np.vstack([features, np.zeros((rows, features.shape[1]), features.dtype)])


def _labels_for(ids: Any, labels: NodeTable, notes: list[str]) -> Any:
    import pyarrow as pa

    check_unique(labels.ids, labels.where)
    if labels.numbered and len(labels.ids) != len(ids):
        raise ValueError(
            f"{labels.where}: it has {len(labels.ids)} labels for {len(ids)} nodes; one each is needed"
        )
    places = positions(labels.ids, ids)
    found = int((places >= 0).sum())
    if not found:
        raise ValueError(
            f"{labels.where}: none of its ids ({_some(labels.ids)}) is a node ({_some(ids)}); "
            "is the id column right?"
        )
    if found < len(ids):
        notes.append(f"{len(ids) - found} of {len(ids)} nodes have no label")
    if found < len(labels.ids):
        notes.append(f"{len(labels.ids) - found} labels belong to ids that are no nodes and are left out")
    return labels.labels.take(pa.array(places, mask=places < 0))


def _isolated_note(adjacency: Adjacency) -> list[str]:
    alone = np.diff(adjacency.indptr) == 0
    if adjacency.directed:
        alone[adjacency.indices] = False
    return (
        [f"{int(alone.sum())} of {len(alone)} nodes have no edges and keep their features"]
        if alone.any()
        else []
    )


def _some(ids: Any) -> str:
    return ", ".join(repr(value) for value in ids[:3].to_pylist()) + (", ..." if len(ids) > 3 else "")
