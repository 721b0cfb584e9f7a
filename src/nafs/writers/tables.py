"""Write Arrow tables as CSV or Parquet, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")
_VALUES = 1 << 22  # per block

Blocks = Callable[[int, int], Any]
RowsWritten = Callable[[int], None]


def is_table(path: str) -> bool:
    """Whether a file name has an extension of CSV, TSV or Parquet."""
    return path.lower().endswith(TEXT + PARQUET)


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
        Its extension selects the format: .csv, .tsv (both also .gz) or .parquet.
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
