"""Columns of a table: which one means what, and numbers out of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nafs.graph.ids import as_arrow

INDEX = "__index_level_0__"  # what Arrow calls a pandas index without a name
_PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("from_node", "to_node"),
    ("fromnodeid", "tonodeid"),
    ("u", "v"),
    ("node1", "node2"),
    ("source_id", "target_id"),
    ("head", "tail"),
    ("citing", "cited"),
)
_IDS = ("id", "node", "node_id", "nodeid", INDEX, "name")
_WEIGHTS = ("weight", "w")
_LABELS = ("label", "labels", "class")
HEADER_WORDS = frozenset([*(name for pair in _PAIRS for name in pair), *_IDS, *_WEIGHTS, *_LABELS, "y"])


def pick(names: Sequence[str], wanted: str | int | None, meaning: str, where: str) -> str | None:
    """The column that a user named, by name or by number from 1; ``None`` if nothing was asked for."""
    if wanted is None or wanted in names:
        return None if wanted is None else str(wanted)
    if str(wanted).isdigit() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    shown = ", ".join(repr(name) for name in names[:12]) + (", ..." if len(names) > 12 else "")
    raise ValueError(f"{where}: no column {wanted!r} for the {meaning}; there are {shown}")


def edge_columns(
    names: Sequence[str],
    source: str | int | None,
    target: str | int | None,
    weight: str | int | Literal[False] | None,
    where: str,
    *,
    named: bool = True,
) -> tuple[str, str, str | None]:
    """Source, target and weight among the columns of an edge table.

    Without being told: a pair of usual names, or else the first two columns; the weight is the column
    named "weight" or "w", or the third of exactly three columns without names.
    """
    names = [name for name in names if name != INDEX]
    if len(names) < 2:
        raise ValueError(
            f"{where}: found one column where an edge list needs two, source and target; "
            "is the delimiter right?"
        )
    by_lower = {name.lower(): name for name in reversed(names)}
    first, second = pick(names, source, "source", where), pick(names, target, "target", where)
    if first is None and second is None:
        first, second = names[0], names[1]
        for a, b in _PAIRS:
            if named and a in by_lower and b in by_lower:
                first, second = by_lower[a], by_lower[b]
                break
    first = first or next(name for name in names if name != second)
    second = second or next(name for name in names if name != first)
    third = pick(names, None if weight is False else weight, "weight", where)
    if weight is False:
        return first, second, None
    if third is None and named:
        third = next((by_lower[name] for name in _WEIGHTS if name in by_lower), None)
    elif third is None and len(names) == 3:
        third = next(name for name in names if name not in (first, second))
    return first, second, third if third not in (first, second) else None


def label_name(names: Sequence[str]) -> str | None:
    """The column of labels by its usual name, if there is one."""
    by_lower = {name.lower(): name for name in reversed(names)}
    return next((by_lower[name] for name in _LABELS if name in by_lower), None)


def id_name(names: Sequence[str], wanted: str | int | None, where: str) -> str:
    """The column of ids: as named, one with a usual name, or the first."""
    chosen = pick(names, wanted, "ids", where)
    by_lower = {name.lower(): name for name in reversed(names)}
    return chosen or next((by_lower[name] for name in _IDS if name in by_lower), names[0])


def numbers_of(values: Any, what: str) -> NDArray[np.float64]:
    """A column of numbers as float64, NaN where missing."""
    import pyarrow as pa

    array = as_arrow(values, what)
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.cast(kind.value_type)
        kind = array.type
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    elif pa.types.is_decimal(kind) or pa.types.is_null(kind):
        array = array.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise ValueError(f"{what} holds {kind}, not numbers; leave the column out or encode it first")
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)


def feature_matrix(table: Any, names: Sequence[str], where: str) -> tuple[NDArray[np.float32], list[str]]:
    """Columns of numbers, or of lists of numbers, side by side in float32; and their names."""
    import pyarrow as pa

    widths: list[int] = []
    for name in names:
        kind = table.schema.field(name).type
        lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
        widths.append(_list_width(table[name], name, where) if any(is_kind(kind) for is_kind in lists) else 0)
    matrix = np.empty((table.num_rows, sum(max(1, width) for width in widths)), np.float32)
    found: list[str] = []
    with np.errstate(over="ignore"):  # becomes inf, which is refused with its row
        for name, width in zip(names, widths, strict=True):
            left = len(found)
            if width:
                values = numbers_of(_flat(table[name]), f"{where}: column {name!r}")
                matrix[:, left : left + width] = values.reshape(-1, width)
                found += [f"{name}_{i}" for i in range(width)]
            else:
                matrix[:, left] = numbers_of(table[name], f"{where}: column {name!r}")
                found.append(name)
    return matrix, found


def _flat(column: Any) -> Any:
    import pyarrow as pa

    parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return pa.chunked_array([part.flatten() for part in parts])


def _list_width(column: Any, name: str, where: str) -> int:
    import pyarrow.compute as pc

    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), -1))
    if not len(lengths) or (lengths != lengths[0]).any() or lengths[0] < 1:
        row = int(np.flatnonzero(lengths != lengths[0])[0]) if len(lengths) else 0
        raise ValueError(
            f"{where}: the lists of column {name!r} differ in length or are empty (row {row}); "
            "features need as many numbers in each row"
        )
    return int(lengths[0])
