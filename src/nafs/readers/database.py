"""DuckDB, shut off from the network and from its extensions, and bounded in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nafs._support.extras import require
from nafs._support.scratch import Allocate

DUCKDB_MEMORY = "1GB"
# Nothing is fetched, installed or loaded by itself.
_ALONE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
}


@dataclass(frozen=True)
class Bounds:
    """What reading may take: memory for DuckDB, and files for arrays."""

    allocate: Allocate = np.empty
    duckdb_memory: str = DUCKDB_MEMORY
    folder: Path | None = None  # for what DuckDB spills
    threads: int | None = None


def duckdb_package() -> Any:
    """DuckDB, which is imported where it is first needed."""
    return require("duckdb", "reading edge lists and tables", "files")


@contextmanager
def one_database() -> Iterator[None]:
    """Let all reading inside the block use one database: opening one takes longer than a small table.

    Only reading without bounds is shared; its tables are temporary, so that readings do not meet.
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
    """A connection to a database of our own that spills into a temporary folder."""
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
        config: dict[str, Any] = _ALONE | {"memory_limit": bounds.duckdb_memory, "temp_directory": spill}
        if bounds.threads is not None:
            config["threads"] = bounds.threads
        # A database in a file can leave memory without being written elsewhere first.
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
