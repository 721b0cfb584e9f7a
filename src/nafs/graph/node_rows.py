"""The rows of a data frame, in the order of a graph's nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs.graph.ids import check_unique, id_column, positions
from nafs.graph.node_columns import choose_id, listed_values, may_be_ids, table_of, with_index, without_index
from nafs.graph.numbers import feature_matrix
from nafs.graph.spellings import whole_like


def aligned_features(
    frame: Any, ids: Any, wanted: str | int | None = None
) -> tuple[NDArray[np.float32], list[str], str]:
    """Features in the order of the ids, their names, and a note that says how rows were matched."""
    import pyarrow as pa

    where = "features"
    table, index = with_index(table_of(frame, where), where)
    names = without_index(table.column_names, index)
    if wanted is None and index is None and not any(_may_name_nodes(table[name]) for name in names):
        return _in_order(table, names, len(ids))
    key = choose_id(names, lambda name: table[name], ids, index=index, wanted=wanted, where=where)
    held = whole_like(id_column(table[key], f"{where}: column {key!r}"), ids)
    check_unique(held, where)
    places = positions(held, whole_like(ids, held))
    lacking = places < 0
    if lacking.any():
        some = listed_values(ids.filter(pa.array(lacking)))
        raise InputError(
            f"{where}: {int(lacking.sum())} of {len(ids)} nodes have no row ({some}); is ",
            Parameter("id_column", key),
            " right? Add the missing rows",
        )
    columns = [name for name in names if name != key]
    if not columns:
        raise InputError(f"{where}: there is no column beside the ids ({key!r})")
    matrix, feature_names = feature_matrix(table, columns, where)
    return matrix[places], feature_names, f"features: id = {key!r}, {matrix.shape[1]} features"


def _may_name_nodes(column: Any) -> bool:
    import pyarrow as pa

    return not pa.types.is_floating(column.type) and may_be_ids(column)


def _in_order(table: Any, names: list[str], n: int) -> tuple[NDArray[np.float32], list[str], str]:
    if table.num_rows != n:
        raise InputError(
            f"features: it has {table.num_rows} rows for {n} nodes and no column of ids; name one with ",
            Parameter("id_column"),
        )
    matrix, feature_names = feature_matrix(table, names, "features")
    note = f"features: no ids, rows are read in the order of the nodes, {matrix.shape[1]} features"
    return matrix, feature_names, note
