"""Columns of the nodes: what one can colour by, filter by and search for."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs.graph import Labels
from nafs.graph.ids import check_unique, positions, same_kind
from nafs.graph.ids import id_column as as_ids
from nafs.graph.node_columns import choose_id, listed, pick, without_index
from nafs.graph.spellings import whole_like
from nafs.readers.spool import readable
from nafs.readers.tables import Table, TableOptions
from nafs.report.packing import packed_size
from nafs.tables.kinds import are_codes

MOST_COLUMNS = 12  # shown unless columns are named
MOST_CLASSES = 1000  # different values of a category
MOST_TEXT, MOST_SERVED_TEXT = 400, 100_000  # letters kept of one text, in a file and on a server
_FEWEST, _SAMPLED = 20, 5_000  # letters that are always kept; texts compressed to estimate their size
_WIDE = 40  # numeric columns above which a table counts as a feature matrix
_MOST_READ = 400  # columns that are looked at to choose from, unless columns are named
_PER_SECOND = {"date64[ms]": 1e3, "s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}
_SKEWED = 30.0  # ratio of the largest to the median value above which colours are logarithmic


@dataclass(frozen=True, eq=False)
class Column:
    """A column with one value per node.

    Attributes
    ----------
    title : str
    kind : {"number", "date", "category", "text"}
    values : ndarray or list
        Numbers (NaN where missing), seconds since 1970, codes (-1 where missing), or texts.
    names : tuple of str
        The values of a category by code, the most frequent first.
    source : {"yours", "nafs"}
        Whether it comes from the user's table or from the embedding.
    explain : str
        One line for the page.
    """

    title: str
    kind: str
    values: Any
    names: tuple[str, ...] = ()
    source: str = "yours"
    explain: str = ""

    def for_page(self, most_text: int = MOST_TEXT) -> dict[str, Any]:
        """The column as the page reads it; texts are cut after ``most_text`` letters."""
        common = {"title": self.title, "kind": self.kind, "source": self.source, "explain": self.explain}
        if self.kind == "text":
            texts = [None if text is None else text[:most_text] for text in self.values]
            if any(text is not None and len(text) > most_text for text in self.values):
                common["explain"] = f"{self.explain} The first {most_text} letters of each text.".strip()
            return common | {"values": texts}
        if self.kind == "category":
            codes = np.where(self.values < 0, len(self.names), self.values)
            kind = np.uint8 if len(self.names) < 256 else np.uint16
            counts = np.bincount(codes, minlength=len(self.names) + 1)[: len(self.names)]
            return common | {
                "names": list(self.names),
                "counts": counts.tolist(),
                "values": codes.astype(kind),
            }
        values = np.asarray(self.values, np.float64)
        known = values[np.isfinite(values)]
        ends = [float(known.min()), float(known.max())] if len(known) else [0.0, 1.0]
        skewed = self.kind == "number" and ends[0] >= 0 and ends[1] > _SKEWED * max(np.median(known), 1e-30)
        whole = bool((known == np.floor(known)).all())
        return common | {
            "range": ends,
            "log": bool(len(known) and skewed),
            "whole": whole,
            "values": values if self.kind == "date" else _compact(values, whole),
        }


def _compact(values: NDArray[np.float64], whole: bool) -> NDArray[Any]:
    """Numbers in 32 bits, about seven digits; in 64 bits if whole numbers would change or others overflow."""
    known = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    kept = narrow[np.isfinite(values)]
    fits = (
        np.array_equal(kept, known)
        if whole
        else bool((np.isfinite(kept) & ((kept != 0) | (known == 0))).all())
    )
    return narrow if fits else values


def letters_that_fit(columns: Sequence[Column], room: float) -> int:
    """How many letters of each text a file keeps, so that they take about ``room`` bytes; at least 20.

    Examples
    --------
    >>> from nafs.report.columns import Column, letters_that_fit
    >>> letters_that_fit([Column("note", "text", ["short"] * 900 + ["long text " * 50] * 100)], 1e6)
    400
    """
    texts = [text for column in columns if column.kind == "text" for text in column.values if text]
    lengths = np.fromiter(map(len, texts), np.int64)
    sample = [text[:MOST_TEXT] for text in texts[:: max(1, len(texts) // _SAMPLED)]]
    bytes_per_letter = packed_size(sample) / max(1, sum(map(len, sample)))
    few, many = _FEWEST, MOST_TEXT
    while few < many:
        middle = (few + many + 1) // 2
        fits = np.minimum(lengths, middle).sum() * bytes_per_letter <= room
        few, many = (middle, many) if fits else (few, middle - 1)
    return few


def category(
    title: str, codes: NDArray[Any], names: Sequence[Any], *, source: str = "yours", explain: str = ""
) -> Column:
    """A category whose most frequent values come first; rare values beyond the limit count as missing.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.report.columns import category
    >>> column = category("colour", np.array([0, 1, 1, -1]), ["red", "blue"])
    >>> column.names, column.values
    (('blue', 'red'), array([ 1,  0,  0, -1]))
    """
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    order = np.argsort(-counts, kind="stable")[: min(MOST_CLASSES, int((counts > 0).sum()))]
    place = np.full(len(names) + 1, -1)
    place[order] = np.arange(len(order))
    return Column(title, "category", place[codes], tuple(str(names[i]) for i in order), source, explain)


def label_column(labels: Labels) -> Column:
    """The labels as a category."""
    return category("label", labels.codes, labels.classes, explain="The classes given with the graph.")


def columns_of_table(
    table: Any, ids: Any, names: Sequence[str] | None = None, where: str = "columns"
) -> list[Column]:
    """Columns of an Arrow table whose first column holds the ids, in the order of the nodes.

    Without names at most 12 columns are chosen: text, categories and dates before numbers. A table with more
    than 40 numeric columns counts as a feature matrix, and none of them is chosen. A warning names the
    columns that are left out.
    """
    keys = as_ids(table.column(0).combine_chunks(), where)
    check_unique(keys, where)
    keys, known = same_kind(whole_like(keys, ids), whole_like(ids, keys))
    places = positions(keys, known)
    if len(places) and (places < 0).all():
        raise InputError(
            f"{where}: none of its ids is a node of the embedding; name the id column with ",
            Parameter("id_column"),
        )
    unknown = [name for name in names or () if name not in table.column_names]
    if unknown:
        raise InputError(
            f"{where} has no column {unknown[0]!r}; its columns are {listed(table.column_names, 12)}"
        )
    wanted = names or [name for name in table.column_names[1:] if not name.startswith("Unnamed: ")]
    rows = _in_order_of(places, table.select(list(wanted)))
    columns = [column for name in wanted if (column := _column(name, rows[name]))]
    unusable = sorted(set(wanted) - {column.title for column in columns})
    if unusable:
        _warn(f"{where}: no values that a page can show in {listed(unusable, 5)}")
    if names:
        return columns
    numbers = [column for column in columns if column.kind == "number"]
    others = [column for column in columns if column.kind != "number"]
    chosen = (others + (numbers if len(numbers) <= _WIDE else []))[:MOST_COLUMNS]
    if len(chosen) < len(columns):
        _warn(f"{where}: the page shows {len(chosen)} of {len(columns)} columns; name columns to see others")
    return [column for column in columns if column in chosen]


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=3)


def read_columns(
    path: str | os.PathLike[str],
    ids: Any,
    names: Sequence[str] | None = None,
    *,
    id_column: str | int | None = None,
    options: TableOptions | None = None,
) -> list[Column]:
    """Columns of a file (.csv, .tsv, .parquet), joined to the nodes by id.

    Parameters
    ----------
    path : path
    ids : Arrow array
        The ids of the nodes, in their order.
    names : sequence of str, optional
        Which columns; by default up to 12, see :func:`columns_of_table`.
    id_column : str or int, optional
        The column of ids; by default the one that contains the ids of the nodes.
    options : TableOptions, optional

    Returns
    -------
    list of Column
    """
    with readable(path) as (paths, _):
        assert paths[0] is not None
        return _read_columns(paths[0], ids, names, id_column, options or TableOptions())


def _read_columns(
    path: str, ids: Any, names: Sequence[str] | None, id_column: str | int | None, options: TableOptions
) -> list[Column]:
    import pyarrow as pa

    table = Table(path, options)
    index = table.index
    listed_names = without_index(table.columns, index)
    key = choose_id(listed_names, table.column, ids, index=index, wanted=id_column, where=path)
    wanted = [str(pick(listed_names, name, "page", path)) for name in names or ()]
    others = wanted or [name for name in listed_names if name != key]
    if len(others) > _MOST_READ and not wanted:
        _warn(
            f"{path}: only the first {_MOST_READ} of {len(others)} columns are used; name others to see them"
        )
        others = others[:_MOST_READ]
    chosen = list(dict.fromkeys([key, *others]))
    held = [name for name in chosen if name in table.columns]
    batches = list(table.batches(held, ["VARCHAR"] * len(held), 1 << 16))
    read = pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in held})
    if key not in held:  # a range of numbers that pandas describes but does not store
        read = read.add_column(0, key, table.column(key))
    if table.text:
        read = pa.table({name: _typed(read[name]) if name != key else read[name] for name in chosen})
    return columns_of_table(read, ids, wanted or None, path)


def _typed(texts: Any) -> Any:
    """Text as numbers, dates or times, if every value can be read as one and is not a code such as 01067."""
    import pyarrow as pa

    if are_codes(value.strip() for value in texts.drop_null().to_pylist()):
        return texts
    for kind in (pa.int64(), pa.float64(), pa.date32(), pa.timestamp("s"), pa.timestamp("us")):
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    return texts


def _in_order_of(places: NDArray[np.int64], table: Any) -> Any:
    """Rows of a table by their places; nulls where a place is negative."""
    import pyarrow as pa

    return table.take(pa.array(places, mask=places < 0))


def _column(title: str, values: Any) -> Column | None:
    """A column by the type of its values; ``None`` for lists and other types, and without any values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.cast(kind.value_type), kind.value_type
    if values.null_count == len(values):
        return None
    if pa.types.is_boolean(kind):
        values, kind = pc.if_else(values, "yes", "no"), pa.string()
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        in_days = pa.types.is_date32(kind)
        ticks = values.cast(pa.int32() if in_days else pa.int64()).cast(pa.float64(), safe=False).to_numpy()
        seconds = ticks * 86400 if in_days else ticks / _PER_SECOND[getattr(kind, "unit", str(kind))]
        return Column(title, "date", seconds)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Column(title, "number", values.cast(pa.float64(), safe=False).to_numpy())
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    encoded = values.combine_chunks().dictionary_encode()
    codes = np.asarray(pc.fill_null(encoded.indices, -1)).astype(np.int64)
    distinct = len(encoded.dictionary)
    if distinct <= max(2, min(MOST_CLASSES, len(values) // 3)):
        return category(title, codes, encoded.dictionary.to_pylist())
    return Column(title, "text", values.to_pylist())
