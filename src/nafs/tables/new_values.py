"""Values of new rows that a fitted encoder cannot read: errors, or notes for unknown categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs.tables.codecs import Category
from nafs.tables.encoder import Encoding, TableEncoder
from nafs.tables.kinds import MISSING_MARKS, read_values

_SHOWN = 3  # unknown categories of a column that a note names


def refuse_unreadable(encoder: TableEncoder, table: Any) -> None:
    """Raise if a number or a date of new rows cannot be read, naming the first; missing values are allowed.

    Parameters
    ----------
    encoder : TableEncoder
    table : Arrow table
        With the columns that were fitted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.tables.codecs import Number
    >>> from nafs.tables.encoder import Encoding, TableEncoder
    >>> from nafs.tables.new_values import refuse_unreadable
    >>> encoder = TableEncoder((Encoding("age", "number", "", Number(40.0, 10.0, False)),))
    >>> refuse_unreadable(encoder, pa.table({"age": ["50", "n/a"]}))
    >>> refuse_unreadable(encoder, pa.table({"age": ["50", "old"]}))
    Traceback (most recent call last):
    nafs._support.errors.InputError: features: row 2, column 'age': 'old' is not a number, ...
    """
    for encoding in encoder.used:
        if encoding.kind not in ("number", "date") or encoding.column not in table.column_names:
            continue
        column = table[encoding.column]
        for row in np.flatnonzero(_unread(column, encoding)):
            value = column[int(row)].as_py()
            if _is_missing(value):
                continue
            wanted = "a finite number"
            if encoding.kind == "date":
                wanted = f"a date in the model's format ({encoding.date_format or 'such as 2024-12-31'})"
            elif not isinstance(value, float):
                wanted = "a number"
            raise InputError(
                Parameter("features"),
                f": row {row + 1}, column {encoding.column!r}: {str(value)[:80]!r} is not {wanted}, as the "
                "model needs; correct it, or leave it empty",
            )


def unknown_categories(encoder: TableEncoder, table: Any) -> list[str]:
    """Notes on categories of new rows that the encoder does not know; one for each column that has some."""
    notes = []
    for encoding in encoder.used:
        if not isinstance(encoding.codec, Category) or encoding.column not in table.column_names:
            continue
        known = set(encoding.codec.values)
        values = read_values(table[encoding.column], encoding.kind)
        unknown = list(dict.fromkeys(value for value in values if value is not None and value not in known))
        if unknown:
            shown = ", ".join(repr(value[:80]) for value in unknown[:_SHOWN])
            more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
            notes.append(
                f"features: column {encoding.column!r}: {shown}{more} not among the model's categories, so "
                "encoded as if missing; embed the whole graph again to add new categories"
            )
    return notes


def _unread(column: Any, encoding: Encoding) -> NDArray[np.bool_]:
    """Where the values of a column are missing, infinite or of another kind."""
    import pyarrow as pa

    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if (encoding.kind == "number" and pa.types.is_temporal(column.type)) or (
        encoding.kind == "date" and encoding.date_format is None and number
    ):
        return np.ones(len(column), bool)  # pandas would convert one to the other
    values = read_values(column, encoding.kind, encoding.date_format)
    return np.asarray(~np.isfinite(values))


def _is_missing(value: Any) -> bool:
    if value is None or value != value:  # noqa: PLR0124 - NaN differs from itself
        return True
    return str(value).strip().lower() in MISSING_MARKS
