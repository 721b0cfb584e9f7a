"""Features and labels from tables in files, keyed by id."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nafs._support.errors import InputError, MemoryLimitError, Parameter
from nafs.graph.ids import MissingIdError, blanks_note, is_text, plain_numbers, positions
from nafs.graph.ids import id_column as as_ids
from nafs.graph.node_columns import (
    NoIdsError,
    choose_id,
    is_nameless,
    listed,
    may_be_ids,
    pick,
    without_index,
)
from nafs.graph.numbers import feature_matrix
from nafs.readers.database import Bounds
from nafs.readers.dialect import is_number
from nafs.readers.edges import RowsRead
from nafs.readers.evidence import MEASUREMENT
from nafs.readers.join import NodeTable
from nafs.readers.mixed import encode, needs_encoding
from nafs.readers.roles import label_name
from nafs.readers.summary import columns_line
from nafs.readers.tables import LOOKED_AT, Table, TableOptions
from nafs.tables import TableEncoder
from nafs.tables.doubtful_columns import notes_on_matrix, notes_on_table

_VALUES = 1 << 24  # handed over at a time
_LISTS = 1 << 12  # rows with lists of values handed over at a time
_CALLED_IDS = re.compile(r"\D*(^|[\W_])(?i:id|node|name|key)s?|\D*[a-z]Ids?")  # the end of a header


def read_nodes(
    path: str,
    options: TableOptions,
    *,
    known: Any = None,
    renames: bool = False,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    ignore: Sequence[str] = (),
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    labels_only: bool = False,
    numbers_only: bool = False,
    progress: RowsRead | None = None,
) -> NodeTable:
    """Features and labels, or labels alone, of a table keyed by id.

    Parameters
    ----------
    path : str
    options : TableOptions
    known : Arrow array, optional
        Ids of the nodes, as far as they are known.
    renames : bool
        Whether the table may name nodes that have only numbers so far.
    id_column, label_column, ignore, text, category
        As in :func:`nafs.read_graph`.
    labels_only : bool
        Read no features.
    numbers_only : bool
        Refuse columns of words, as in a table of vectors.
    progress : callable, optional
    """
    table = _with_header(path, options, known)
    try:
        names, key = _names_and_key(table, known, id_column, renames)
    except NoIdsError:
        if table.named or options.header is not None or not table.text:
            raise
        # Only for an error that shows the first line as it is: perhaps a header, perhaps not.
        again = Table(path, replace(options, header=True))
        if not again.first_rows(again.columns).num_rows:
            raise InputError(f"{path}: the table has no rows below its first line") from None
        _names_and_key(again, known, id_column, renames)
        raise
    left_out = {str(pick(names, name, "columns to ignore", path)) for name in ignore}
    others = [name for name in names if name != key and name not in left_out]
    label = pick(names, label_column, "labels", path) or label_name(others)
    others = [name for name in others if name != label]
    if labels_only:
        label = label or _only(others, key, path)
        others = []
    forced = {
        kind: [str(pick(names, name, "features", path)) for name in chosen]
        for kind, chosen in (("text", text), ("category", category))
    }
    ids, labels, features, feature_names, more, encoder = _read_features(
        table, key, label, others, forced, numbers_only=numbers_only, progress=progress
    )
    used = {key, label, *others}
    unused = [name for name in table.columns if name not in used]
    notes = table.notes(path) + more
    notes += [] if others or labels_only else [f"{path}: there are no feature columns in it"]
    nodes = NodeTable(
        ids,
        features,
        feature_names,
        labels,
        path,
        notes=notes,
        allocate=(options.bounds or Bounds()).allocate,
        encoder=encoder,
        key=key if table.named and not is_nameless(key) else None,
        label=label if table.named else None,
    )
    nodes.describe(key, label, unused)
    return nodes


def read_rows(
    path: str,
    options: TableOptions,
    columns: Sequence[str] | None,
    *,
    known: Any,
    id_column: str | int | None = None,
) -> tuple[Any, Any, str]:
    """Some columns of a table keyed by id, unchanged: ids, an Arrow table, and a note on the columns.

    Parameters
    ----------
    path : str
    options : TableOptions
    columns : sequence of str, optional
        All but the ids by default. With none, the table is a list of ids, and its first line may be one.
    known : Arrow array
        Ids of known nodes; the table may name others.
    id_column : str or int, optional
    """
    table = _with_known_header(path, options, known, id_column)
    index = table.index
    names = without_index(table.columns, index)
    candidates = [name for name in names if columns is None or name not in columns] or names
    key = candidates[0]
    if len(candidates) > 1 or id_column is not None:
        key = choose_id(
            candidates if id_column is None else names,
            table.column,
            known,
            index=index,
            wanted=id_column,
            likely=lambda: _likely_ids(table, candidates),
            where=path,
            others=True,
        )
    if table.text and table.named and columns == [] and options.header is None and id_column is None:
        _refuse_mistyped(key, known, path)
    chosen = [name for name in names if name != key] if columns is None else list(columns)
    missing = [name for name in chosen if name not in names]
    if missing:
        raise InputError(f"{path}: there is no column {listed(missing)}; it has {listed(names, 12)}")
    ids, _, _, _, blanks = _read(table, key, None, [], None)
    unused = [name for name in table.columns if name not in {key, *chosen}]
    note = "; ".join([columns_line(path, [("id", key)], chosen, unused), *blanks])
    return ids, _mixed_columns(table, chosen) if chosen else None, note


def _read_features(
    table: Table,
    key: str,
    label: str | None,
    others: Sequence[str],
    forced: dict[str, list[str]],
    *,
    numbers_only: bool,
    progress: RowsRead | None,
) -> tuple[Any, Any, Any, list[str] | None, list[str], TableEncoder | None]:
    """What :func:`_read` returns, notes on columns too, and the encoder if they hold more than numbers."""

    def encoded() -> tuple[Any, Any, Any, list[str], list[str], TableEncoder]:
        ids, labels, _, _, notes = _read(table, key, label, [], progress)
        columns = _mixed_columns(table, others)
        encoder, features = encode(columns, table.where, **forced)
        notes += notes_on_table(columns, encoder, table.where)
        return ids, labels, features, encoder.names(), notes, encoder

    may_be_mixed = bool(others) and not (table.wide or numbers_only)
    if (others and any(forced.values())) or (may_be_mixed and _is_mixed(table, others)):
        return encoded()
    try:
        ids, labels, features, names, notes = _read(table, key, label, others, progress)
        if may_be_mixed:
            notes += notes_on_matrix(features, names or (), others, table.where)
        return ids, labels, features, names, notes, None
    except InputError as error:
        if not may_be_mixed or isinstance(error, MemoryLimitError):
            raise
        unreadable = error  # perhaps a gap or a word below the first rows
    try:
        return encoded()
    except InputError:
        raise unreadable from None  # it names the line


def _is_mixed(table: Table, columns: Sequence[str]) -> bool:
    """Whether the first rows hold other values than numbers, or any row a code such as 01067."""
    rows = table.first_rows(columns)
    if needs_encoding(rows):
        return True
    if rows.num_rows < LOOKED_AT:
        return False
    digits = [name for name in columns if _may_be_codes(rows[name])]
    return bool(digits) and table.holds_codes(digits)


def _may_be_codes(column: Any) -> bool:
    """Whether a column of text holds only digits, and not just one in each row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return False
    whole = pc.all(pc.match_substring_regex(column, "^[0-9]+$")).as_py()
    return bool(whole and pc.max(pc.utf8_length(column)).as_py() > 1)


