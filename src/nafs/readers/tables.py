"""CSV, TSV and Parquet files through DuckDB: compressed or not, one or many, row order kept."""

from __future__ import annotations

import glob
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nafs.graph.ids import id_column, plain_numbers
from nafs.readers.columns import INDEX, edge_columns, feature_matrix, id_name, label_name, pick
from nafs.readers.dialect import Dialect, judge
from nafs.readers.edges import Bounds, Edges, RowsRead, duckdb_connection, number_edges
from nafs.readers.join import NodeTable

_VALUES = 1 << 24  # handed over at a time
_LINES = 200  # looked at to judge a text table
_MEASUREMENT = r"^-?[0-9]*\.[0-9]*[1-9][0-9]*(e-?[0-9]+)?$"  # a number with a fraction


@dataclass(frozen=True)
class TableOptions:
    """What the user says about text tables; ``None`` is judged by the first lines."""

    delimiter: str | None = None
    header: bool | None = None
    comment: str | None = None
    bounds: Bounds | None = None


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
    """One or more files of the same columns, ready to be read in batches, in the order of the files."""

    def __init__(self, path: str, options: TableOptions) -> None:
        self.where = path
        self.files = find_files(path)
        self.options = options
        for name in self.files:
            with Path(name).open("rb"):  # a clear PermissionError or IsADirectoryError
                pass
        self.text = not is_parquet(self.files[0])
        self.named = True
        self.columns: list[str] = []
        self.unnamed: frozenset[str] = frozenset()  # columns without a name of their own
        self.kinds: dict[str, str] = {}  # of Parquet
        self._parts: list[tuple[Dialect | None, list[str]]] = []  # files in a row that are written alike
        with duckdb_connection(options.bounds) as duck:
            if self.text:
                self._judge(duck)
            else:
                self._parts = [(None, self.files)]
                described = self._run(
                    duck, "DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning=false)", self.files
                )
                self.kinds = {str(row[0]): str(row[1]) for row in described}
                self.columns = list(self.kinds)

    def _judge(self, duck: Any) -> None:
        """Look at the first lines of every file: a header in the first only is usual for split files."""
        for name in self.files:
            found = judge(
                self._first_lines(duck, name),
                name,
                delimiter=self.options.delimiter,
                header=self.options.header,
                comment=self.options.comment,
            )
            if not self.columns:
                self.columns, self.named, self.unnamed = list(found.names), found.header, found.unnamed
            elif not found.header and len(found.names) == len(self.columns):
                found = replace(found, names=tuple(self.columns))
            elif sorted(found.names) != sorted(self.columns):
                raise ValueError(
                    f"{name}: its columns ({_some(found.names)}) are not those of {self.files[0]} "
                    f"({_some(self.columns)})"
                )
            if self._parts and self._parts[-1][0] == found:
                self._parts[-1][1].append(name)
            else:
                self._parts.append((found, [name]))

    def _first_lines(self, duck: Any, name: str) -> list[str]:
        query = (
            "SELECT line FROM read_csv(?, delim=chr(31), header=false, columns={'line': 'VARCHAR'}, "
            f"quote='', escape='', comment='', auto_detect=false, strict_mode=false) LIMIT {_LINES}"
        )
        return [row[0] or "" for row in self._run(duck, query, [name])]

    def _run(self, duck: Any, query: str, files: list[str]) -> list[Any]:
        import duckdb

        try:
            return list(duck.execute(query, [_escaped(files)]).fetchall())
        except duckdb.Error as error:
            raise explain(error, self.where, text=self.text) from None

    def batches(self, columns: Sequence[str], kinds: Sequence[str], rows: int) -> Iterator[Any]:
        """Record batches of the given columns; text tables are read as the given DuckDB types."""
        import duckdb
        import pyarrow as pa

        wanted = dict(zip(columns, kinds, strict=True))
        chosen = [(self._value(name, wanted), f"c{i}") for i, name in enumerate(columns)]
        query, parameters = self._select(chosen, wanted)
        with duckdb_connection(self.options.bounds) as duck:
            try:
                for batch in duck.sql(query, params=parameters).to_arrow_reader(rows):
                    yield batch.rename_columns(list(columns))
            except (duckdb.Error, pa.ArrowException, RuntimeError) as error:
                raise explain(error, self.where, text=self.text) from None

    def number_edges(self, first: str, second: str, third: str | None, progress: RowsRead | None) -> Edges:
        """The edges between the ids of two columns, with the third for weights."""
        import duckdb
        import pyarrow as pa

        if third and not self.text:
            self._check_numbers(third)
        wanted = {first: "VARCHAR", second: "VARCHAR"} | ({third: "DOUBLE"} if third else {})
        named = [(first, "source"), (second, "target"), *([(third, "weight")] if third else [])]
        query, parameters = self._select(
            [(self._value(name, wanted), known) for name, known in named], wanted
        )
        with duckdb_connection(self.options.bounds) as duck:
            try:
                return number_edges(duck, query, parameters, self.where, progress, self.options.bounds)
            except (duckdb.Error, pa.ArrowException, RuntimeError) as error:
                raise explain(error, self.where, text=self.text) from None

    def _check_numbers(self, column: str) -> None:
        kind = self.kinds[column]
        if not re.match(r"U?(TINY|SMALL|BIG|HUGE)?INT|FLOAT|DOUBLE|DECIMAL|BOOLEAN", kind):
            raise ValueError(f"{self.where}: column {column!r} holds {kind}: weights must be numbers")

    def _value(self, column: str, wanted: dict[str, str]) -> str:
        """A column in SQL; blanks around text do not count."""
        name = _identifier(column)
        return f"nullif(trim({name}), '')" if self.text and wanted[column] == "VARCHAR" else name

    def _select(self, chosen: list[tuple[str, str]], wanted: dict[str, str]) -> tuple[str, list[Any]]:
        """The query for some columns, one part after the other, and its parameters."""
        columns = ", ".join(f"{value} AS {known}" for value, known in chosen)
        queries = [f"SELECT {columns} FROM {self._source(dialect, wanted)}" for dialect, _ in self._parts]
        return " UNION ALL ".join(queries), [_escaped(files) for _, files in self._parts]

    def _source(self, dialect: Dialect | None, wanted: dict[str, str]) -> str:
        if dialect is None:
            return "read_parquet(?, hive_partitioning=false)"
        types = ", ".join(f"{_text(name)}: '{wanted.get(name, 'VARCHAR')}'" for name in dialect.names)
        return (
            f"read_csv(?, delim={_text(dialect.delimiter)}, comment={_text(dialect.comment)}, "
            f"skip={dialect.skip}, header={str(dialect.header).lower()}, columns={{{types}}}, "
            "auto_detect=false, quote='\"', escape='\"', strict_mode=true, hive_partitioning=false)"
        )


