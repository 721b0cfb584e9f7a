"""Tables of an update (new edges, new features, ids to remove), read like the model's own tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from nafs._support.budget import check_limit, left_now, parse_memory
from nafs._support.errors import InputError, Parameter
from nafs.graph.spellings import whole_like, whole_note
from nafs.model.model import Model
from nafs.model.recipe import columns_of
from nafs.model.report import UpdateReport
from nafs.readers.database import Bounds, bounds_of, one_database
from nafs.readers.edge_tables import read_edges
from nafs.readers.node_tables import read_rows
from nafs.readers.spool import readable
from nafs.readers.tables import Table, TableOptions

_READING = 40 << 20  # bytes of memory that the database takes for small tables


@dataclass(frozen=True, kw_only=True)
class Files:
    """The tables of an update."""

    edges: str | None = None
    features: str | None = None
    remove_edges: str | None = None
    remove_nodes: str | None = None


def update_from_files(
    model: Model,
    files: Files,
    reading: Mapping[str, Any],
    *,
    overrides: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    memory_limit: int | str | None = None,
) -> tuple[UpdateReport, list[str]]:
    """Update a model from tables; returns what was done and notes on how the tables were read.

    Parameters
    ----------
    model : Model
    files : Files
    reading : mapping
        Options of :func:`nafs.read_graph` that the model's own tables were read with. Columns that a table
        does not have are ignored.
    overrides : mapping, optional
        Options that replace them. Columns that a table does not have are errors.
    tolerance : float, optional
        As in :meth:`Model.update`.
    memory_limit : int or str, optional
        Tables that are too large for it are read through temporary files.
    """
    if files == Files():
        raise InputError(
            "there is nothing to update: give at least one of ",
            Parameter("edges"),
            ", ",
            Parameter("features"),
            ", ",
            Parameter("remove_edges"),
            " and ",
            Parameter("remove_nodes"),
        )
    names = [entry.name for entry in fields(files)]
    with one_database(), readable(*(getattr(files, name) for name in names)) as (paths, original):
        copies = Files(**dict(zip(names, paths, strict=True)))
        limit = parse_memory(memory_limit)
        room = left_now(limit)
        if limit is not None and room is not None and room < limit:  # a command's limit
            check_limit(limit - room + _READING, limit, "reading the tables needs", "raise it")
        bounds = bounds_of(limit, None, paths)
        report, notes = _update(model, copies, reading, overrides, tolerance, bounds)
        return report, [original(note) for note in notes]


def _update(
    model: Model,
    files: Files,
    reading: Mapping[str, Any],
    overrides: Mapping[str, Any] | None,
    tolerance: float | None,
    bounds: Bounds | None,
) -> tuple[UpdateReport, list[str]]:
    chosen = dict(reading) | dict(overrides or {})
    options = TableOptions(
        chosen.get("delimiter"),
        chosen.get("header"),
        chosen.get("comment"),
        bounds,
        chosen.get("id_type", "auto"),
    )

    def column(path: str, name: str) -> Any:
        wanted = chosen.get(name)
        if not (overrides and name in overrides):
            return _there(path, options, wanted)
        if name == "id_column" and _there(path, options, wanted) is None:
            others = [other for other in (files.features, files.remove_nodes) if other not in (None, path)]
            if any(_there(str(other), options, wanted) is not None for other in others):
                return _there(path, options, reading.get(name))  # it is the other table that has this column
        return wanted

    known = model.id_array
    notes: list[str] = []
    changes: dict[str, Any] = {}

    def like_the_model(ids: Any, path: str) -> Any:
        whole = whole_like(ids, known)
        notes.extend([] if whole is ids else [whole_note(path)])
        return whole

    for name in ("edges", "remove_edges"):
        path = getattr(files, name)
        if path is not None:
            roles = {role: column(path, role) for role in ("source", "target")}
            weighted = name == "edges" and chosen.get("weight") is not False
            roles["weight"] = column(path, "weight") if weighted else False
            try:
                table = read_edges(path, options, **roles)
            except InputError as error:
                if _holds_nodes(path, options, columns_of(model.recipe)):
                    hint = f"; {path} has the columns of the model's nodes: is it meant for "
                    raise type(error)(*error.parts, hint, Parameter("features"), "?") from None
                raise
            remembered = all(
                roles[end] == table.names.get(end) and end not in (overrides or {})
                for end in ("source", "target")
            )
            line = f"{table.columns} (named as when the model was built)" if remembered else table.columns
            notes += [line, *table.notes]
            table.ids = like_the_model(table.ids, path)
            ends = (table.ids.take(np.asarray(table.sources)), table.ids.take(np.asarray(table.targets)))
            changes[name] = (*ends, table.weights) if name == "edges" else ends
    if files.remove_nodes is not None:
        path = files.remove_nodes
        listed = replace(options, header=(overrides or {}).get("header"))  # unlike the model's own tables
        ids, _, note = read_rows(path, listed, [], known=known, id_column=column(path, "id_column"))
        changes["remove_nodes"] = like_the_model(ids, path)
        notes.append(note)
    if files.features is not None:
        path = files.features
        wanted = column(path, "id_column")
        ids, table, note = read_rows(path, options, columns_of(model.recipe), known=known, id_column=wanted)
        changes["features"] = like_the_model(ids, path), table
        notes.append(note)
    changes["missing"] = chosen.get("missing", "error")
    if tolerance is not None:
        changes["tolerance"] = tolerance
    report = model.update(**changes)
    return report, [*notes, *report.notes]


def _holds_nodes(path: str, options: TableOptions, columns: Sequence[str] | None) -> bool:
    """Whether a table has all the columns that the model's features were made from."""
    try:
        return bool(columns) and set(columns or ()) <= set(Table(path, options).columns)
    except (InputError, OSError):
        return False


def _there(path: str, options: TableOptions, column: Any) -> Any:
    """The column chosen for the original table, if this one has it too."""
    if column is None or isinstance(column, int) or str(column).isdigit():
        return column
    table = Table(path, options)
    if options.header is None and not table.named and column not in table.columns:
        table = Table(path, replace(options, header=True))  # a known name in the first line makes it a header
    return column if column in table.columns else None
