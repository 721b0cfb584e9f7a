"""Write graphs in the formats that the readers accept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs._support.atomic import check_target, whole_file
from nafs._support.errors import InputError, MissingExtraError
from nafs.graph import Graph
from nafs.writers.embeddings import id_table
from nafs.writers.tables import is_table, write_table

_OTHERS = (".mtx", ".npz", ".graphml")


def check_graph_target(path: str | os.PathLike[str], *, force: bool) -> None:
    """Raise, before any work is done, if a graph cannot be written at ``path``."""
    name = os.fspath(path)
    if Path(name).suffix and not is_table(name) and not name.lower().endswith(_OTHERS):
        raise InputError(
            f"{name}: graphs are written as .csv, .tsv, .parquet, {', '.join(_OTHERS)}, or as a folder (a "
            "name without extension)"
        )
    check_target(Path(name), force=force)


def write_graph(graph: Graph, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write the edges of a graph; a folder or GraphML also holds features and labels.

    Parameters
    ----------
    graph : Graph
    path : path
        .csv, .tsv, .parquet: one row per edge with the ids of its nodes (an undirected edge once). .mtx,
        .npz: the adjacency matrix, without ids. .graphml: edges, features and labels. A name without
        extension: a folder, see :meth:`nafs.Graph.save`.
    force : bool
        Overwrite an existing file.
    """
    check_graph_target(path, force=force)
    name = os.fspath(path)
    if not Path(name).suffix:
        graph.save(name, force=force)
        return
    with whole_file(Path(name), force=force) as part:
        if is_table(name):
            write_edges(graph, part, name)
        elif name.lower().endswith(".graphml"):
            _write_graphml(graph, part)
        elif name.lower().endswith(".npz"):
            with part.open("wb") as file:
                sp.save_npz(file, graph.adjacency.to_scipy())
        else:
            _write_matrix_market(graph, part)


def write_nodes(graph: Graph, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write ids, features and labels as a table, one row per node: .csv, .tsv or .parquet."""
    name = os.fspath(path)
    if not is_table(name):
        raise InputError(f"{name}: node tables are written as .csv, .tsv or .parquet")
    ids, labels = graph.id_array, None if graph.labels is None else graph.labels.to_arrow()
    width = 0 if graph.features is None else graph.features.shape[1]
    names = graph.feature_names or [f"x{i}" for i in range(width)]
    reserved = next((column for column in names if column in ("id", "label")), None)
    if reserved is not None:
        raise InputError(
            f"a feature is called {reserved!r}, which a node table uses for another column; rename it"
        )

    def block(begin: int, end: int) -> Any:
        import pyarrow as pa

        table = id_table(ids, labels, begin, end)
        if graph.features is not None:
            rows = graph.features.rows(begin, end, np.float32)
            for i, column in enumerate(names):
                table = table.append_column(column, pa.array(np.ascontiguousarray(rows[:, i])))
        return table

    with whole_file(Path(name), force=force) as part:
        write_table(part, name, graph.n_nodes, width + 2, block)


def _edge_numbers(graph: Graph) -> tuple[Any, Any, Any]:
    """Sources, targets and weights; an undirected edge occurs once."""
    adjacency = graph.adjacency
    rows, columns, weights = adjacency.rows, adjacency.indices, adjacency.weights
    if not adjacency.directed:
        once = rows <= columns
        rows, columns = rows[once], columns[once]
        weights = None if weights is None else weights[once]
    return rows, columns, weights


def write_edges(graph: Graph, target: Any, name: str) -> None:
    """Write the edges as a table to a path or an open file, in the format of ``name``'s extension."""
    import pyarrow as pa

    rows, columns, weights = _edge_numbers(graph)
    ids = graph.id_array

    def block(begin: int, end: int) -> Any:
        entries = {
            "source": ids.take(pa.array(rows[begin:end])),
            "target": ids.take(pa.array(columns[begin:end])),
        }
        if weights is not None:
            entries["weight"] = pa.array(weights[begin:end])
        return pa.table(entries)

    write_table(target, name, len(rows), 3, block)


def _write_matrix_market(graph: Graph, part: Path) -> None:
    from scipy.io import mmwrite

    adjacency = graph.adjacency
    symmetry = "general" if adjacency.directed else "symmetric"
    field = "pattern" if adjacency.weights is None else "real"
    with part.open("wb") as file:
        mmwrite(file, adjacency.to_scipy(), field=field, symmetry=symmetry, precision=9)


def _write_graphml(graph: Graph, part: Path) -> None:
    try:
        import networkx
    except ImportError:
        raise MissingExtraError("writing GraphML needs networkx: pip install networkx") from None
    document = networkx.DiGraph() if graph.adjacency.directed else networkx.Graph()
    names = graph.ids.tolist()
    labels = None if graph.labels is None else graph.labels.to_arrow().to_pylist()
    for i, name in enumerate(names):
        data = {}
        if graph.features is not None:
            values = graph.features.rows(i, i + 1, np.float32)[0].tolist()
            data = dict(
                zip(graph.feature_names or [f"x{j}" for j in range(len(values))], values, strict=True)
            )
        if labels is not None and labels[i] is not None:
            data["label"] = labels[i]
        document.add_node(name, **data)
    rows, columns, weights = _edge_numbers(graph)
    for e, (a, b) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        document.add_edge(names[a], names[b], **({} if weights is None else {"weight": float(weights[e])}))
    networkx.write_graphml(document, str(part))