def read_edges(
    path: str,
    options: TableOptions,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | Literal[False] | None = None,
    progress: RowsRead | None = None,
) -> Edges:
    """The edges of a table."""
    table = Table(path, options)
    if options.header is None and not table.named:
        named = [name for name in (source, target, weight) if isinstance(name, str) and not name.isdigit()]
        if named:  # whoever names columns says that the first line does
            again = Table(path, replace(options, header=True))
            table = again if set(named) <= set(again.columns) else table
    first, second, third = edge_columns(table.columns, source, target, weight, path, named=table.named)
    edges = table.number_edges(first, second, third, progress)
    if table.text and len(edges.sources):
        _refuse_measurements(edges, path)
        edges.notes += _perhaps_comments(edges, path)
        if table.named:
            _refuse_second_header(edges, first, second, path)
        elif options.header is None:
            edges.notes += _perhaps_a_header(edges, path)
    if third:
        edges.notes.append(weights_note(third, edges))
    edges.notes += _unused_note(path, [name for name in table.columns if name not in (first, second, third)])
    return edges


def read_nodes(
    path: str,
    options: TableOptions,
    *,
    id: str | int | None = None,  # noqa: A002 - what the column is called
    label: str | int | None = None,
    ignore: Sequence[str] = (),
    labels_only: bool = False,
    progress: RowsRead | None = None,
) -> NodeTable:
    """Features and labels, or labels alone, of a table keyed by id."""
    import pyarrow as pa

    table = Table(path, options)
    names = [name for name in table.columns if name not in table.unnamed] or table.columns
    if id_name(names, id, path) != INDEX:
        names = [name for name in names if name != INDEX]
    chosen_id = id_name(names, id, path)
    left_out = {str(pick(names, name, "columns to ignore", path)) for name in ignore} | {chosen_id}
    others = [name for name in names if name not in left_out]
    chosen_label = pick(names, label, "labels", path) or label_name(others)
    if labels_only:
        if not others:
            raise ValueError(f"{path}: labels need two columns, id and label; found only {chosen_id!r}")
        chosen_label = chosen_label or others[0]
        others = []
    else:
        others = [name for name in others if name != chosen_label]
    columns = [chosen_id, *([chosen_label] if chosen_label else []), *others]
    kinds = ["VARCHAR"] * (len(columns) - len(others)) + ["DOUBLE"] * len(others)
    ids, labels, found = [], [], None
    blocks = _Blocks(options.bounds)
    count = 0
    for batch in table.batches(columns, kinds, max(1024, _VALUES // len(columns))):
        # Not yet turned into numbers: that is decided by all ids together.
        ids.append(batch.column(0))
        if chosen_label:
            labels.append(batch.column(1))
        if others:
            block, found = feature_matrix(pa.Table.from_batches([batch]), others, path)
            _refuse_missing(block, found, count, path)
            blocks.append(block)
        count += batch.num_rows
        if progress is not None:
            progress(batch.num_rows)
    if not count:
        raise ValueError(f"{path}: the table has no rows")
    allocate = (options.bounds or Bounds()).allocate
    keys = id_column(pa.chunked_array(ids), f"{path}: column {chosen_id!r}")
    known = pa.chunked_array(labels).combine_chunks() if chosen_label else None
    if chosen_label and table.text:
        known = _label_values(known, chosen_label, path)
    notes = [f"labels come from column {chosen_label!r} of {path}"] if chosen_label else []
    notes += _unused_note(path, [name for name in table.columns if name not in columns])
    notes += [] if others or labels_only else [f"{path}: there are no feature columns in it"]
    return NodeTable(keys, blocks.whole(), found, known, path, notes=notes, allocate=allocate)


def weights_note(column: str, edges: Edges) -> str:
    """Where weights come from, with a warning where they look like times."""
    assert edges.weights is not None
    times = len(edges.weights) and float(edges.weights.min()) > 1e8
    doubt = "; they look like times: unweighted (--unweighted, weight=False) ignores them" if times else ""
    return f"weights come from column {column!r}{doubt}"


def _unused_note(path: str, names: list[str]) -> list[str]:
    return [f"{path}: column(s) {_some(names)} not used"] if names else []


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


class _Blocks:
    """Blocks of rows that become one matrix; in a file as they come, where there are bounds."""

    def __init__(self, bounds: Bounds | None) -> None:
        self.bounds = bounds
        self.blocks: list[Any] = []
        self.file: Any = None
        self.shape = (0, 0)

    def append(self, block: Any) -> None:
        self.shape = (self.shape[0] + len(block), block.shape[1])
        if self.bounds is None:
            self.blocks.append(block)
            return
        if self.file is None:
            self.file = tempfile.TemporaryFile(dir=self.bounds.folder)  # noqa: SIM115 - lives as long as this
        self.file.write(np.ascontiguousarray(block).data)

    def whole(self) -> Any:
        if not self.shape[0]:
            return None
        if self.bounds is None:
            return self.blocks[0] if len(self.blocks) == 1 else np.concatenate(self.blocks)
        self.file.flush()
        return np.asarray(np.memmap(self.file, np.float32, "r+", shape=self.shape))


def _label_values(labels: Any, column: str, where: str) -> Any:
    """Labels read as text become numbers where all of them are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = labels.cast(pa.large_string())
    there = text.drop_null()
    if len(there) and pc.all(pc.match_substring_regex(there, _MEASUREMENT)).as_py():
        raise ValueError(
            f"{where}: column {column!r} holds measurements such as {there[0].as_py()}, not classes; "
            "name the column of the labels"
        )
    numbers = plain_numbers(there)
    return text.cast(pa.int64()) if len(there) and pa.types.is_int64(numbers.type) else text


def _refuse_missing(block: Any, names: Sequence[str] | None, above: int, where: str) -> None:
    bad = ~np.isfinite(block)
    if bad.any():
        row, column = (int(at[0]) for at in np.nonzero(bad))
        name = names[column] if names else column
        raise ValueError(
            f"{where}: the feature {name!r} in data row {above + row + 1} is missing or infinite; "
            "fill or drop it"
        )


def _refuse_measurements(edges: Edges, where: str) -> None:
    """A table of features taken for edges has ids like 0.173."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(edges.ids.type) or not len(edges.ids):
        return
    share = pc.mean(pc.match_substring_regex(edges.ids, _MEASUREMENT).cast(pa.float64())).as_py()
    if share > 0.4:
        example = edges.ids.filter(pc.match_substring_regex(edges.ids, _MEASUREMENT))[0].as_py()
        raise ValueError(
            f"{where}: the ids look like measurements ({example}); is this a feature table? An edge list has "
            "two columns of ids"
        )


def _perhaps_comments(edges: Edges, where: str) -> list[str]:
    """Comments far below the first lines have become ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(edges.ids.type):
        return []
    odd = edges.ids.filter(pc.match_substring_regex(edges.ids, r"^[#%]\s"))
    if not len(odd):
        return []
    return [f"{where}: the id {odd[0].as_py()!r} looks like a comment; if it is one, say so (--comment)"]


def _perhaps_a_header(edges: Edges, where: str) -> list[str]:
    """The first line was taken as an edge, but neither of its words comes again."""
    import pyarrow as pa

    if not pa.types.is_large_string(edges.ids.type) or len(edges.sources) < 2:
        return []
    a, b = int(edges.sources[0]), int(edges.targets[0])
    if sum(int((ends == end).sum()) for ends in (edges.sources, edges.targets) for end in {a, b}) > 2:
        return []
    words = f"{edges.ids[a].as_py()}, {edges.ids[b].as_py()}"
    return [
        f"{where}: the first line ({words}) is taken as an edge; if it names the columns, say so (--header)"
    ]


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
        "{value!r} in column {column!r} is not a number; correct it, or leave the column out (--ignore; "
        "weights: --unweighted), or say that it holds labels (--label)",
    ),
    (r"(?i)not utf-8|unicode", "this is not UTF-8 text; convert it, or check that it is a text table"),
    (r"(?i)CSV Error(.|\n)*quote", "a quoted value does not end; close or double the quote sign"),
)
_PARQUET_REASONS = (
    (r"(?i)schema mismatch", "the files do not have the same columns"),
    (r"(?P<what>.+)", "this is not a whole Parquet file ({what})"),
)


def explain(error: Exception, where: str, *, text: bool) -> BaseException:
    """DuckDB's message in one line: which file, which line, what to do."""
    return _explain(str(error), where, [*_REASONS, *([] if text else _PARQUET_REASONS)])


def _explain(text: str, where: str, reasons: list[tuple[str, str]]) -> BaseException:
    if "nterrupt" in text:
        return KeyboardInterrupt()
    file = found[1] if (found := re.search(r"^\s*file = (.+)$", text, re.M)) else where
    line = f", line {found[1]}" if (found := re.search(r"CSV Error on Line: (\d+)", text)) else ""
    if any(sign in text for sign in ("No space left", "Could not write", "File too large")):
        return OSError(f"{file}: no room for what sorting on disk takes ({_first_line(text)}); make room")
    if "Out of Memory" in text:
        return MemoryError(f"{file}: reading needs more memory than DuckDB is given ({_first_line(text)})")
    for pattern, reason in reasons:
        if found := re.search(pattern, text):
            first = "; if line 1 names the columns, say so (--header)" if line == ", line 1" else ""
            return ValueError(f"{file}{line}: {reason.format(**found.groupdict())}{first}")
    return ValueError(f"{file}{line}: cannot be read ({_first_line(text)})")


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"


def _escaped(files: list[str]) -> list[str]:
    return [glob.escape(name) for name in files]


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
