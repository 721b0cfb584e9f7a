"""Columns of numbers in text tables, with the types that they have in other formats.

A column is converted only if all of its values are numbers as programs write them: codes such as 007 stay
text.
"""

from __future__ import annotations

from typing import Any

from nafs.tables.kinds import MISSING_MARKS

_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
_DECIMAL = r"^-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?$"


def typed(column: Any, *, as_written: bool) -> Any:
    """A column of text as numbers, if all of its values are; otherwise unchanged.

    Parameters
    ----------
    column : Arrow array of strings
    as_written : bool
        Convert only what looks the same when it is written as text again, but for a final ".0". Otherwise
        marks of missing numbers such as N/A become missing values, too.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.readers.written_numbers import typed
    >>> columns = [pa.array(["1", "2"]), pa.array(["1.5", "?"]), pa.array(["007"])]
    >>> [str(typed(column, as_written=False).type) for column in columns]
    ['int64', 'double', 'string']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column
    if not as_written:
        marked = pc.is_in(pc.utf8_lower(column), pa.array(MISSING_MARKS, column.type))
        values = pc.if_else(marked, pa.scalar(None, column.type), column)
    present = values.drop_null()
    if not len(present) or not _all(present, _DECIMAL):
        return column
    if _all(present, _WHOLE):
        return values.cast(pa.int64())
    numbers = values.cast(pa.float64())
    if not as_written:
        return numbers
    scales = pc.unique(pc.utf8_length(pc.replace_substring_regex(present, r"^[^.]*\.?", "")))
    if len(scales) == 1 and not pc.any(pc.match_substring_regex(present, "[eE]")).as_py():
        return values.cast(pa.decimal128(38, scales[0].as_py()))
    again = numbers.drop_null().cast(column.type)
    same = pc.equal(again, pc.replace_substring_regex(present, r"\.0$", ""))
    return numbers if pc.all(same).as_py() else column


def _all(values: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())
