"""Answers joined to the user's own table of nodes: the same rows in the same order, with more columns."""

from __future__ import annotations

import os
from typing import Any

from nafs.graph.ids import as_arrow
from nafs.graph.node_columns import is_nameless
from nafs.graph.spellings import whole_like
from nafs.readers.matrices import is_matrix
from nafs.readers.tables import Table, TableOptions
from nafs.readers.written_numbers import typed

_ROWS = 1 << 16


def joined(
    answers: Any,
    nodes: str | os.PathLike[str] | None,
    options: TableOptions | None = None,
    *,
    as_written: bool = False,
) -> Any:
    """The table of nodes with the columns of the answers; nodes that only the edges name come last.

    Parameters
    ----------
    answers : Arrow table
        Its first column is the id of each node, in the order of the graph.
    nodes : path, optional
        The table that the features came from. For a matrix, stdin or None only the answers are returned.
    options : TableOptions, optional
        How a text table is written.
    as_written : bool
        Keep numbers as the text table writes them, for output as text.

    Returns
    -------
    Arrow table
        ``None`` if no column has the ids of the nodes, in their order.
    """
    import pyarrow as pa

    if nodes is None or os.fspath(nodes) == "-" or is_matrix(os.fspath(nodes)):
        return answers
    table = Table(os.fspath(nodes), options or TableOptions())
    kinds = [table.kinds.get(name, "VARCHAR") for name in table.columns]
    batches = list(table.batches(table.columns, kinds, _ROWS))
    rows = pa.Table.from_batches(batches)
    ids = answers.column(0)
    key = _key_of(rows, ids)
    if key is None:
        return None
    named = table.named and not is_nameless(key)
    rows = rows.select([name for name in rows.column_names if name == key or not is_nameless(name)])
    missing = answers.num_rows - rows.num_rows
    columns = {}
    for name in rows.column_names:
        kind = rows.schema.field(name).type
        if name == key:
            columns[name if named else answers.column_names[0]] = ids
        else:
            values = pa.chunked_array([*rows[name].chunks, pa.nulls(missing, kind)])
            columns[name] = typed(values, as_written=as_written) if table.text else values
    whole = _beside(columns, answers)
    return whole.rename_columns(["" if name == table.blank else name for name in whole.column_names])


def with_id_name(answers: Any, name: str) -> Any:
    """The answers, with their ids under the name that the user's own table has for them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.readers.joined import with_id_name
    >>> with_id_name(pa.table({"id": [7], "label": ["a"]}), "user").column_names
    ['user', 'label']
    """
    return _beside({name: answers.column(0)}, answers)


def _beside(columns: dict[str, Any], answers: Any) -> Any:
    """A table of the columns and, after them, the answers; a name that is taken gets a prefix."""
    import pyarrow as pa

    whole = dict(columns)
    for name in answers.column_names[1:]:
        free = name
        while free in whole:
            free = f"nafs_{free}"
        whole[free] = answers[name]
    return pa.table(whole)


def _key_of(rows: Any, ids: Any) -> str | None:
    """The column that holds the ids of the first nodes, in order."""
    import pyarrow as pa

    first = as_arrow(ids.slice(0, rows.num_rows), "ids").cast(pa.large_string())
    for name in rows.column_names:
        try:
            values = as_arrow(rows[name], name).cast(pa.large_string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
        if values.equals(first) or whole_like(values, first).cast(pa.large_string()).equals(first):
            return str(name)
    return None
