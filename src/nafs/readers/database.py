"""DuckDB, shut off from the network and from its extensions, and bounded in memory."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nafs._support.budget import parse_memory, program_bytes, show_bytes
from nafs._support.errors import MemoryLimitError, Parameter
from nafs._support.extras import require
from nafs._support.scratch import Allocate, scratch_in
from nafs.readers.matrices import is_matrix
from nafs.readers.size import IN_TABLES, table_bytes

DUCKDB_MEMORY = 10**9
_SMALL = 4 << 20  # bytes of tables that are always read in memory, whatever the limit
_LEAST = 128 << 20  # bytes that DuckDB and Python need even for a tiny table
_SPACE = 50 * 10**6  # bytes that DuckDB needs to read a small table
_MORE_SPACE = 140 * 10**6  # and a large one, with blocks of rows on their way
_LIBRARIES = 100 * 10**6  # bytes of Python, DuckDB and Arrow in a command, besides what DuckDB counts itself
# Nothing is fetched, installed or loaded automatically.
_ALONE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
}


@dataclass(frozen=True)
class Bounds:
    """What reading may use: bytes of memory for DuckDB or for sorting, and files for arrays."""

    allocate: Allocate = np.empty
    memory: int = DUCKDB_MEMORY
    folder: Path | None = None  # where DuckDB spills
    threads: int | None = None


def bounds_of(memory_limit: Any, scratch_dir: Any, paths: list[Any]) -> Bounds | None:
    """Bounds for tables that would not fit into memory without them; ``None`` if none are needed.

    In a command, whose limit covers the whole program, DuckDB is bounded for small tables too.
    """
    limit = parse_memory(memory_limit)
    names = [name for path in paths if path is not None for name in _files(path)]
    most = max(limit or 0, IN_TABLES * _SMALL)
    small = limit is None or sum(table_bytes(name, most) for name in names) <= most
    is_command = program_bytes(limit) > 0 and any(not is_matrix(name) for name in names)
    if limit is None or (small and not is_command):
        return None
    least = _LIBRARIES + (_SPACE if small else _MORE_SPACE) if is_command else _LEAST
    if limit < least:
        raise MemoryLimitError(
            f"reading tables takes {show_bytes(least)}, more than the {show_bytes(limit)} of ",
            Parameter("memory_limit"),
            "; raise it, or give a saved graph",
        )
    threads = max(1, min(os.cpu_count() or 1, limit // _LEAST // 2))  # each thread has its own buffers
    if small:
        return Bounds(memory=limit - _LIBRARIES, threads=threads)
    folder = Path(tempfile.gettempdir() if scratch_dir is None else scratch_dir)
    return Bounds(scratch_in(folder), (limit - _LEAST // 2) // 2, folder, threads)


def _files(path: Any) -> list[str]:
    """Files that a path or pattern names; missing files are reported when they are read."""
    name = os.fspath(path)
    return [name] if Path(name).is_file() else [file for file in glob.glob(name) if Path(file).is_file()]


def duckdb_package() -> Any:
    """DuckDB, imported on first use."""
    return require("duckdb", "reading edge lists and tables", "files")


@contextmanager
def one_database() -> Iterator[None]:
    """Share one database inside the block: opening one takes longer than reading a small table.

    Only reading without bounds is shared; its tables are temporary, so that readings do not collide.
    """
    if _shared.get() is not None:
        yield
        return
    shared = _Shared()
    token = _shared.set(shared)
    try:
        yield
    finally:
        _shared.reset(token)
        shared.close()


@contextmanager
def duckdb_connection(bounds: Bounds | None = None) -> Iterator[Any]:
    """A connection to a private database that spills into a temporary folder."""
    shared = _shared.get()
    if bounds is None and shared is not None:
        with shared.connection() as connection:
            yield connection
        return
    with _database(bounds or Bounds()) as connection:
        yield connection


@contextmanager
def _database(bounds: Bounds) -> Iterator[Any]:
    duckdb = duckdb_package()
    with tempfile.TemporaryDirectory(prefix="nafs-duckdb-", dir=bounds.folder) as spill:
        config: dict[str, Any] = _ALONE | {"memory_limit": f"{bounds.memory}B", "temp_directory": spill}
        if bounds.threads is not None:
            config["threads"] = bounds.threads
        # Pages of a database in a file can be evicted from memory without being written elsewhere first.
        where = ":memory:" if bounds.folder is None else f"{spill}/edges.duckdb"
        connection = duckdb.connect(where, config=config)
        try:
            yield connection
        finally:
            connection.close()


class _Shared:
    """A database that is opened when it is first needed, and again after an error that ended it."""

    def __init__(self) -> None:
        self._open: Any = None  # the context of the database
        self._database: Any = None

    @contextmanager
    def connection(self) -> Iterator[Any]:
        duckdb = duckdb_package()
        if self._database is None:
            self._open = _database(Bounds())
            self._database = self._open.__enter__()
        cursor = self._database.cursor()
        try:
            yield cursor
        except (duckdb.FatalException, duckdb.InternalException):
            self.close()
            raise
        finally:
            cursor.close()

    def close(self) -> None:
        if self._database is not None:
            self._open.__exit__(None, None, None)
            self._open = self._database = None


_shared: ContextVar[_Shared | None] = ContextVar("the database of the graph that is being read", default=None)
