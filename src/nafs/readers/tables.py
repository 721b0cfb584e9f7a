"""CSV, TSV and Parquet files through DuckDB: compressed or not, one or many, row order kept."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nafs.graph.ids import id_column
from nafs.readers.columns import LABEL, edge_columns, feature_matrix, id_name, pick
from nafs.readers.dialect import Dialect, judge
from nafs.readers.edges import DUCKDB_MEMORY, Edges, RowsRead, duckdb_connection, number_edges
from nafs.readers.join import NodeTable

_VALUES = 1 << 24  # handed over at a time
_LINES = 200  # looked at to judge a text table


@dataclass(frozen=True)
class TableOptions:
    """What the user says about text tables; ``None`` is judged by the first lines."""

    delimiter: str | None = None
    header: bool | None = None
    comment: str | None = None
    memory: str = DUCKDB_MEMORY


def find_files(path: str) -> list[str]:
    """The files that a path or a pattern names, sorted; raises if there are none."""
    if Path(path).exists():
        return [path]
    found = sorted(name for name in glob.glob(path) if Path(name).is_file()) if glob.has_magic(path) else []
    if not found:
        kind = "no file matches" if glob.has_magic(path) else "no such file:"
        raise FileNotFoundError(f"{kind} {path}")
    return found


def is_parquet(path: str) -> bool:
    """Whether a name says Parquet."""
    return path.lower().endswith((".parquet", ".pq"))


class Table:
    """One or more files of the same layout, ready to be read in batches."""

    def __init__(self, path: str, options: TableOptions) -> None:
        self.where = path
        self.files = find_files(path)
        self.options = options
        for name in self.files:
            with Path(name).open("rb"):  # a clear PermissionError or IsADirectoryError
                pass
        self.dialect: Dialect | None = None
        self.kinds: dict[str, str] = {}  # of a Parquet file
        with duckdb_connection(self.options.memory) as duck:
            if is_parquet(self.files[0]):
                described = self._run(duck, "DESCRIBE SELECT * FROM read_parquet(?)")
                self.kinds = {str(row[0]): str(row[1]) for row in described}
                self.columns = list(self.kinds)
            else:
                self.dialect = judge(
                    self._first_lines(duck),
                    path,
                    delimiter=options.delimiter,
                    header=options.header,
                    comment=options.comment,
                )
                self.columns = list(self.dialect.names)

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own."""
        return self.dialect is None or self.dialect.header

    @property
    def _names(self) -> list[str]:
        return [glob.escape(name) for name in self.files]

    def _first_lines(self, duck: Any) -> list[str]:
        query = (
            "SELECT line FROM read_csv(?, delim=chr(31), header=false, columns={'line': 'VARCHAR'}, "
            f"quote='', escape='', comment='', auto_detect=false, strict_mode=false) LIMIT {_LINES}"
        )
        return [row[0] or "" for row in self._run(duck, query)]

    def _run(self, duck: Any, query: str) -> list[Any]:
        import duckdb

        try:
            return list(duck.execute(query, [self._names]).fetchall())
        except duckdb.Error as error:
            raise explain(error, self.where) from None

    def batches(self, columns: Sequence[str], kinds: Sequence[str], rows: int) -> Iterator[Any]:
        """Record batches of the given columns; text tables are read as the given DuckDB types."""
        import duckdb
        import pyarrow as pa

        chosen = ", ".join(f"{_identifier(name)} AS c{i}" for i, name in enumerate(columns))
        source = self._source(dict(zip(columns, kinds, strict=True)))
        with duckdb_connection(self.options.memory) as duck:
            try:
                result = duck.sql(f"SELECT {chosen} FROM {source}", params=[self._names])
                for batch in result.to_arrow_reader(rows):
                    yield batch.rename_columns(list(columns))
            except (duckdb.Error, pa.ArrowException) as error:
                raise explain(error, self.where) from None

    def number_edges(self, first: str, second: str, third: str | None, progress: RowsRead | None) -> Edges:
        """The edges between the ids of two columns, with the third for weights."""
        import duckdb
        import pyarrow as pa

        wanted = {first: "VARCHAR", second: "VARCHAR"} | ({third: "DOUBLE"} if third else {})
        weight = f", {_identifier(third)} AS weight" if third else ""
        query = (
            f"SELECT {_identifier(first)} AS source, {_identifier(second)} AS target{weight} "
            f"FROM {self._source(wanted)}"
        )
        if third and self.dialect is None:
            self._check_numbers(third)
        with duckdb_connection(self.options.memory) as duck:
            try:
                return number_edges(duck, query, [self._names], self.where, progress)
            except (duckdb.Error, pa.ArrowException) as error:
                raise explain(error, self.where) from None

    def _check_numbers(self, column: str) -> None:
        kind = self.kinds[column]
        if not re.match(r"U?(TINY|SMALL|BIG|HUGE)?INT|FLOAT|DOUBLE|DECIMAL|BOOLEAN", kind):
            raise ValueError(
                f"{self.where}: column {column!r} holds {kind}, not numbers, and cannot be weights"
            )

    def _source(self, wanted: dict[str, str]) -> str:
        """The table in SQL, its files as a parameter; text is read as the wanted DuckDB types."""
        if self.dialect is None:
            return "read_parquet(?)"
        types = ", ".join(f"{_text(name)}: '{wanted.get(name, 'VARCHAR')}'" for name in self.columns)
        return (
            f"read_csv(?, delim={_text(self.dialect.delimiter)}, comment={_text(self.dialect.comment)}, "
            f"header={str(self.dialect.header).lower()}, columns={{{types}}}, auto_detect=false, "
            "quote='\"', escape='\"', strict_mode=true)"
        )


