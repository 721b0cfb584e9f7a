"""Labels keyed by id: a mapping, a pandas Series, or a data frame with a column of ids and one of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nafs._support.errors import InputError
from nafs.graph.ids import as_arrow, check_unique, id_column, positions
from nafs.graph.node_columns import (
    choose_id,
    listed,
    listed_values,
    table_of,
    with_index,
    without_index,
)

_USUAL = ("label", "labels", "class")


def is_frame(value: Any) -> bool:
    """Whether a value has named columns, as data frames of pandas, polars and pyarrow have."""
    return hasattr(value, "column_names") or hasattr(value, "columns")


def keyed_labels(labels: Any, known: Any, where: str = "labels") -> tuple[Any, Any, str | None]:
    """Ids and their classes, as Arrow arrays of equal length, and what the classes are called, if known.

    Parameters
    ----------
    labels : mapping of id to class, pandas Series, or data frame
        A Series is keyed by its index. A data frame has the ids and the classes in two columns.
    known : Arrow array
        Ids of the nodes.
    where : str
        Name of the labels in errors.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.graph.label_tables import keyed_labels
    >>> table = pa.table({"name": ["a", "b"], "kind": ["x", "y"]})
    >>> ids, classes, name = keyed_labels(table, pa.array(["b", "a"]))
    >>> ids.to_pylist(), classes.to_pylist(), name
    (['a', 'b'], ['x', 'y'], 'kind')
    """
    name: Any = None
    if is_frame(labels):
        table, index = with_index(table_of(labels, where), where)
        names = without_index(table.column_names, index)
        key = choose_id(names, lambda name: table[name], known, index=index, where=where)
        others = [name for name in names if name != key]
        usual = [name for name in others if name.lower() in _USUAL]
        chosen = others if len(others) == 1 else usual
        if len(chosen) != 1:
            raise InputError(
                f"{where}: cannot tell which of the columns {listed(others)} holds the classes of the ids in "
                f"{key!r}; keep two columns, id and class"
            )
        name = chosen[0]
        ids, classes = id_column(table[key], where), as_arrow(table[name], where)
    elif isinstance(labels, Mapping) or (hasattr(labels, "index") and hasattr(labels, "items")):
        pairs, name = dict(labels.items()), getattr(labels, "name", None)
        ids = id_column([str(node) for node in pairs], where)
        values = [None if value != value else value for value in pairs.values()]  # noqa: PLR0124
        classes = as_arrow(values, where)
    else:
        raise InputError(
            f"{where} must be a mapping of id to class, a Series, or a data frame with the columns id and "
            f"class; got {type(labels).__qualname__}"
        )
    check_unique(ids, where)
    return ids, classes, name if isinstance(name, str) else None


def unmatched_ids(labelled: Any, ids: Any) -> str:
    """How many ids that have labels are in the graph, with examples of both; nothing if all are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.graph.label_tables import unmatched_ids
    >>> unmatched_ids(pa.array(["a", "B", "C"]), pa.array(["a", "b"]))
    "1 of the 3 ids with labels is in the graph; 'C' is not; ids of the graph are 'a', 'b'"
    """
    unknown = positions(ids, labelled) < 0
    if not unknown.any():
        return ""
    known = len(unknown) - int(unknown.sum())
    example = labelled[int(np.flatnonzero(unknown)[-1])].as_py()  # the first may be a header
    return (
        f"{known} of the {len(unknown)} ids with labels {'is' if known == 1 else 'are'} in the graph; "
        f"{example!r} is not; ids of the graph are {listed_values(ids)}"
    )
