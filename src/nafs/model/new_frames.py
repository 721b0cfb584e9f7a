"""Data frames of an update: edges, and features keyed by id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nafs._support.errors import InputError, Parameter
from nafs.graph.ids import id_column
from nafs.graph.label_tables import is_frame
from nafs.graph.node_columns import (
    USUAL_IDS,
    Index,
    choose_id,
    listed_values,
    table_of,
    with_index,
    without_index,
)
from nafs.graph.spellings import whole_like
from nafs.readers.frames import listed_edges


def edges_of(edges: Any) -> Any:
    """Sources, targets and weights of a frame; other edges unchanged."""
    if not is_frame(edges):
        return edges
    listed = listed_edges(edges)
    return listed.ids.take(listed.sources), listed.ids.take(listed.targets), listed.weights


def ids_of(nodes: Any, known: Any, id_name: str | None) -> Any:
    """The ids of a frame; other ids unchanged."""
    if not is_frame(nodes):
        return nodes
    table, index = with_index(table_of(nodes, "remove_nodes"), "remove_nodes")
    names = without_index(table.column_names, index)
    only = names[0] if len(names) == 1 and index is None else None
    key = _id_column(table, names, index, known, only or id_name, "remove_nodes")
    return whole_like(id_column(table[key], "remove_nodes"), known)


def features_of(
    features: Any, known: Any, columns: Sequence[str] | None, id_name: str | None
) -> tuple[Any, str | None]:
    """Ids and rows of a frame, and its column of ids; a pair of ids and rows is returned as it is.

    Parameters
    ----------
    features : data frame, or (ids, rows)
    known : Arrow array
        Ids of the model; the frame may name others.
    columns : sequence of str, optional
        Those that the features are made from.
    id_name : str, optional
        What the model's own table calls the ids.
    """
    if not is_frame(features):
        if not isinstance(features, (tuple, list)) or len(features) != 2:
            raise InputError(
                Parameter("features"), " must be a pair (ids, rows), or a frame with a column of ids"
            )
        ids, rows = features
        _refuse_other_ids(ids, rows, columns or (), id_name)
        return (ids, rows), None
    table, index = with_index(table_of(features, "features"), "features")
    names = without_index(table.column_names, index)
    others = [name for name in names if name not in (columns or ())]
    key = _id_column(table, others, index, known, id_name, "features")
    rows = table.select([name for name in names if name != key])
    return (whole_like(id_column(table[key], "features"), known), rows), key


def _id_column(
    table: Any, names: Sequence[str], index: Index | None, known: Any, wanted: str | None, where: str
) -> str:
    """The column of the ids, which may be called as in the model's own table, or have any usual name."""
    wanted = wanted if wanted in names else None
    try:
        return choose_id(
            names, lambda name: table[name], known, index=index, wanted=wanted, where=where, others=True
        )
    except InputError as error:
        if error.parameter != "id_column":
            raise
        raise InputError(error.render(lambda _: "the header 'id'")) from None  # updates have no such option


def _refuse_other_ids(ids: Any, rows: Any, columns: Sequence[str], id_name: str | None) -> None:
    """Raise if the rows have a column of ids that differs from the ids that were passed beside them."""
    if not is_frame(rows):
        return
    table, passed = table_of(rows, "features"), id_column(ids, "features")
    for name in table.column_names:
        if name in columns or (name != id_name and name.lower() not in USUAL_IDS):
            continue
        try:
            held = whole_like(id_column(table[name], "features"), passed)
        except (ValueError, TypeError):  # no ids, and not used
            continue
        if len(held) == len(passed) and held.cast("large_string") != passed.cast("large_string"):
            raise InputError(
                Parameter("features"),
                f": the column {name!r} of the rows holds other ids ({listed_values(held)}) than were passed "
                f"beside them ({listed_values(passed)}); pass the frame alone",
            )
