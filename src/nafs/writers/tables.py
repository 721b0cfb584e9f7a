"""Write Arrow tables as CSV, Parquet, Arrow or JSON lines, a block of rows at a time."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")
ARROW = (".feather", ".arrow")
JSON_LINES = (".jsonl", ".ndjson")
RESULTS = (
    *TEXT,
    *PARQUET,
    *ARROW,
    *JSON_LINES,
)  # formats of results; graphs are read from the first two only
_VALUES = 1 << 22  # per block

Blocks = Callable[[int, int], Any]
RowsWritten = Callable[[int], None]


def is_table(path: str) -> bool:
    """Whether a file name has an extension of CSV, TSV or Parquet."""
    return path.lower().endswith(TEXT + PARQUET)


def holds_lists(path: str) -> bool:
    """Whether a format has columns of lists."""
    return path.lower().endswith(PARQUET + ARROW + JSON_LINES)


def write_table(
    target: Any,
    name: str,
    n_rows: int,
    n_columns: int,
    blocks: Blocks,
    progress: RowsWritten | None = None,
) -> None:
    """Write the rows that ``blocks(begin, end)`` returns as Arrow tables.

    Parameters
    ----------
    target : path or binary file
    name : str
        Its extension selects the format: .csv, .tsv (both also .gz), .parquet, .feather, .arrow or .jsonl.
    n_rows, n_columns : int
    blocks : callable
    progress : callable, optional
        Called with the number of rows written since the last call.
    """
    step = max(1, _VALUES // max(1, n_columns))
    with _writer(target, name.lower(), blocks(0, 0).schema) as writer:
        for begin in range(0, n_rows, step):
            end = min(n_rows, begin + step)
            writer.write_table(blocks(begin, end))
            if progress is not None:
                progress(end - begin)


@contextmanager
def _writer(target: Any, name: str, schema: Any) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    place = str(target) if isinstance(target, Path) else target
    if name.endswith(PARQUET):
        with pyarrow.parquet.ParquetWriter(place, schema) as writer:
            yield writer
        return
    if name.endswith(ARROW):
        with pa.ipc.new_file(place, schema) as writer:
            yield writer
        return
    if name.endswith(JSON_LINES):
        with nullcontext(target) if hasattr(target, "write") else Path(target).open("wb") as file:
            yield _JsonLines(file)
        return
    options = pyarrow.csv.WriteOptions(delimiter="\t" if ".tsv" in name[-7:] else ",")
    if name.endswith(".gz"):
        with (
            pa.CompressedOutputStream(place, "gzip") as stream,
            pyarrow.csv.CSVWriter(stream, schema, write_options=options) as writer,
        ):
            yield writer
    else:
        with pyarrow.csv.CSVWriter(place, schema, write_options=options) as writer:
            yield writer


class _JsonLines:
    """One JSON object per row; NaN, which JSON does not know, becomes null."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write_table(self, table: Any) -> None:
        """Append rows."""
        for row in table.to_pylist():
            line = json.dumps({name: _plain(value) for name, value in row.items()}, ensure_ascii=False)
            self._file.write(line.encode() + b"\n")


def _plain(value: Any) -> Any:
    """A value for JSON; floats as the shortest decimals that give the same float32 back."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