def _mixed_columns(table: Table, names: Sequence[str]) -> Any:
    """All values of some columns as an Arrow table, those of a text table as text."""
    import pyarrow as pa

    kinds = [table.kinds.get(name, "VARCHAR") for name in names]
    batches = list(table.batches(names, kinds, 1 << 16))
    return pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in names})


def _with_header(path: str, options: TableOptions, known: Any) -> Table:
    """The table; a first line whose words are not nodes, above lines that are, is its header."""
    import pyarrow as pa

    table = Table(path, options)
    if table.named or options.header is not None or known is None or not table.text:
        return table
    rows = table.first_rows(table.columns)
    first = [rows[name][0].as_py() or "" for name in table.columns]
    if rows.num_rows < 2 or any(is_number(field) for field in first):
        return table
    for name in table.columns:
        held = positions(known, rows[name].fill_null("").combine_chunks().cast(pa.large_string())) >= 0
        if not held[0] and held[1:].mean() > 0.5:
            return Table(path, replace(options, header=True))
    return table


def _with_known_header(path: str, options: TableOptions, known: Any, id_column: str | int | None) -> Table:
    """As :func:`_with_header`; the name of the id column is a header, a known id alone in a line is none."""
    import pyarrow as pa

    table = _with_header(path, options, known)
    if options.header is not None or not table.text:
        return table
    if not table.named and id_column is not None:
        again = Table(path, replace(options, header=True))
        return again if id_column in again.columns else table
    first = pa.array(table.columns, pa.large_string())
    if table.named and id_column is None and len(first) == 1 and positions(known, first)[0] >= 0:
        return Table(path, replace(options, header=False))
    return table


def _refuse_mistyped(name: str, known: Any, path: str) -> None:
    """Raise if the word above a list of ids may be a mistyped id rather than a header."""
    if _CALLED_IDS.fullmatch(name) or not (is_text(known) or re.search(r"\d", name)):
        return
    raise InputError(
        f"{path}: {name!r} in the first line is no known id; if it is a header, name it as the id column: ",
        Parameter("id_column", name),
        "; if it is a mistyped id, correct it",
    )


