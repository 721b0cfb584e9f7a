"""Node tables with words, categories, dates or gaps: encoded as features, and balanced by the edges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs._support.printable import printable
from nafs.graph import Features, Graph
from nafs.graph.node_columns import listed
from nafs.readers.dialect import is_number
from nafs.tables import Balance, TableEncoder, balance
from nafs.tables.kinds import MISSING_MARKS, ZERO_PADDED, are_codes, looks_like_dates, read_values
from nafs.tables.new_values import refuse_unreadable

MOST_LINES = 12  # columns that a note describes
_MOST_NAMED = 40  # ignored columns that a note names besides
_COMMAS = re.compile(r"[+-]?\d[\d.']*(,\d+)?")
_SIGN = "([€$£¥]|EUR|USD|GBP|CHF)?"
_THOUSANDS = r"(\.\d{3})+(,\d+)?|(,\d{3})+(\.\d+)?|('\d{3})+([.,]\d+)?"
_DECORATED = re.compile(  # a number with a currency, a percent sign or separators between thousands
    rf"{_SIGN}\s?[+-]?(\d{{1,3}}({_THOUSANDS})|\d+([.,]\d+)?)\s?(%|{_SIGN})", re.IGNORECASE
)
_MANY = 40  # different decorated numbers; fewer are a category
_HARDLY = 0.005  # a weight that is shown as 0.00
_NEARLY_ALL = 0.9  # from this share of numbers with commas on, a column is refused
_MOSTLY = 0.5  # from this share of numbers on, a word in a column counts as a mistake


@dataclass(frozen=True, eq=False)
class Encoding:
    """How features were encoded from a table, so that new rows can be encoded in the same way."""

    encoder: TableEncoder
    balance: Balance

    def encode(self, table: Any) -> Any:
        """Features of new rows of an Arrow table, as a sparse matrix."""
        refuse_unreadable(self.encoder, table)
        return self.balance.apply(self.encoder.blocks(table))


def needs_encoding(rows: Any) -> bool:
    """Whether rows of an Arrow table hold other values than numbers."""
    import pyarrow as pa

    for column in rows.columns:
        kind = column.type
        if pa.types.is_nested(kind):
            continue
        if column.null_count:
            return True
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            continue
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return True
        values = column.to_pylist()
        if not all(is_number(value) for value in values) or are_codes(map(str.strip, values)):
            return True
    return False


def encode(
    table: Any, where: str, *, text: Sequence[str] = (), category: Sequence[str] = ()
) -> tuple[TableEncoder, Any]:
    """The encoder of a table without ids and labels, and its features before they are balanced."""
    forced = {*text, *category}
    errors = _Errors()
    for place, name in enumerate(table.column_names):
        with errors.of(name):
            _refuse_nested(table[name], name, where)
            if name not in forced:
                table = table.set_column(place, name, _without_markers(table[name]))
                _refuse_commas(table[name], name, where)
                _refuse_decorated(table[name], name, where)
                _refuse_typing_errors(table[name], name, where)
    errors.raise_first()
    encoder = TableEncoder.fit(table, text=text, category=category)
    for encoding in encoder.encodings:
        if encoding.column not in forced and encoding.kind in ("category", "text", "ignored"):
            with errors.of(encoding.column):
                _refuse_mixed_dates(table[encoding.column], encoding.column, where)
    errors.raise_first()
    matrix = sp.csr_array(sp.hstack(encoder.blocks(table), format="csr"), dtype=np.float32)
    if not matrix.count_nonzero():
        done = "; ".join(
            f"{record['column']}: {record['kind']}, {record['done']}" for record in encoder.records()
        )
        raise InputError(
            f"{where}: its columns give no features ({done[:300]}); leave them out with ",
            Parameter("ignore"),
            ", or do without the table",
        )
    return encoder, matrix


def balanced(graph: Graph, encoder: TableEncoder | None, where: str) -> Graph:
    """The graph with its encoded features balanced, so that no column drowns the others."""
    if encoder is None or graph.features is None:
        return graph
    matrix = sp.csc_array(graph.features.matrix)
    widths = [len(encoding.names()) for encoding in encoder.used]
    blocks = [sp.csr_array(matrix[:, left:right]) for left, right in pairwise([0, *accumulate(widths)])]
    weights = balance(blocks, graph.adjacency)
    features = Features(None, weights.apply(blocks), Encoding(encoder, weights))
    notes = [_columns_note(encoder, weights.factors / (weights.factors.max() or 1.0), where)]
    if not weights.informative:
        notes.append(
            f"{where}: no column fits the edges better than chance, so the features say little about this "
            "graph; compare with a run without them"
        )
    return graph.with_features(features, feature_names=graph.feature_names, notes=notes)


def _columns_note(encoder: TableEncoder, weights: NDArray[np.float64], where: str) -> str:
    """How each column was used, one line each; of many columns, only those with the largest weights."""
    remaining = iter(weights.tolist())
    columns = [
        (next(remaining) if record["features"] else -1.0, number, record)
        for number, record in enumerate(encoder.records())
    ]
    shown = sorted(
        sorted(columns, key=lambda column: (-column[0], column[1]))[:MOST_LINES], key=lambda c: c[1]
    )
    lines = [
        printable(
            f"  {record['column']}: {record['kind']}, {record['done']} (weight {weight:.2f})"
            if record["features"]
            else f"  {record['column']}: {record['kind']} ({record['why']})"
        )
        for weight, _, record in shown
    ]
    if len(columns) > len(shown):
        rest = [column[2] for column in columns if column not in shown]
        kinds = Counter(record["kind"] for record in rest)
        lines.append(
            f"  and {len(rest)} more: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        )
        ignored = [record["column"] for record in rest if record["kind"] == "ignored"]
        lines += [printable(f"  ignored among them: {listed(ignored, _MOST_NAMED)}")] if ignored else []
    title = f"{where}: its columns as features, weighted by how well they fit the edges"
    if any(0 <= weight < _HARDLY for weight, *_ in columns):
        title += "; a column of weight 0.00 has no effect"
    return "\n".join([title, *lines])


class _Errors:
    """Errors of several columns, so that all of them can be corrected at once."""

    def __init__(self) -> None:
        self.columns: dict[str, InputError] = {}

    @contextmanager
    def of(self, column: str) -> Iterator[None]:
        """Keep the error of a column."""
        try:
            yield
        except InputError as error:
            self.columns[column] = error

    def raise_first(self) -> None:
        """Raise the first error, if any, with the names of the other columns."""
        if not self.columns:
            return
        first, *others = self.columns
        error = self.columns[first]
        if others:
            noun = "column has an error" if len(others) == 1 else "columns have errors"
            error = type(error)(*error.parts, f"; {len(others)} more {noun}: {listed(others)}")
        raise error


def _refuse_nested(column: Any, name: str, where: str) -> None:
    """Refuse lists and records beside columns of words, dates or missing values."""
    import pyarrow as pa

    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        raise InputError(
            f"{where}: column {name!r} holds {column.type}, which cannot be encoded beside words, dates or "
            "missing values; leave it out with ",
            Parameter("ignore"),
        )


def _refuse_mixed_dates(column: Any, name: str, where: str) -> None:
    """Raise where a column holds dates that no single format reads: as words they would mean nothing."""
    values = read_values(column, "text")
    if not looks_like_dates(values):
        return
    present = [str(value) for value in values if value is not None]
    shape = {re.sub(r"[a-z]+", "a", re.sub(r"\d+", "9", value.lower())): value for value in reversed(present)}
    examples = ", ".join(repr(value[:40]) for value in list(reversed(shape.values()))[:3])
    problem = "in a format that is not known" if len(shape) == 1 else "that do not share one format"
    raise InputError(
        f"{where}: column {name!r} holds dates {problem} ({examples}); write all of them such as 2024-12-31, "
        "leave the column out with ",
        Parameter("ignore"),
        ", or say that it holds words with ",
        Parameter("category"),
    )


def _without_markers(column: Any) -> Any:
    """A column of numbers, with common marks such as N/A as missing; all other values must be numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    marked = pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(column)), pa.array(MISSING_MARKS, column.type))
    others = column.filter(pc.invert(marked)).drop_null().to_pylist()
    if not others or not all(is_number(value) for value in others):
        return column
    return pc.if_else(marked, pa.scalar(None, column.type), column)


