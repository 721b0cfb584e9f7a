"""Notes on columns that may mean something else.

Whole numbers may be codes: departments 1 to 9, postcodes without leading zeros. Nothing in the values tells
codes from counts, so they are read as numbers, and a note says how to change that. Other notes are about
leftover row numbers, and about dates that could also be read with day and month swapped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.tables.encoder import TableEncoder
from nafs.tables.kinds import in_words, other_reading, read_values

_ROWS = 10_000  # looked at, spread over the table
_FEW = 20  # different values; more than these are codes only if they are long
_LONG = 1000  # the smallest of numbers that have all the same length, such as postcodes
_EACH = 3  # rows for each value, on average
_YEARS = (1900, 2100)
_ROW_NUMBERS = ("index", "level_0", "row", "row_number", "rownum")
_MOST = 12  # columns; more are a matrix of counts


def may_be_codes(values: NDArray[Any]) -> bool:
    """Whether numbers could be codes: whole, repeated, and either few or of the same length; years are not.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.tables.doubtful_columns import may_be_codes
    >>> may_be_codes(np.arange(30) % 9 + 1), may_be_codes(np.arange(30)), may_be_codes(np.arange(30) % 3 / 2)
    (True, False, False)
    """
    present = values[np.isfinite(values)]
    if not len(present) or (present != np.floor(present)).any():
        return False
    distinct = np.unique(present)
    low, high = int(distinct[0]), int(distinct[-1])
    if not 2 < len(distinct) <= len(present) / _EACH or low < 0 or _YEARS[0] <= low <= high <= _YEARS[1]:
        return False
    return len(distinct) <= _FEW or (low >= _LONG and len(str(low)) == len(str(high)))


def notes_on_numbers(columns: Mapping[str, NDArray[Any]], where: str) -> list[str]:
    """What to say of columns that are read as numbers, but may be codes; nothing of many such columns."""
    # The names of --category are separated by commas.
    names = [name for name, values in columns.items() if "," not in name and may_be_codes(values)]
    leftover = [name for name, values in columns.items() if _counts_rows(name, values)]
    notes = [
        f"{where}: {name!r} counts the rows, but is used as a feature; leave it out with --ignore {name} "
        f"(ignore=[{name!r}] in Python)"
        for name in leftover
    ]
    if not 0 < len(names) <= _MOST:
        return notes
    return [
        *notes,
        f"{where}: whole numbers that repeat are read as numbers ({', '.join(map(repr, names))}); if they "
        f"are codes, say so with --category {','.join(names)} (category={names} in Python)",
    ]


def _counts_rows(name: str, values: NDArray[Any]) -> bool:
    """Whether a column is called as pandas calls a former index, and holds different whole numbers."""
    if name.lower() not in _ROW_NUMBERS or not np.isfinite(values).all():
        return False
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) == len(values)


def notes_on_matrix(matrix: Any, names: Sequence[str], own: Sequence[str], where: str) -> list[str]:
    """The same for a matrix of features, of which the columns ``own`` are those of the user's table."""
    rows = slice(None, None, max(1, len(matrix) // _ROWS))
    return notes_on_numbers({name: matrix[rows, i] for i, name in enumerate(names) if name in own}, where)


def notes_on_table(table: Any, encoder: TableEncoder, where: str) -> list[str]:
    """The same for an Arrow table that was encoded."""
    rows = np.arange(0, table.num_rows, max(1, table.num_rows // _ROWS))
    numbers = [encoding.column for encoding in encoder.used if encoding.kind == "number"]
    columns = {name: read_values(table[name].take(rows), "number") for name in numbers}
    return [*notes_on_numbers(columns, where), *_notes_on_dates(table, encoder, where)]


def _notes_on_dates(table: Any, encoder: TableEncoder, where: str) -> list[str]:
    notes = []
    for encoding in encoder.used:
        if encoding.date_format is None:
            continue
        other = other_reading(table[encoding.column], encoding.date_format)
        if other is not None:
            notes.append(
                f"{where}: the dates in {encoding.column!r} are read as {in_words(encoding.date_format)}, "
                f"but could all be {in_words(other)} too; write them as year-month-day to be sure"
            )
    return notes
