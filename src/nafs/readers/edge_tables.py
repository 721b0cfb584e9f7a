"""Edges from tables in files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from nafs._support.errors import InputError, Parameter
from nafs.graph.node_columns import listed, without_index
from nafs.readers.edges import BadEdgeError, Edges, PerhapsHeader, RowsRead, number_edges
from nafs.readers.evidence import MEASUREMENT
from nafs.readers.roles import EdgeColumns, edge_columns
from nafs.readers.tables import Table, TableOptions

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")

_CODES = 5  # ids with digits, at least, below words that may name the columns


def read_edges(
    path: str,
    options: TableOptions,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | Literal[False] | None = None,
    progress: RowsRead | None = None,
) -> Edges:
    """The edges of a table."""
    table = Table(path, options)
    if options.header is None and not table.named:
        named = [name for name in (source, target, weight) if isinstance(name, str) and not name.isdigit()]
        if named:  # naming columns implies that the first line names them
            again = Table(path, replace(options, header=True))
            table = again if set(named) <= set(again.columns) else table
    names = table.columns
    if table.index is not None and not table.index.named and len(without_index(names, table.index)) > 1:
        names = without_index(names, table.index)
    lists = [name for name in names if not table.text and table.kinds[name].endswith("]")]
    names = [name for name in names if name not in lists]
    if lists and len(names) < 2:
        raise InputError(
            f"{path}: column {lists[0]!r} holds lists, as in an embedding; edges need two columns of ids"
        )
    roles = edge_columns(names, source, target, weight, path, table.evidence, named=table.named)
    edges = _numbered(table, roles, progress)
    if table.text and len(edges.sources):
        if options.id_type == "auto":
            _refuse_measurements(edges, path)
        edges.notes += _perhaps_comments(edges, path)
        if table.named:
            _refuse_second_header(edges, roles, path)
        elif options.header is None:
            edges.header = _perhaps_a_header(edges, path)
            edges.notes += [edges.header.note] if edges.header else []
    edges.notes += table.notes(path)
    if table.named:
        meanings = {"source": roles.source, "target": roles.target, "weight": roles.weight}
        edges.names = {meaning: name for meaning, name in meanings.items() if name is not None}
    edges.describe(roles, [name for name in table.columns if name not in roles.all], path)
    return edges


def _numbered(table: Table, roles: EdgeColumns, progress: RowsRead | None) -> Edges:
    if roles.weight and not table.text:
        kind = table.kinds[roles.weight]
        if not kind.lstrip("U").startswith(_NUMBERS):
            raise InputError(
                f"{table.where}: column {roles.weight!r} holds {kind}: not numbers; ignore it with ",
                Parameter("weight", False),
            )
    kinds = ["VARCHAR", "VARCHAR", *(["DOUBLE"] if roles.weight else [])]
    options = table.options
    with table.query(roles.all, kinds) as (duck, query, parameters):
        try:
            return number_edges(
                duck,
                query,
                parameters,
                table.where,
                progress,
                options.bounds,
                weighted=roles.weight is not None,
                as_text=options.id_type == "text",
            )
        except BadEdgeError as error:
            if not table.text:
                raise
            raise error.placed(table.place_of_row(error.row)) from None


def _refuse_measurements(edges: Edges, where: str) -> None:
    """Refuse a feature table passed as edges: its ids would look like 0.173."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(edges.ids.type) or not len(edges.ids):
        return
    fractions = pc.match_substring_regex(edges.ids, MEASUREMENT)
    if pc.mean(fractions.cast(pa.float64())).as_py() > 0.4:
        example = edges.ids.filter(fractions)[0].as_py()
        raise InputError(
            f"{where}: the ids look like measurements ({example}); is this a feature table? An edge list has "
            "two columns of ids. If these are ids, set ",
            Parameter("id_type", "text"),
        )


def _perhaps_comments(edges: Edges, where: str) -> list[str]:
    """A note if comments below the first row have become ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(edges.ids.type):
        return []
    odd = edges.ids.filter(pc.match_substring_regex(edges.ids, r"^[#%]\s"))
    if not len(odd):
        return []
    return [
        f"{where}: the id {odd[0].as_py()!r} looks like a comment; only lines above the first row are skipped"
    ]


def _perhaps_a_header(edges: Edges, where: str) -> PerhapsHeader | None:
    """The first line, if it was read as an edge, but neither of its ids occurs again."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(edges.ids.type) or len(edges.sources) < 2:
        return None
    a, b = int(edges.sources[0]), int(edges.targets[0])
    if sum(int((ends == end).sum()) for ends in (edges.sources, edges.targets) for end in {a, b}) > 2:
        return None
    has_digit = pc.match_substring_regex(edges.ids, r"\d").to_numpy(zero_copy_only=False)
    codes = np.delete(has_digit, [a, b])
    above_codes = bool(len(codes) >= _CODES and codes.all() and not has_digit[[a, b]].any())
    return PerhapsHeader(where, (a, b), f"{edges.ids[a].as_py()}, {edges.ids[b].as_py()}", above_codes)


def _refuse_second_header(edges: Edges, roles: EdgeColumns, where: str) -> None:
    import pyarrow as pa

    from nafs.graph.ids import positions

    if not pa.types.is_large_string(edges.ids.type):
        return
    a, b = positions(edges.ids, pa.array([roles.source, roles.target], pa.large_string()))
    again: Any = np.flatnonzero((edges.sources == a) & (edges.targets == b) & (a >= 0) & (b >= 0))
    if len(again):
        header = listed([roles.source, roles.target])
        raise InputError(f"{where}: data row {again[0] + 1} repeats the header ({header}); remove it")
