"""Numbers from the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.graph.ids import as_arrow


def numbers_of(values: Any, where: str) -> NDArray[np.float64]:
    """A column of numbers as float64, NaN where missing."""
    import pyarrow as pa

    array = as_arrow(values, where)
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.cast(kind.value_type)
        kind = array.type
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        array = _written_numbers(array, where)
    elif pa.types.is_decimal(kind) or pa.types.is_null(kind):
        array = array.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise InputError(f"{where} holds {kind}, not numbers; leave the column out or encode it first")
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)


def _written_numbers(texts: Any, where: str) -> Any:
    """Numbers that are written as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.utf8_trim_whitespace(texts).cast(pa.float64())
    except pa.ArrowInvalid:
        raise InputError(
            f"{where} holds text, not numbers; leave the column out or encode it first"
        ) from None


def feature_matrix(table: Any, names: Sequence[str], where: str) -> tuple[NDArray[np.float32], list[str]]:
    """Columns of numbers, or of lists of numbers, side by side in float32; and their names."""
    import pyarrow as pa

    widths: list[int] = []
    for name in names:
        kind = table.schema.field(name).type
        lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
        widths.append(_list_width(table[name], name, where) if any(is_kind(kind) for is_kind in lists) else 0)
    matrix = np.empty((table.num_rows, sum(max(1, width) for width in widths)), np.float32)
    columns: list[str] = []
    with np.errstate(over="ignore"):  # overflow becomes inf, which is refused with its row
        for name, width in zip(names, widths, strict=True):
            start = len(columns)
            if width:
                values = numbers_of(_flat(table[name]), f"{where}: column {name!r}")
                matrix[:, start : start + width] = values.reshape(-1, width)
                columns += [f"{name}_{i}" for i in range(width)]
            elif pa.types.is_float64(table.schema.field(name).type) and not table[name].null_count:
                matrix[:, start] = table[name].to_numpy()  # thousands of columns are converted one by one
                columns.append(name)
            else:
                matrix[:, start] = numbers_of(table[name], f"{where}: column {name!r}")
                columns.append(name)
    return matrix, columns


def _flat(column: Any) -> Any:
    import pyarrow as pa

    parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return pa.chunked_array([part.flatten() for part in parts])


def _list_width(column: Any, name: str, where: str) -> int:
    import pyarrow.compute as pc

    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), -1))
    differs = np.flatnonzero(lengths != lengths[:1])
    if not len(lengths) or len(differs) or lengths[0] < 1:
        row = int(differs[0]) if len(differs) else 0
        raise InputError(
            f"{where}: the lists of column {name!r} differ in length or are empty (row {row}); "
            "every row needs the same number of values"
        )
    return int(lengths[0])
