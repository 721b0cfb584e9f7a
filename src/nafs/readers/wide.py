"""Text tables of thousands of columns, read by Arrow: DuckDB needs memory for every column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from nafs._support.errors import InputError, Parameter
from nafs.readers.dialect import Dialect
from nafs.readers.explain import shortened
from nafs.readers.text import open_bytes

WIDE = 2000  # columns
_BLOCK = 8 << 20  # bytes parsed at a time
_ROW = r"(?:Row #(?P<row>\d+): )?"
_PARSE = re.compile(rf"CSV parse error: {_ROW}Expected (?P<wanted>\d+) columns, got (?P<count>\d+)")
_CONVERT = re.compile(
    rf"In CSV column #(?P<column>\d+): {_ROW}CSV conversion error to \w+: invalid value '(?P<value>.*)'"
)


class WideTextError(Exception):
    """A row that cannot be read: its number from 0, if known, and what is wrong with it."""

    def __init__(self, row: int | None, *reason: str | Parameter) -> None:
        super().__init__(*reason)
        self.row, self.reason = row, reason


def wide_batches(
    path: str, dialect: Dialect, columns: Sequence[str], kinds: Sequence[str], longest: int
) -> Iterator[Any]:
    """Record batches of some columns of a text table.

    Parameters
    ----------
    path : str
    dialect : Dialect
    columns : sequence of str
    kinds : sequence of str
        "DOUBLE", or "VARCHAR" for text.
    longest : int
        Bytes of the longest line seen so far.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    types = {
        name: pa.float64() if kind == "DOUBLE" else pa.large_string()
        for name, kind in zip(columns, kinds, strict=True)
    }
    skip = dialect.skip + int(dialect.header)
    with open_bytes(path) as stream:
        try:
            reader = pyarrow.csv.open_csv(
                stream,
                read_options=pyarrow.csv.ReadOptions(
                    column_names=list(dialect.names),
                    skip_rows=skip,
                    block_size=max(_BLOCK, 4 * longest),
                    use_threads=False,
                ),
                parse_options=pyarrow.csv.ParseOptions(delimiter=dialect.delimiter),
                convert_options=pyarrow.csv.ConvertOptions(
                    include_columns=list(columns),
                    column_types=types,
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )
            texts = [name for name in columns if dialect.trim and types[name] != pa.float64()]
            for block in reader:
                batch = block
                for name in texts:
                    at = batch.schema.get_field_index(name)
                    batch = batch.set_column(at, name, pc.utf8_trim_whitespace(batch.column(at)))
                yield batch
        except pa.ArrowInvalid as error:
            raise _reason(str(error), dialect, skip) from None


def _reason(message: str, dialect: Dialect, skip: int) -> WideTextError | InputError:
    if match := _PARSE.match(message):
        text = f"{match['count']} columns where {match['wanted']} are expected; correct the row, or set "
        return WideTextError(_row(match["row"], skip), text, Parameter("delimiter"))
    if match := _CONVERT.match(message):
        column = dialect.names[int(match["column"])]
        comma = re.fullmatch(r"-?\d+,\d+", match["value"])
        why = "has a decimal comma; write it with a point, as 0.5" if comma else "is not a number; correct it"
        value = shortened(match["value"])
        return WideTextError(_row(match["row"], skip), f"{value!r} in column {column!r} {why}")
    if "Empty CSV" in message:
        return WideTextError(None, "there are no edges or nodes in it")
    return WideTextError(None, f"cannot be read ({message.splitlines()[0][:200]})")


def _row(number: str | None, skip: int) -> int | None:
    return None if number is None else int(number) - skip - 1
