"""Embeddings in Arrow files, JSON lines and Lance datasets, as `nafs.Embedding.write` lays them out."""

from __future__ import annotations

from typing import Any

import numpy as np

from nafs._support.errors import InputError
from nafs._support.optional import lance
from nafs.graph.ids import id_column

_ARROW = (".feather", ".arrow")
_JSON_LINES = (".jsonl", ".ndjson")
SUFFIXES = (*_ARROW, *_JSON_LINES, ".lance")


def read_vector_table(name: str) -> tuple[Any, Any, Any, bytes]:
    """Ids, vectors, labels (or None) and the settings as JSON text.

    Parameters
    ----------
    name : str
        A table with the columns id, label if any, and embedding (lists), or e0, e1, ... (numbers).
    """
    import pyarrow as pa

    try:
        table = _read(name)
        table.validate(full=True)
    except (pa.ArrowInvalid, OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:200]
        raise InputError(f"{name}: it cannot be read as a table of vectors ({reason})") from None
    columns = table.column_names
    vectors = [column for column in columns if column not in ("id", "label")]
    if "id" not in columns or not vectors:
        raise InputError(
            f"{name}: an embedding has the columns id and embedding, or id, e0, e1, ...; "
            f"found {', '.join(columns)[:200] or 'none'}"
        )
    ids = id_column(table["id"].combine_chunks())
    matrix = _matrix(table, vectors, name)
    labels = table["label"].combine_chunks() if "label" in columns else None
    return ids, matrix, labels, (table.schema.metadata or {}).get(b"nafs", b"{}")


def _read(name: str) -> Any:
    import pyarrow as pa
    import pyarrow.json

    lower = name.lower()
    if lower.endswith(_ARROW):
        with pa.memory_map(name) as source, pa.ipc.open_file(source) as reader:
            return reader.read_all()
    if lower.endswith(_JSON_LINES):
        return pyarrow.json.read_json(name)
    return lance().dataset(name).to_table()


def _matrix(table: Any, names: list[str], name: str) -> Any:
    """The vectors as an array."""
    if len(names) > 1:
        return np.column_stack([np.asarray(table[column].to_numpy(), np.float32) for column in names])
    column = table[names[0]].combine_chunks()
    if not hasattr(column, "flatten"):
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float32)[:, None]
    values = np.asarray(column.flatten().to_numpy(zero_copy_only=False), np.float32)
    if column.null_count or len(column) == 0 or values.size % len(column):
        raise InputError(f"{name}: the vectors in {names[0]!r} are not all of the same length")
    if not hasattr(column.type, "list_size") and len(set(column.value_lengths().to_pylist())) > 1:
        raise InputError(f"{name}: the vectors in {names[0]!r} are not all of the same length")
    return values.reshape(len(column), -1)