def _names_and_key(
    table: Table, known: Any, wanted: str | int | None, renames: bool
) -> tuple[list[str], str]:
    """All columns but an index, and the column of the ids."""
    index = table.index
    names = without_index(table.columns, index)
    key = choose_id(
        names,
        table.column,
        known,
        index=index,
        wanted=wanted,
        likely=lambda: _likely_ids(table, names),
        where=table.where,
        others=renames,
    )
    return names, key


def _likely_ids(table: Table, names: Sequence[str]) -> list[str]:
    rows = table.first_rows(names)
    return [name for name in names if may_be_ids(rows[name])]


def _only(others: Sequence[str], key: str, path: str) -> str:
    if not others:
        raise InputError(f"{path}: labels need two columns, id and label; found only {key!r}")
    if len(others) > 1:
        raise InputError(
            f"{path}: cannot tell which of the columns {listed(others)} holds the labels; name it with ",
            Parameter("label_column"),
        )
    return others[0]


def _read(
    table: Table, key: str, label: str | None, others: Sequence[str], progress: RowsRead | None
) -> tuple[Any, Any, Any, list[str] | None, list[str]]:
    """Ids, labels, features and their names, and notes on the ids."""
    import pyarrow as pa

    path, bounds = table.where, table.options.bounds
    stored = [] if key not in table.columns else [key]  # a range index is not stored
    columns = [*stored, *([label] if label else []), *others]
    kinds = ["VARCHAR"] * (len(columns) - len(others)) + ["DOUBLE"] * len(others)
    ids, labels, names = [], [], None
    blocks = _Blocks(bounds)
    count = 0
    lists = any(table.kinds.get(name, "").endswith("]") for name in others)
    rows = _LISTS if lists else max(1024, _VALUES // max(1, len(columns)))
    for batch in table.batches(columns, kinds, rows):
        # Not converted to numbers yet: that depends on all ids together.
        if stored:
            ids.append(batch.column(0))
        if label:
            labels.append(batch.column(len(stored)))
        if others:
            block, names = feature_matrix(pa.Table.from_batches([batch]), others, path)
            _refuse_missing(block, names, count, table)
            blocks.append(block)
        count += batch.num_rows
        if progress is not None:
            progress(batch.num_rows)
    if not count:
        raise InputError(f"{path}: the table has no rows")
    keys = pa.chunked_array(ids) if stored else table.column(key)
    if len(keys) != count:
        raise InputError(f"{path}: its index has {len(keys)} entries for {count} rows")
    known = pa.chunked_array(labels).combine_chunks() if label else None
    if label and table.text:
        known = _label_values(known, label, path)
    try:
        ids_of_all = as_ids(keys, f"{path}: column {key!r}")
    except MissingIdError as error:
        raise error.placed(table.place_of_row(error.row), key) if table.text else error from None
    return ids_of_all, known, blocks.whole(), names, blanks_note(keys, path)


class _Blocks:
    """Collects blocks of rows into one matrix; with bounds, in a file, block by block."""

    def __init__(self, bounds: Bounds | None) -> None:
        self.bounds = bounds
        self.blocks: list[Any] = []
        self.file: Any = None
        self.shape = (0, 0)

    def append(self, block: Any) -> None:
        self.shape = (self.shape[0] + len(block), block.shape[1])
        if self.bounds is None:
            self.blocks.append(block)
            return
        if self.file is None:
            self.file = tempfile.TemporaryFile(dir=self.bounds.folder)  # noqa: SIM115 - lives as long as this
        self.file.write(np.ascontiguousarray(block).data)

    def whole(self) -> Any:
        if not self.shape[0]:
            return None
        if self.bounds is None:
            return self.blocks[0] if len(self.blocks) == 1 else np.concatenate(self.blocks)
        self.file.flush()
        return np.asarray(np.memmap(self.file, np.float32, "r+", shape=self.shape))


def _label_values(labels: Any, column: str, where: str) -> Any:
    """Labels read as text become numbers where all of them are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = labels.cast(pa.large_string())
    there = text.drop_null()
    if len(there) and pc.all(pc.match_substring_regex(there, MEASUREMENT)).as_py():
        raise InputError(
            f"{where}: column {column!r} holds measurements such as {there[0].as_py()}, not classes; name "
            "the column of the labels with ",
            Parameter("label_column"),
        )
    numbers = plain_numbers(there)
    return text.cast(pa.int64()) if len(there) and pa.types.is_int64(numbers.type) else text


def _refuse_missing(block: Any, names: Sequence[str] | None, above: int, table: Table) -> None:
    bad = ~np.isfinite(block)
    if bad.any():
        row, column = (int(at[0]) for at in np.nonzero(bad))
        name = names[column] if names else column
        place = table.place_of_row(above + row) if table.text else f"{table.where}, row {above + row + 1}"
        raise InputError(
            f"{place}: the feature {name!r} is missing, infinite or too large for float32; fill or drop it"
        )
