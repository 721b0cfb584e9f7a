"""An embedding of any origin, from a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import parse_memory
from nafs._support.errors import InputError
from nafs._support.json_text import parse_json
from nafs.graph import Graph
from nafs.graph.ids import check_unique, positions
from nafs.graph.spellings import whole_like
from nafs.readers.database import bounds_of
from nafs.readers.join import NodeTable, row_numbers
from nafs.readers.matrices import is_matrix, read_matrix
from nafs.readers.node_tables import read_nodes
from nafs.readers.size import IN_VECTOR_TABLES, check_size
from nafs.readers.spool import readable
from nafs.readers.tables import TableOptions, is_parquet
from nafs.readers.vector_tables import SUFFIXES, read_vector_table

_MOST_HOPS = 100_000


def read_embedding(
    path: str | os.PathLike[str],
    graph: Graph | None = None,
    *,
    memory_limit: int | str | None = None,
) -> tuple[NDArray[np.float32], Any, Any, dict[str, Any]]:
    """Vectors, ids, labels (or None) and settings, from a file.

    Parameters
    ----------
    path : path
        A table keyed by id (.parquet, .csv, .feather, .jsonl, .lance, ...) with numbers or lists of numbers;
        or a matrix (.npy) whose ids are in ``NAME.ids.csv`` beside it.
    graph : Graph, optional
        Only its nodes are returned, in its order. Row i of a matrix without ids belongs to id i, or to the
        i-th node if ids are not 0..n-1.
    memory_limit : int or str, optional
        Tables that are too large for it are read through temporary files.

    Returns
    -------
    ndarray of float32, shape (n, d)
    Arrow array of n ids
    Arrow array of n labels, or None
    dict
    """
    with readable(path) as (paths, _):
        assert paths[0] is not None
        return _read_file(paths[0], graph, memory_limit)


def _read_file(
    name: str, graph: Graph | None, memory_limit: int | str | None
) -> tuple[NDArray[np.float32], Any, Any, dict[str, Any]]:
    import pyarrow as pa

    _refuse_other_files(name)
    beside = Path(name).with_suffix(".ids.csv")
    known = None if graph is None else graph.id_array
    if is_matrix(name) and not beside.is_file():
        matrix = _numbers(name)
        if graph is None:
            return _checked(matrix, name), pa.array(np.arange(len(matrix))), None, {}
        if len(matrix) != graph.n_nodes:
            raise InputError(
                f"{name}: it has shape {matrix.shape} for {graph.n_nodes} nodes; one row each is needed"
            )
        return _checked(matrix[row_numbers(graph.id_array)], name), graph.id_array, None, {}
    if is_matrix(name):
        matrix, about = _numbers(name), _about(Path(name).with_suffix(".json"))
        options = TableOptions(delimiter=",", header=True, bounds=bounds_of(memory_limit, None, [beside]))
        table = read_nodes(str(beside), options, known=known, numbers_only=True)
        if len(table.ids) != len(matrix):
            raise InputError(f"{beside}: {len(table.ids)} ids for {len(matrix)} rows of {name}")
    elif name.lower().endswith(SUFFIXES):
        check_size(
            name, IN_VECTOR_TABLES, parse_memory(memory_limit), "raise it, or write the vectors as .parquet"
        )
        ids, matrix, values, settings = read_vector_table(name)
        table, about = NodeTable(ids, matrix, labels=values, where=name), _parsed_about(settings, name)
    else:
        options = TableOptions(bounds=bounds_of(memory_limit, None, [name]))
        table = _read_table(name, options, known)
        if table.features is None:
            raise InputError(f"{name}: there are no columns of numbers in it")
        matrix, about = table.features, _parquet_about(name) if is_parquet(name) else {}
    check_unique(table.ids, str(beside) if is_matrix(name) else name)
    if graph is None:
        return _checked(matrix, name), table.ids, table.labels, about
    places = positions(whole_like(table.ids, graph.id_array), whole_like(graph.id_array, table.ids))
    lacking = np.flatnonzero(places < 0)
    if len(lacking):
        example = graph.id_array[int(lacking[0])].as_py()
        count = f"{len(lacking)} of {graph.n_nodes}"
        raise InputError(f"{name}: {count} nodes are not in it, such as {example!r}")
    labels = None if table.labels is None else table.labels.take(pa.array(places))
    if labels is not None and labels.null_count == len(labels):  # labels of other nodes
        labels = None
    return _checked(np.asarray(matrix)[places], name), graph.id_array, labels, about


def _read_table(name: str, options: TableOptions, known: Any) -> NodeTable:
    try:
        return read_nodes(name, options, known=known, numbers_only=True)
    except InputError as error:
        if error.parameter != "id_column":
            raise
        raise InputError(
            error.render(lambda _: "the header 'id'")
        ) from None  # embeddings have no such option


def _refuse_other_files(name: str) -> None:
    """Raise if a path names no embedding."""
    if name.lower().endswith(".usearch"):
        raise InputError(
            f"{name} is a search index, which usearch opens; load the embedding it was built from"
        )
    if Path(name).is_dir() and not name.lower().endswith(".lance"):
        raise InputError(
            f"{name} is a folder; name the file of an embedding (.parquet, .csv, .npy); the folder of a "
            "model is read by `nafs similar` and by nafs.model.Model.load"
        )


def _checked_about(about: Any, name: str) -> dict[str, Any]:
    """Settings of an embedding from its metadata; an impossible number of hops is an error."""
    if not isinstance(about, dict):
        return {}
    hops = about.get("n_hops")
    if hops is not None and (type(hops) is not int or not 0 <= hops <= _MOST_HOPS):
        raise InputError(
            f"{name}: its metadata says n_hops = {str(hops)[:40]}, which is impossible; embed it again"
        )
    return about


def _parquet_about(name: str) -> dict[str, Any]:
    import pyarrow.parquet

    return _parsed_about((pyarrow.parquet.read_schema(name).metadata or {}).get(b"nafs", b"{}"), name)


def _parsed_about(text: bytes, name: str) -> dict[str, Any]:
    try:
        about = parse_json(text)
    except ValueError:
        return {}
    return _checked_about(about, name)


def _about(path: Path) -> dict[str, Any]:
    try:
        about = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return _checked_about(about, str(path))


def _numbers(name: str) -> NDArray[Any]:
    matrix: Any = read_matrix(name)
    matrix = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{name}: an embedding holds real numbers; found {matrix.dtype}")
    if matrix.ndim != 2:
        raise InputError(f"{name}: an embedding has a row for each node; found shape {matrix.shape}")
    return np.asarray(matrix)


def _checked(matrix: Any, name: str) -> NDArray[np.float32]:
    vectors = np.asarray(matrix, np.float32)
    bad = ~np.isfinite(vectors).all(axis=1)
    if bad.any():
        raise InputError(f"{name}: {int(bad.sum())} of its rows hold NaN or inf; fill or drop them")
    return vectors
