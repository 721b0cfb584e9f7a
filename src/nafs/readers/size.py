"""Memory that files take which cannot be read in parts, checked before they are read."""

from __future__ import annotations

from pathlib import Path

from nafs._support.budget import check_limit, left_now
from nafs.readers.text import open_bytes

IN_GRAPHML = 35  # bytes of memory per byte of a GraphML file
IN_VECTOR_TABLES = 8  # per byte of an Arrow file or of JSON lines
IN_TABLES = 32  # per byte of a table, its compression included
PER_ROW = 64  # per row of a Parquet table
PER_ENTRY = 50  # bytes of memory per stored entry of a matrix, until its edges are merged


def check_size(path: str, per_byte: int, limit: int | None, hint: str) -> None:
    """Raise if a file takes more memory than a limit allows, judged by its unpacked size."""
    if limit is None or not Path(path).exists():
        return
    size = Path(path).stat().st_size
    if path.lower().endswith(".gz"):
        size = _unpacked(path, most=limit // per_byte + 1)
    _check(path, per_byte * size, limit, hint)


def check_entries(path: str, entries: int, limit: int | None, nbytes: int = 0) -> None:
    """Raise if a matrix of so many entries or bytes takes more memory than a limit allows."""
    needed = max(nbytes, PER_ENTRY * entries)
    _check(path, needed, limit, "raise it, or give a table or a saved graph")


def table_bytes(path: str, most: int) -> int:
    """An upper bound of the memory that a table takes; not exact if it is more than ``most``."""
    size = Path(path).stat().st_size
    if path.lower().endswith((".parquet", ".pq")):
        return max(IN_TABLES * size, PER_ROW * _parquet_rows(path))
    if path.lower().endswith((".gz", ".zst", ".zstd")):
        size = _unpacked(path, most=most // IN_TABLES)
    return IN_TABLES * size


def _parquet_rows(path: str) -> int:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        return int(pyarrow.parquet.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):  # explained when the table is read
        return 0


def _check(path: str, needed: int, limit: int | None, hint: str) -> None:
    room = left_now(limit)
    if limit is not None and room is not None:
        check_limit(limit - room + needed, limit, f"{path}: reading it takes about", hint)


def _unpacked(path: str, most: int) -> int:
    """Number of bytes in a compressed file; counting stops when there are more than ``most``."""
    import pyarrow as pa

    size = 0
    try:
        with open_bytes(path) as stream:
            while size <= most and (block := stream.read(1 << 20)):
                size += len(block)
    except (pa.ArrowException, OSError):  # explained when the file is read
        return size
    return size
