"""CSV, TSV and Parquet files through DuckDB: compressed or not, one or many, row order kept."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import weakref
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from nafs._support.counted import counted
from nafs._support.errors import InputError
from nafs.graph.node_columns import Index, listed, split_index, written_index
from nafs.readers.database import Bounds, duckdb_connection, duckdb_package
from nafs.readers.dialect import Dialect, judge
from nafs.readers.evidence import Evidence
from nafs.readers.explain import explain
from nafs.readers.spool import is_pipe
from nafs.readers.text import first_lines, line_of_row, without_comments
from nafs.readers.wide import WIDE, WideTextError, wide_batches
from nafs.tables.kinds import ZERO_PADDED

LOOKED_AT = 1000  # rows that are read to see the kind of each column


@dataclass(frozen=True)
class TableOptions:
    """How the user wants tables to be read; ``None`` is judged by the first lines."""

    delimiter: str | None = None
    header: bool | None = None
    comment: str | None = None
    bounds: Bounds | None = None
    id_type: Literal["auto", "text"] = "auto"


def find_files(path: str) -> list[str]:
    """The files that a path or a pattern names, sorted; raises if there are none."""
    if Path(path).exists():
        return [path]
    files = sorted(name for name in glob.glob(path) if Path(name).is_file()) if glob.has_magic(path) else []
    if not files:
        kind = "no file matches" if glob.has_magic(path) else "no such file:"
        raise FileNotFoundError(f"{kind} {path}")
    return files


def is_parquet(path: str) -> bool:
    """Whether a file name is that of a Parquet file."""
    return path.lower().endswith((".parquet", ".pq"))


class Table:
    """One or more files of the same columns, ready to be read in batches, in the order of the files.

    Columns of Parquet files are matched by name; each gets a type that can hold the values of all files.
    """

    def __init__(self, path: str, options: TableOptions) -> None:
        self.where = path
        self.files = find_files(path)
        self.options = options
        for name in self.files:
            if is_pipe(name):  # callers that can read pipes have copied them
                raise InputError(f"{name} is a pipe, which can be read only once; copy it to a file first")
            if Path(name).is_dir():
                raise InputError(
                    f"{name} is a folder, not a table; name a file, or several by a pattern such as "
                    f"'{name}/*.csv'"
                )
            with Path(name).open("rb"):  # a clear PermissionError
                pass
        self.text = not is_parquet(self.files[0])
        if any(is_parquet(name) == self.text for name in self.files):
            raise InputError(f"{path}: Parquet and text tables cannot be read together; name one kind")
        self.named = True
        self.columns: list[str] = []
        self.kinds: dict[str, str] = {}  # of Parquet
        self.index: Index | None = None
        self.index_range: range | None = None  # of an index that is not stored
        self.blank: str | None = None  # stand-in for the name of a first column that has none
        self.comments = 0
        self._longest = 0  # characters of a line
        self._parts: list[tuple[Dialect | None, list[str]]] = []  # consecutive files with the same dialect
        self._opened: dict[str, str] = {}  # path that DuckDB opens -> original file
        self._copies: Path | None = None
        if self.text:
            self._judge()
        else:
            self._describe()

    def _judge(self) -> None:
        """Look at the first lines of every file: a header in the first only is usual for split files."""
        said = self.options
        for name in self.files:
            lines = first_lines(name)
            self._longest = max(self._longest, *(len(line) for line in lines))
            dialect = judge(lines, name, delimiter=said.delimiter, header=said.header, comment=said.comment)
            self.comments += 0 if said.comment else dialect.comments  # else counted when removed
            dialect = replace(dialect, comments=0)
            if not self.columns:
                self.columns, self.named = list(dialect.names), dialect.header
                unnamed = tuple(takewhile(dialect.unnamed.__contains__, dialect.names))
                if unnamed and len(dialect.names) > len(unnamed):  # how pandas writes its index
                    self.index = Index(unnamed[0], False, unnamed[1:])
                    self.blank = dialect.names[0]
                elif dialect.header:
                    self.index = written_index(dialect.names)
            elif not dialect.header and len(dialect.names) == len(self.columns):
                dialect = replace(dialect, names=tuple(self.columns))
            elif sorted(dialect.names) != sorted(self.columns):
                raise InputError(
                    f"{name}: its columns ({listed(dialect.names, 5)}) are not those of {self.files[0]} "
                    f"({listed(self.columns, 5)})"
                )
            if self._parts and self._parts[-1][0] == dialect:
                self._parts[-1][1].append(self._open(name))
            else:
                self._parts.append((dialect, [self._open(name)]))
        self.trim = any(dialect.trim for dialect, _ in self._parts if dialect)

    def _describe(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet

        self.trim = False
        self._parts = [(None, [self._open(name) for name in self.files])]
        with self._explained(), duckdb_connection(self.options.bounds) as duck:
            rows = duck.execute(f"DESCRIBE SELECT * FROM {_PARQUET}", [self._parts[0][1]]).fetchall()
        self.kinds = {str(row[0]): str(row[1]) for row in rows}
        self.columns = list(self.kinds)
        try:
            schema = pyarrow.parquet.read_schema(self.files[0])
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.files[0]}: damaged or incomplete Parquet file ({error})") from None
        self.index, self.index_range = split_index(schema)
        if self.index_range is not None and len(self.files) > 1:
            self.index = self.index_range = None
        self.index = self.index or written_index(self.columns)

    def _open(self, name: str) -> str:
        """The path that DuckDB opens: absolute, so that its first character has no special meaning."""
        path = os.path.abspath(name)
        if self.text and self.options.comment:
            if self._copies is None:
                folder = self.options.bounds.folder if self.options.bounds else None
                self._copies = Path(tempfile.mkdtemp(prefix="nafs-text-", dir=folder))
                weakref.finalize(self, shutil.rmtree, self._copies, ignore_errors=True)
            path = str(self._copies / f"{len(self._opened)}.csv")
            with Path(path).open("wb") as copy:
                self.comments += without_comments(name, self.options.comment, copy)
        self._opened[path] = name
        return path

    @contextmanager
    def _explained(self) -> Iterator[None]:
        import pyarrow as pa

        duckdb = duckdb_package()
        try:
            yield
        except (duckdb.Error, pa.ArrowException, RuntimeError) as error:
            raise explain(error, self.where, text=self.text, names=self._opened) from None

    @contextmanager
    def query(self, columns: Sequence[str], kinds: Sequence[str]) -> Iterator[tuple[Any, str, list[Any]]]:
        """A connection, and a query for columns as c0, c1, ... with its parameters; errors are explained."""
        wanted = dict(zip(columns, kinds, strict=True))
        chosen = ", ".join(f"{self._value(name, wanted)} AS c{i}" for i, name in enumerate(columns))
        queries = [f"SELECT {chosen} FROM {self._source(dialect, wanted)}" for dialect, _ in self._parts]
        with self._explained(), duckdb_connection(self.options.bounds) as duck:
            yield duck, " UNION ALL ".join(queries), [_escaped(files) for _, files in self._parts]

    @property
    def wide(self) -> bool:
        """Whether a text table is too wide for DuckDB and is read by pyarrow instead."""
        return self.text and len(self.columns) > WIDE

    def _wide_batches(self, columns: Sequence[str], kinds: Sequence[str]) -> Generator[Any, None, None]:
        for dialect, files in self._parts:
            assert dialect is not None
            for path in files:
                try:
                    yield from wide_batches(path, dialect, columns, kinds, self._longest)
                except WideTextError as error:
                    line = None if error.row is None else line_of_row(path, dialect, error.row)[0]
                    place = self._opened[path] + ("" if line is None else f", line {line}")
                    raise InputError(f"{place}: ", *error.reason) from None

    def batches(self, columns: Sequence[str], kinds: Sequence[str], rows: int) -> Iterator[Any]:
        """Record batches of the given columns; text tables are read as the given DuckDB types."""
        if self.wide:
            yield from self._wide_batches(columns, kinds)
            return
        with self.query(columns, kinds) as (duck, query, parameters):
            for batch in duck.sql(query, params=parameters).to_arrow_reader(rows):
                yield batch.rename_columns(list(columns))

    def column(self, name: str) -> Any:
        """All values of a column; those of a text table as text."""
        import numpy as np
        import pyarrow as pa

        if self.index is not None and name == self.index.column and self.index_range is not None:
            return pa.array(np.arange(self.index_range.start, self.index_range.stop, self.index_range.step))
        if self.wide:
            return pa.chunked_array([batch.column(0) for batch in self._wide_batches([name], ["VARCHAR"])])
        with self.query([name], ["VARCHAR"]) as (duck, query, parameters):
            return duck.sql(query, params=parameters).to_arrow_table().column(0)

    def first_rows(self, columns: Sequence[str]) -> Any:
        """The first rows as an Arrow table; those of a text table as text."""
        if self.wide:
            import pyarrow as pa

            batches = self._wide_batches(columns, ["VARCHAR"] * len(columns))
            first = next(batches, None)
            batches.close()
            return pa.table({name: [] for name in columns}) if first is None else pa.table(first)[:LOOKED_AT]
        with self.query(columns, ["VARCHAR"] * len(columns)) as (duck, query, parameters):
            limited = f"SELECT * FROM ({query}) LIMIT {LOOKED_AT}"
            return duck.sql(limited, params=parameters).to_arrow_table().rename_columns(list(columns))

    def with_gaps(self, columns: Sequence[str]) -> list[str]:
        """The columns in which some values are missing or empty; all of them in a wide table."""
        if self.wide or not columns:
            return list(columns)
        texts = [f"lower(trim(CAST(c{i} AS VARCHAR)))" for i in range(len(columns))]
        gaps = [f"coalesce(bool_or({text} IS NULL OR {text} IN ('', 'nan')), false)" for text in texts]
        with self.query(columns, ["VARCHAR"] * len(columns)) as (duck, query, parameters):
            row = duck.execute(f"SELECT {', '.join(gaps)} FROM ({query})", parameters).fetchall()[0]
        return [name for name, has_gaps in zip(columns, row, strict=True) if has_gaps]

    def holds_codes(self, columns: Sequence[str]) -> bool:
        """Whether some column of text has only digits, in some rows with leading zeros."""
        digits = [
            f"coalesce(bool_and(regexp_full_match(c{i}, '[0-9]+')), false)" for i in range(len(columns))
        ]
        padded = [f"bool_or(regexp_full_match(c{i}, '{ZERO_PADDED}'))" for i in range(len(columns))]
        codes = " OR ".join(f"({a} AND {b})" for a, b in zip(digits, padded, strict=True))
        with self.query(columns, ["VARCHAR"] * len(columns)) as (duck, query, parameters):
            return bool(duck.execute(f"SELECT {codes} FROM ({query})", parameters).fetchall()[0][0])

    def evidence(self, columns: Sequence[str], rows: int | None) -> Evidence:
        """Evidence from the values of columns."""
        kinds = {name: self.kinds.get(name, "VARCHAR") for name in columns}
        with self.query(columns, ["VARCHAR"] * len(columns)) as (duck, query, parameters):
            limited = query if rows is None else f"SELECT * FROM ({query}) LIMIT {rows}"
            return Evidence(duck, limited, parameters, kinds)

    def place_of_row(self, row: int) -> str:
        """The file and line of a data row (from 0) of a text table."""
        for dialect, files in self._parts:
            for path in files:
                assert dialect is not None
                line, passed = line_of_row(path, dialect, row)
                if line is not None:
                    return f"{self._opened[path]}, line {line}"
                row -= passed
        return self.where

    def notes(self, where: str) -> list[str]:
        """What was skipped or left out so far, as lines about the file ``where``."""
        notes = [f"{where}: {counted(self.comments, 'line')} skipped as comments"] if self.comments else []
        return [*notes, f"{where}: blanks around values are ignored"] if self.trim else notes

    def _value(self, column: str, wanted: dict[str, str]) -> str:
        """A column in SQL, without blanks around text where they are ignored."""
        name = _identifier(column)
        if not self.text or wanted[column] != "VARCHAR":
            return name
        return f"nullif(trim({name}), '')" if self.trim else f"nullif({name}, '')"

    def _source(self, dialect: Dialect | None, wanted: dict[str, str]) -> str:
        if dialect is None:
            return _PARQUET
        types = ", ".join(f"{_text(name)}: '{wanted.get(name, 'VARCHAR')}'" for name in dialect.names)
        return (
            f"read_csv(?, delim={_text(dialect.delimiter)}, comment='', "
            f"skip={dialect.skip}, header={str(dialect.header).lower()}, columns={{{types}}}, "
            "auto_detect=false, quote='\"', escape='\"', strict_mode=true, hive_partitioning=false)"
        )


_PARQUET = "read_parquet(?, hive_partitioning=false, union_by_name=true)"


def _escaped(files: list[str]) -> list[str]:
    return [glob.escape(name) for name in files]


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
