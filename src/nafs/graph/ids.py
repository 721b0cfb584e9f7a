"""Node ids: integers or strings, one per node, in an Arrow array.

Ids from different files must match. Numbers written as text ("17") are read as integers if all ids of that
file are plain numbers; otherwise they all stay strings. Integers are compared with strings as text. Blanks
around an id are ignored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.counted import counted
from nafs._support.errors import InputError, InputTypeError
from nafs.graph.indices import refuse_masked

BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_HAS_BLANKS = r"^[\s\p{Z}]|[\s\p{Z}]$"


class MissingIdError(InputError):
    """A row without an id; only its number is known, not its line in a file."""

    row = 0  # the first is 0

    @classmethod
    def of(cls, where: str, row: int) -> MissingIdError:
        """The error for a row of a table."""
        error = cls(f"{where}: the id in row {row + 1} is missing; fill it in, or delete the row")
        error.row = row
        return error

    def placed(self, place: str, column: str) -> InputError:
        """The same error with the file and the line."""
        return InputError(f"{place}: the id in column {column!r} is missing; fill it in, or delete the row")


def read_ids(values: Any, where: str = "ids") -> Any:
    """Validate ids: none missing, all unique; as an Arrow array of int64 or large_string.

    Examples
    --------
    >>> from nafs.graph.ids import read_ids
    >>> read_ids(["b", "a"]).to_pylist(), read_ids(["10", "2"]).to_pylist()
    (['b', 'a'], [10, 2])
    """
    ids = id_column(values, where)
    check_unique(ids, where)
    return ids


def id_column(values: Any, where: str = "ids") -> Any:
    """Ids as an Arrow array, none missing, not necessarily unique."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = as_arrow(values, where)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if array.null_count:
        raise MissingIdError.of(where, first(array.is_null()))
    if pa.types.is_integer(array.type) or pa.types.is_null(array.type):  # an empty list
        if pa.types.is_uint64(array.type) and len(array) and int(np.asarray(array).max()) > 2**63 - 1:
            return array.cast(pa.large_string())
        return array.cast(pa.int64())
    if str(array.type) == "extension<arrow.uuid>":
        return pa.array([str(value) for value in array.to_pylist()], pa.large_string())
    if pa.types.is_floating(array.type):
        return _whole_numbers(array, where)
    if is_text(array):
        text = _without_blanks(array.cast(pa.large_string()))
        if len(text) and pc.min(pc.binary_length(text)).as_py() == 0:
            raise MissingIdError.of(where, first(pc.equal(text, "")))
        return plain_numbers(text)
    raise InputTypeError(f"{where}: ids must be whole numbers or strings; found {array.type}")


def is_text(array: Any) -> bool:
    """Whether an Arrow array holds strings."""
    import pyarrow as pa

    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_kind(array.type) for is_kind in kinds)


def _without_blanks(ids: Any) -> Any:
    import pyarrow.compute as pc

    blank = pc.any(pc.match_substring_regex(ids, _HAS_BLANKS)).as_py()
    return pc.utf8_trim(ids, characters=BLANKS) if blank else ids


def blanks_note(values: Any, where: str) -> list[str]:
    """What to say of ids that have blanks around them.

    Examples
    --------
    >>> from nafs.graph.ids import blanks_note
    >>> blanks_note(["a", " b", "c"], "nodes")
    ["nodes: blanks around 1 id are ignored, such as ' b'"]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = as_arrow(values, where)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary
    if not is_text(array):
        return []
    text = array.cast(pa.large_string())
    blank = text.filter(pc.match_substring_regex(text, _HAS_BLANKS))
    if not len(blank):
        return []
    return [blanks_line(where, len(blank), blank[0].as_py())]


def blanks_line(where: str, count: int, example: str) -> str:
    """A note on ids with blanks around them."""
    return (
        f"{where}: blanks around {count:,} {'id' if count == 1 else 'ids'} are ignored, such as {example!r}"
    )


def as_arrow(values: Any, where: str) -> Any:
    """Convert a one-dimensional array-like to an Arrow array."""
    import pyarrow as pa

    refuse_masked(values, where)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InputError(f"{where}: expected one value per row; got an array of shape {values.shape}")
    if isinstance(values, np.ndarray) and values.dtype.kind in "UT":
        values = values.astype(object)
    try:
        if hasattr(values, "__arrow_c_stream__") or isinstance(values, pa.ChunkedArray):
            array = pa.chunked_array(values)
        elif hasattr(values, "__arrow_c_array__") and not isinstance(values, pa.Array):
            array = pa.array(values)
        else:
            array = values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
    except OverflowError:  # integers beyond 64 bits
        array = pa.array([None if value is None else str(value) for value in values], pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InputTypeError(f"{where}: values must be all numbers or all strings ({error})") from None
    if isinstance(array, pa.ChunkedArray):
        if pa.types.is_string(array.type):  # 32-bit offsets may not reach over all chunks
            array = array.cast(pa.large_string())
        array = array.combine_chunks()
    if pa.types.is_string_view(array.type):  # of polars; few functions know it
        array = array.cast(pa.large_string())
    return array


def plain_numbers(ids: Any) -> Any:
    """int64 if every string is an integer in Python's own notation; otherwise the strings unchanged."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.all(pc.match_substring_regex(ids, r"^(0|-?[1-9][0-9]{0,18})$"))
    if not len(ids) or not plain.as_py():
        return ids
    try:
        return ids.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 64 bits
        return ids


