"""MatrixMarket files, read within bounds: no declared size is trusted before the data are there."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.readers.size import check_entries
from nafs.readers.text import open_bytes

_LINE = 4096  # bytes of a line, at most
_COMMENTS = 1 << 20  # bytes of comments, at most
_CHUNK = 8 << 20  # bytes parsed at a time
_FIELDS = ("real", "integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
_MOST_DENSE = 1 << 31  # values of a dense matrix


def read_matrix_market(path: str, limit: int | None = None) -> Any:
    """The matrix in a .mtx file, compressed or not: a COO array, or an ndarray if it is stored densely."""
    with open_bytes(path) as stream:
        lines = _Lines(stream, path)
        words = lines.next().lower().split()
        if len(words) != 5 or words[0] != "%%matrixmarket" or words[1] != "matrix":
            raise InputError(f"{path}: line 1 is not the header of a MatrixMarket matrix")
        layout, field, symmetry = words[2:]
        if layout not in ("coordinate", "array") or field not in _FIELDS or symmetry not in _SYMMETRIES:
            raise InputError(
                f"{path}: matrices that are {layout} {field} {symmetry} are not read; use real numbers"
            )
        sizes = _sizes(lines, 3 if layout == "coordinate" else 2, path)
        if symmetry != "general" and sizes[0] != sizes[1]:
            raise InputError(f"{path}: a {symmetry} matrix is square; this claims {sizes[0]} x {sizes[1]}")
        check_entries(path, sizes[2] if layout == "coordinate" else sizes[0] * sizes[1] // 4, limit)
        if layout == "array":
            return _dense(lines, sizes[0], sizes[1], symmetry, path)
        return _sparse(lines, sizes, field, symmetry, path)


def check_plausible(nodes: int, entries: int, where: str) -> None:
    """Refuse a matrix whose size is out of all proportion to its number of values.

    Examples
    --------
    >>> from nafs.readers.matrix_market import check_plausible
    >>> check_plausible(2_000_000_000, 1, "m.mtx")
    Traceback (most recent call last):
    nafs._support.errors.InputError: m.mtx: it claims 2,000,000,000 rows or columns for 1 stored values; ...
    """
    if nodes > 1_000_000 and nodes > 100 * (entries + 1):
        raise InputError(
            f"{where}: it claims {nodes:,} rows or columns for {entries:,} stored values; that is not "
            "plausible. Give the edges as a table"
        )


class _Lines:
    """Lines of a stream; raises if a line is too long or holds zero bytes."""

    def __init__(self, stream: Any, where: str) -> None:
        self.stream, self.where, self.number = stream, where, 0
        self.held, self.at = b"", 0  # bytes read, and how many of them were returned

    def next(self) -> str:
        """The next line; empty at the end."""
        while (end := self.held.find(b"\n", self.at)) < 0 and len(self.held) - self.at <= _LINE:
            more = self._read()
            if not more:
                break
            self.held, self.at = self.held[self.at :] + more, 0
        end = len(self.held) if end < 0 else end
        line, self.at = self.held[self.at : end], end + 1
        self.number += 1
        if len(line) > _LINE:
            raise InputError(f"{self.where}, line {self.number}: the line is too long for a matrix")
        return line.decode("latin-1")

    def ended(self) -> bool:
        """Whether the end is reached."""
        if self.at >= len(self.held):
            self.held, self.at = self._read(), 0
        return not self.held

    def chunk(self) -> bytes:
        """Many whole lines; empty at the end."""
        parts = [self.held[self.at :]]
        size = len(parts[0])
        while size < _CHUNK and (more := self._read()):
            parts.append(more)
            size += len(more)
        held = b"".join(parts)
        if len(held) < _CHUNK:
            self.held, self.at = b"", 0
            return held
        whole, _, self.held = held.rpartition(b"\n")
        self.at = 0
        if len(self.held) > _LINE:
            raise InputError(f"{self.where}: a line is too long for a matrix")
        return whole + b"\n"

    def _read(self) -> bytes:
        import pyarrow as pa

        try:
            more = bytes(self.stream.read(1 << 20))
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{self.where}: cannot be unpacked ({error}); is the file complete?") from None
        if b"\0" in more:
            raise InputError(f"{self.where}: this is not a MatrixMarket file: it contains NUL bytes")
        return more


def _sizes(lines: _Lines, count: int, path: str) -> list[int]:
    line, skipped = "", 0
    while not line or line.startswith("%"):
        if lines.ended():
            raise InputError(f"{path}: the file ends before the size of the matrix")
        skipped += len(line) + 1
        if skipped > _COMMENTS:
            raise InputError(f"{path}: its comments do not end; the size of the matrix should follow them")
        line = lines.next().strip()
    words = line.split()
    if len(words) != count or not all(word.isdigit() and len(word) < 19 for word in words):
        raise InputError(
            f"{path}, line {lines.number}: expected {count} whole numbers, the size; found {line[:60]!r}"
        )
    sizes = [int(word) for word in words]
    if max(sizes[:2]) > 2**31 - 1:
        raise InputError(
            f"{path}: at most {2**31 - 1} rows and columns are supported; it claims {max(sizes[:2])}"
        )
    return sizes


def _table(lines: _Lines, kind: Any, most: int, path: str) -> NDArray[Any]:
    """The rows that follow, at most a few more than ``most``."""
    parts, count = [], 0
    while count <= most and (chunk := lines.chunk()):
        if not chunk.strip():
            continue
        try:
            text = io.StringIO(chunk.decode("ascii"))
            part = np.loadtxt(text, dtype=kind, comments=None, ndmin=1)
        except (ValueError, UnicodeDecodeError, OverflowError) as error:
            raise InputError(f"{path}: an entry cannot be read ({str(error)[:200]})") from None
        parts.append(part)
        count += len(part)
    rows = np.concatenate(parts) if parts else np.empty(0, kind)
    if len(rows) != most:
        count_text = f"more than {most:,}" if len(rows) > most else f"{len(rows):,}"
        raise InputError(f"{path}: it claims {most:,} entries and holds {count_text}")
    return rows


def _sparse(lines: _Lines, sizes: list[int], field: str, symmetry: str, path: str) -> Any:
    rows, columns, entries = sizes
    check_plausible(max(rows, columns), entries, path)
    kind: list[tuple[str, Any]] = [("row", np.int64), ("column", np.int64)]
    kind += [] if field == "pattern" else [("value", np.float64)]
    table = _table(lines, np.dtype(kind), entries, path)
    i, j = table["row"] - 1, table["column"] - 1
    outside = (i < 0) | (i >= rows) | (j < 0) | (j >= columns)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        raise InputError(
            f"{path}: entry {at + 1} is at ({i[at] + 1}, {j[at] + 1}), outside {rows} x {columns}"
        )
    i, j = i.astype(np.int32), j.astype(np.int32)
    values = np.ones(entries, bool) if field == "pattern" else table["value"]
    if symmetry != "general":
        off = i != j
        mirrored = values[off] if symmetry == "symmetric" else -values[off]
        i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
        values = np.concatenate([values, mirrored])
    return sp.coo_array((values, (i, j)), shape=(rows, columns))


def _dense(lines: _Lines, rows: int, columns: int, symmetry: str, path: str) -> NDArray[np.float64]:
    if rows * columns > _MOST_DENSE:
        raise InputError(
            f"{path}: it claims {rows:,} x {columns:,} values written densely; that is not plausible"
        )
    if symmetry == "general":
        values = _table(lines, np.float64, rows * columns, path)
        return values.reshape(rows, columns, order="F")
    skew = symmetry != "symmetric"
    values = _table(lines, np.float64, rows * (rows - 1) // 2 if skew else rows * (rows + 1) // 2, path)
    matrix = np.zeros((rows, rows))
    upper = np.triu_indices(rows, 1 if skew else 0)  # column by column of the lower half
    matrix[upper[1], upper[0]] = values
    matrix[upper] = -values if skew else values
    return matrix