def _refuse_commas(column: Any, name: str, where: str) -> None:
    """Raise where nearly all values are numbers with commas: as words they would mean nothing."""
    import pyarrow as pa

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return
    values = _present(column)
    commas = [value for value in values if "," in value and _COMMAS.fullmatch(value)]
    if len(commas) < _MOSTLY * len(values) or not commas:
        return
    if sum(bool(_COMMAS.fullmatch(value)) for value in values) >= _NEARLY_ALL * len(values):
        raise InputError(
            f"{where}: column {name!r} holds numbers with commas, such as {commas[0][:40]!r}; write "
            "them with a decimal point, such as 1234.5 (pandas.read_csv has decimal=','; read ids as "
            "text, with dtype, or they lose leading zeros), leave the column out with ",
            Parameter("ignore"),
            ", or say that it holds words with ",
            Parameter("category"),
        )


def _refuse_decorated(column: Any, name: str, where: str) -> None:
    """Raise where nearly all values are numbers with signs or separators; words would mean nothing."""
    import pyarrow as pa

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return
    values = _present(column)
    decorated = [value for value in values if _DECORATED.fullmatch(value) and not is_number(value)]
    if len(set(decorated)) < _MANY or len(decorated) < _NEARLY_ALL * len(values):
        return
    raise InputError(
        f"{where}: column {name!r} holds numbers written such as {decorated[0][:40]!r}; write them as plain "
        "numbers, such as 1234.5, leave the column out with ",
        Parameter("ignore"),
        ", or say that it holds words with ",
        Parameter("category"),
    )


def _present(column: Any) -> list[str]:
    """Values of a column of text, without those that are missing or marked as such."""
    values = (value.strip() for value in column.to_pylist() if value is not None)
    return [value for value in values if value.lower() not in MISSING_MARKS]


def _refuse_typing_errors(column: Any, name: str, where: str) -> None:
    """Raise where a column holds mostly numbers and a few words: more likely a mistake than a category."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type) and pc.any(pc.is_inf(column)).as_py():
        raise InputError(f"{where}: column {name!r} holds an infinite value; correct it or leave it empty")
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return
    values = [value for value in column.to_pylist() if value not in (None, "")]
    if any(re.fullmatch(ZERO_PADDED, value) for value in values):
        return  # codes, some with letters
    words = [value for value in values if not is_number(value)]
    if len(words) < (1 - _MOSTLY) * len(values):
        endless = [value for value in values if value not in words and abs(float(value)) == float("inf")]
        if endless:
            raise InputError(f"{where}: {endless[0][:40]!r} in column {name!r} is infinite; correct it")
    if values and 0 < len(words) < (1 - _MOSTLY) * len(values):
        raise InputError(
            f"{where}: {words[0][:80]!r} in column {name!r} is not a number, but most values are; "
            "correct it, leave the column out with ",
            Parameter("ignore"),
            ", or say that it holds words with ",
            Parameter("category"),
        )
