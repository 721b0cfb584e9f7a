"""Text tables line by line, compressed or not: the first lines, and the line that a row is on."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from nafs._support.errors import InputError
from nafs.readers.dialect import Dialect

_LINES = 200  # looked at to judge a table
_LONGEST = 64 << 20  # bytes of them
_LONGEST_LINE = 16 << 20  # bytes; DuckDB drops a last line that is longer than its buffer of 32 MB


def open_bytes(path: str) -> Any:
    """A binary file, decompressed if its extension says so."""
    import pyarrow as pa

    Path(path).open("rb").close()  # a clear PermissionError or IsADirectoryError
    lower = path.lower()
    packing = "gzip" if lower.endswith(".gz") else "zstd" if lower.endswith((".zst", ".zstd")) else None
    return pa.input_stream(os.path.abspath(path), compression=packing)  # or ~ would mean the home folder


def _check_last_line(path: str) -> None:
    """Raise if the end of a file is one line that is too long; packed files are not looked into."""
    with Path(path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size > _LONGEST_LINE:
            file.seek(size - _LONGEST_LINE)
            if b"\n" not in file.read():
                raise InputError(f"{path}: the last line is too long for a table")


def first_lines(path: str) -> list[str]:
    """The first lines of a file, without line ends."""
    import pyarrow as pa

    try:
        with open_bytes(path) as stream:
            head = bytearray()
            while len(head) < _LONGEST and head.count(b"\n") < _LINES:
                more = stream.read(1 << 20)
                if not more:
                    break
                head += more
            ended = len(head) < _LONGEST and head.count(b"\n") < _LINES
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, (PermissionError, IsADirectoryError, FileNotFoundError)):
            raise
        raise InputError(f"{path}: cannot be unpacked ({error}); is the file complete?") from None
    if b"\0" in head:
        raise InputError(f"{path}: this is not a text table in UTF-8: it contains NUL bytes (UTF-16?)")
    lines = bytes(head).split(b"\n")[: _LINES if not ended else None]
    if long := [i + 1 for i, line in enumerate(lines) if len(line) > _LONGEST_LINE]:
        raise InputError(f"{path}, line {long[0]}: the line is too long for a table")
    _check_last_line(path)
    try:
        return [line.decode("utf-8") for line in lines]
    except UnicodeDecodeError as error:
        line = next(i for i, content in enumerate(lines) if not _is_utf8(content))
        raise InputError(
            f"{path}, line {line + 1}: this is not UTF-8 text ({error.reason}); convert it, or check that it "
            "is a text table"
        ) from None


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def without_comments(path: str, sign: str, target: IO[bytes]) -> int:
    """Copy a text table with lines that start with a sign blanked out; returns how many there were."""
    start, count, quoted = sign.encode(), 0, False
    with open_bytes(path) as stream:
        for line in io.BufferedReader(stream):
            if not quoted and line.startswith(start):
                count += 1
                target.write(b"\n")
                continue
            quoted ^= line.count(b'"') % 2 == 1
            target.write(line)
    return count


def line_of_row(path: str, dialect: Dialect, row: int) -> tuple[int | None, int]:
    """The line (from 1) on which a data row (from 0) starts, or ``None``, and the number of rows before."""
    at = -1 if dialect.header else 0
    for line in _starts(path, dialect):
        if at == row:
            return line, at
        at += 1
    return None, max(0, at)


def _starts(path: str, dialect: Dialect) -> Iterator[int]:
    """The lines on which rows start."""
    with open_bytes(path) as stream:
        lines = io.TextIOWrapper(io.BufferedReader(stream), "utf-8", errors="replace", newline="")
        for _ in range(dialect.skip):
            next(lines, None)
        reader = csv.reader(lines, delimiter=dialect.delimiter)
        before = 0
        for fields in reader:
            if fields:
                yield dialect.skip + before + 1
            before = reader.line_num