def read_edges(
    path: str,
    options: TableOptions,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    progress: RowsRead | None = None,
) -> Edges:
    """The edges of a table."""
    table = Table(path, options)
    first, second, third = edge_columns(table.columns, source, target, weight, path, named=table.named)
    edges = table.number_edges(first, second, third, progress)
    if table.dialect is not None and table.dialect.header:
        _refuse_second_header(edges, first, second, path)
    if third:
        edges.notes.append(f"weights come from column {third!r}")
    unused = [name for name in table.columns if name not in (first, second, third)]
    if unused:
        edges.notes.append(
            f"{path}: column(s) {', '.join(unused[:5])}{', ...' if len(unused) > 5 else ''} not used"
        )
    return edges


def read_nodes(
    path: str,
    options: TableOptions,
    *,
    id: str | int | None = None,  # noqa: A002 - what the column is called
    label: str | int | None = None,
    labels_only: bool = False,
    progress: RowsRead | None = None,
) -> NodeTable:
    """Features and labels, or labels alone, of a table keyed by id."""
    import pyarrow as pa

    table = Table(path, options)
    names = table.columns
    chosen_id = id_name(names, id, path)
    others = [name for name in names if name != chosen_id]
    chosen_label = pick(names, label, "labels", path)
    if labels_only:
        if not others:
            raise ValueError(f"{path}: labels need two columns, id and label; found only {chosen_id!r}")
        chosen_label = chosen_label or (LABEL if LABEL in others else others[0])
        others = []
    else:
        chosen_label = chosen_label or (LABEL if LABEL in others else None)
        others = [name for name in others if name != chosen_label]
    columns = [chosen_id, *([chosen_label] if chosen_label else []), *others]
    kinds = ["VARCHAR"] * (len(columns) - len(others)) + ["DOUBLE"] * len(others)
    ids, labels, blocks, found = [], [], [], None
    count = 0
    for batch in table.batches(columns, kinds, max(1024, _VALUES // len(columns))):
        # Not yet turned into numbers: that is decided by all ids together.
        ids.append(batch.column(0))
        if chosen_label:
            labels.append(batch.column(1))
        if others:
            block, found = feature_matrix(pa.Table.from_batches([batch]), others, path)
            _refuse_missing(block, count, path)
            blocks.append(block)
        count += batch.num_rows
        if progress is not None:
            progress(batch.num_rows)
    if not count:
        raise ValueError(f"{path}: the table has no rows")
    keys = id_column(pa.chunked_array(ids), f"{path}: column {chosen_id!r}")
    known = None
    if chosen_label:
        known = pa.chunked_array(labels).combine_chunks()
        known = _label_values(known)
    return NodeTable(keys, _stacked(blocks), found, known, path)


def _stacked(blocks: list[Any]) -> Any:
    return None if not blocks else blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


def _label_values(labels: Any) -> Any:
    """Labels read as text become numbers where all of them are."""
    import pyarrow as pa

    from nafs.graph.ids import plain_numbers

    if not (pa.types.is_string(labels.type) or pa.types.is_large_string(labels.type)):
        return labels
    text = labels.cast(pa.large_string())
    there = text.drop_null()
    numbers = plain_numbers(there)
    return text.cast(pa.int64()) if len(there) and pa.types.is_int64(numbers.type) else text


def _refuse_missing(block: Any, above: int, where: str) -> None:
    bad = ~np.isfinite(block).all(axis=1)
    if bad.any():
        row = above + int(np.flatnonzero(bad)[0]) + 1
        raise ValueError(
            f"{where}: row {row} has a missing or infinite feature ({int(bad.sum())} such rows nearby); "
            "fill or drop them"
        )


def _refuse_second_header(edges: Edges, first: str, second: str, where: str) -> None:
    import pyarrow as pa

    from nafs.graph.ids import positions

    if not pa.types.is_large_string(edges.ids.type):
        return
    a, b = positions(edges.ids, pa.array([first, second], pa.large_string()))
    again = np.flatnonzero((edges.sources == a) & (edges.targets == b) & (a >= 0) & (b >= 0))
    if len(again):
        raise ValueError(
            f"{where}: data row {again[0] + 1} repeats the header ({first}, {second}); remove it"
        )


_REASONS = (
    (
        r"Expected Number of Columns: (?P<wanted>\d+) Found: (?P<found>\d+)",
        "{found} column(s) where {wanted} are expected; make the rows alike, or name the delimiter",
    ),
    (
        r'converting column "(?P<column>.*)"\. Could not convert string "(?P<value>.*)" to',
        "{value!r} in column {column!r} is not a number; correct it, or leave the column out",
    ),
    (r"(?i)not utf-8|unicode", "this is not UTF-8 text; convert it, or check that it is a text table"),
    (r"(?i)CSV Error(.|\n)*quote", "a quoted value does not end; close or double the quote sign"),
    (r"(?i)(?P<what>.*(magic bytes|parquet).*)", "this is not a whole Parquet file ({what})"),
)


def explain(error: Exception, where: str) -> Exception:
    """DuckDB's message in one line: which file, which line, what to do."""
    text = str(error)
    file = found[1] if (found := re.search(r"^\s*file = (.+)$", text, re.M)) else where
    line = f", line {found[1]}" if (found := re.search(r"CSV Error on Line: (\d+)", text)) else ""
    if "Out of Memory" in text:
        return MemoryError(f"{file}: reading needs more memory than DuckDB is given ({_first_line(text)})")
    for pattern, reason in _REASONS:
        if found := re.search(pattern, text):
            return ValueError(f"{file}{line}: {reason.format(**found.groupdict())}")
    return ValueError(f"{file}{line}: cannot be read ({_first_line(text)})")


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
