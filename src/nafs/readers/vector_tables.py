"""Embeddings in Arrow files, JSON lines and Lance datasets, as `nafs.Embedding.write` lays them out."""

from __future__ import annotations

from typing import Any

from nafs._support.errors import InputError
from nafs._support.extras import lance
from nafs.graph.ids import id_column
from nafs.graph.numbers import feature_matrix

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
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InputError(f"{name}: it cannot be read as a table of vectors ({reason})") from None
    columns = table.column_names
    vectors = [column for column in columns if column not in ("id", "label")]
    if "id" not in columns or not vectors:
        raise InputError(
            f"{name}: an embedding has the columns id and embedding, or id, e0, e1, ...; "
            f"found {', '.join(columns)[:200] or 'none'}"
        )
    ids = id_column(table["id"].combine_chunks(), f"{name}: column 'id'")
    matrix, _ = feature_matrix(table, vectors, name)
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
        table = pyarrow.json.read_json(name)
        # Text that looks like a date was written as text: read it again without guessing.
        dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
        texts = [(column, pa.string()) for column in ("id", "label") if column in dates]
        if not texts:
            return table
        options = pyarrow.json.ParseOptions(explicit_schema=pa.schema(texts))
        return pyarrow.json.read_json(name, parse_options=options)
    return lance().dataset(name).to_table()