def _whole_numbers(array: Any, where: str) -> Any:
    import pyarrow as pa

    numbers = np.asarray(array, dtype=np.float64)
    bad = ~((np.abs(numbers) < 2.0**53) & (np.floor(numbers) == numbers))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(f"{where}: the id {numbers[row]} in row {row + 1} is not a whole number")
    return pa.array(numbers.astype(np.int64))


def is_unique(ids: Any) -> bool:
    """Whether no id is repeated."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_int64(ids.type):  # a hash table would need hundreds of bytes per id
        ascending = np.sort(np.asarray(ids))
        return bool((ascending[1:] > ascending[:-1]).all())
    return bool(pc.count_distinct(ids).as_py() == len(ids))


def check_unique(ids: Any, where: str) -> None:
    """Raise if an id is repeated, naming it and its rows."""
    import pyarrow.compute as pc

    if is_unique(ids):
        return
    counts = pc.value_counts(ids)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))
    value = repeated.field("values")[0]
    rows = np.flatnonzero(np.asarray(pc.equal(ids, value)))
    raise InputError(
        f"{where}: id {value.as_py()!r} occurs {len(rows)} times (rows {rows[0] + 1} and {rows[1] + 1}"
        f"{', ...' if len(rows) > 2 else ''}); {counted(len(repeated), 'id')} "
        f"{'is' if len(repeated) == 1 else 'are'} repeated; keep one row for each"
    )


def positions(ids: Any, wanted: Any) -> NDArray[np.int64]:
    """Position of each wanted id in ``ids``; -1 for unknown ids.

    Examples
    --------
    >>> from nafs.graph.ids import positions, read_ids
    >>> positions(read_ids(["a", "b"]), read_ids(["b", "c", "a"]))
    array([ 1, -1,  0])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    ids, wanted = same_kind(ids, wanted)
    if pa.types.is_int64(ids.type) and len(ids):
        return _places(np.asarray(ids), np.asarray(wanted))
    places = pc.fill_null(pc.index_in(wanted, value_set=ids), -1)
    return np.asarray(places, dtype=np.int64)


def _places(ids: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    if is_counting(ids):
        return np.where((wanted >= 0) & (wanted < len(ids)), wanted, -1)
    order = np.argsort(ids, kind="stable")
    places = order[np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)]
    return np.where(ids[places] == wanted, places, -1)


def is_counting(ids: NDArray[np.int64]) -> bool:
    """Whether the ids are 0, 1, 2, ..."""
    ends = len(ids) > 0 and ids[0] == 0 and ids[-1] == len(ids) - 1
    return bool(ends and (ids == np.arange(len(ids))).all())


def same_kind(a: Any, b: Any) -> tuple[Any, Any]:
    """Both arrays unchanged if they have the same type; otherwise both as strings."""
    import pyarrow as pa

    if a.type == b.type:
        return a, b
    return a.cast(pa.large_string()), b.cast(pa.large_string())


def as_numpy(ids: Any) -> NDArray[Any]:
    """Ids as a NumPy array: int64, or Python strings in an object array."""
    return np.asarray(ids.to_numpy(zero_copy_only=False))


def first(mask: Any) -> int:
    """Index of the first true value in an Arrow array of booleans."""
    return int(np.flatnonzero(np.asarray(mask))[0])
