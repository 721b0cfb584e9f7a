"""Edges between ids become edges between numbers, in DuckDB: in parallel, on disk beyond its memory limit.

Nodes are numbered in the order in which the edges name them, source before target; edges keep their order.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.scratch import Allocate
from nafs.graph import Adjacency, read_adjacency
from nafs.graph.adjacency import MAX_NODES
from nafs.graph.features import LARGEST
from nafs.graph.ids import id_column

DUCKDB_MEMORY = "1GB"
_ROWS = 1 << 20  # edges handed over at a time
_FLOATS = ("FLOAT", "DOUBLE")

RowsRead = Callable[[int], None]


@dataclass(frozen=True)
class Bounds:
    """What reading may take: memory for DuckDB, and files for arrays."""

    allocate: Allocate = np.empty
    duckdb_memory: str = DUCKDB_MEMORY
    folder: Path | None = None  # for what DuckDB spills
    threads: int | None = None


@dataclass
class Edges:
    """Edge e goes from ``ids[sources[e]]`` to ``ids[targets[e]]``."""

    ids: Any
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None
    notes: list[str] = field(default_factory=list)
    bounds: Bounds | None = None

    def adjacency(
        self, places: NDArray[np.int64] | None, n: int, *, directed: bool, self_loops: bool
    ) -> Adjacency:
        """The validated adjacency of n nodes, id i standing at ``places[i]``."""
        sources, targets = self.sources, self.targets
        if self.bounds is not None:
            return sorted_adjacency(self, places, n, self.bounds, directed=directed, self_loops=self_loops)
        if places is not None:
            moved = places.astype(np.int32)
            sources, targets = moved[sources], moved[targets]
        values = np.ones(len(sources), bool) if self.weights is None else self.weights
        matrix = sp.coo_array((values, (sources, targets)), shape=(n, n))
        return read_adjacency(matrix, directed=directed, self_loops=self_loops)


@contextmanager
def duckdb_connection(bounds: Bounds | None = None) -> Iterator[Any]:
    """A database of our own that spills into a temporary folder."""
    import duckdb

    bounds = bounds or Bounds()
    with tempfile.TemporaryDirectory(prefix="nafs-duckdb-", dir=bounds.folder) as spill:
        config: dict[str, Any] = {"memory_limit": bounds.duckdb_memory, "temp_directory": spill}
        if bounds.threads is not None:
            config["threads"] = bounds.threads
        # A database in a file can leave memory without being written elsewhere first.
        where = ":memory:" if bounds.folder is None else f"{spill}/edges.duckdb"
        connection = duckdb.connect(where, config=config)
        try:
            yield connection
        finally:
            connection.close()


def number_edges(
    duck: Any,
    query: str,
    parameters: list[Any],
    where: str,
    progress: RowsRead | None = None,
    bounds: Bounds | None = None,
) -> Edges:
    """Edges from a query with the columns source, target and, if there are weights, weight."""
    allocate = (bounds or Bounds()).allocate
    _rows(duck, f"CREATE TABLE edges AS {query}", parameters)
    kinds = {row[0]: row[1] for row in _rows(duck, "DESCRIBE edges")}
    _refuse_missing_ids(duck, where)
    wanted = {column: _id_kind(duck, column, kinds[column], where) for column in ("source", "target")}
    if len(set(wanted.values())) > 1:  # numbers in one column, text in the other
        wanted = dict.fromkeys(wanted, "VARCHAR")
    for column, kind in wanted.items():
        if kind != kinds[column]:
            whole = f"{column}::BIGINT" if kinds[column] in _FLOATS else column
            _rows(duck, f"ALTER TABLE edges ALTER {column} TYPE {kind} USING {whole}::{kind}")
    _rows(
        duck,
        "CREATE TABLE nodes AS "
        "SELECT id, (row_number() OVER (ORDER BY first) - 1)::INTEGER AS number FROM "
        "(SELECT id, min(place) AS first FROM (SELECT source AS id, 2 * rowid AS place FROM edges "
        "UNION ALL SELECT target, 2 * rowid + 1 FROM edges) GROUP BY id)",
    )
    ids = duck.sql("SELECT id FROM nodes ORDER BY number").to_arrow_table().column(0)
    if len(ids) > MAX_NODES:
        raise ValueError(f"{where}: at most {MAX_NODES} nodes are supported; found {len(ids)} different ids")
    ((count,),) = _rows(duck, "SELECT count(*) FROM edges")
    sources, targets = allocate((count,), np.int32), allocate((count,), np.int32)
    weights = allocate((count,), np.float64) if "weight" in kinds else None
    weight = "" if weights is None else ", weight"
    numbered = duck.sql(
        f"SELECT edges.rowid AS place, a.number AS source, b.number AS target{weight} "
        "FROM edges JOIN nodes a ON edges.source = a.id JOIN nodes b ON edges.target = b.id"
    )
    for batch in numbered.to_arrow_reader(_ROWS):
        place = np.asarray(batch.column(0))
        sources[place], targets[place] = np.asarray(batch.column(1)), np.asarray(batch.column(2))
        if weights is not None:
            weights[place] = batch.column(3).to_numpy(zero_copy_only=False)
        if progress is not None:
            progress(len(place))
    if weights is not None:
        _check_weights(weights, where)
    return Edges(id_column(ids, f"{where}: ids"), sources, targets, weights, bounds=bounds)


def sorted_adjacency(
    edges: Edges,
    places: NDArray[np.int64] | None,
    n: int,
    bounds: Bounds,
    *,
    directed: bool,
    self_loops: bool,
) -> Adjacency:
    """The same adjacency as :func:`nafs.graph.read_adjacency` makes, sorted on disk by DuckDB."""
    import pyarrow as pa

    sources, targets, weights = edges.sources, edges.targets, edges.weights
    if places is not None:
        sources, targets = (_moved(array, places, bounds) for array in (sources, targets))
    weighted = weights is not None and not _all_ones(weights)
    given = {"s": sources, "t": targets} | ({"w": weights} if weights is not None else {})
    loops, zeros = self_loops or "s <> t", weights is None or "w <> 0"
    kept = f"{loops} AND {zeros}"
    # Duplicates add up; the directions of an edge then have the larger weight of the two.
    merged = f"SELECT s, t, sum(w) AS w FROM given WHERE {kept} GROUP BY s, t"
    if not weighted:
        merged = f"SELECT s, t, 1 AS w FROM given WHERE {kept}"
    both = "m" if directed else "(SELECT s, t, w FROM m UNION ALL SELECT t, s, w FROM m)"
    with duckdb_connection(bounds) as duck:
        duck.register("given", pa.table(given))
        _rows(duck, f"CREATE TABLE m AS {merged}")
        _rows(duck, f"CREATE TABLE a AS SELECT s, t, max(w) AS w FROM {both} GROUP BY s, t")
        _rows(duck, "DROP TABLE m")
        ((count,),) = _rows(duck, "SELECT count(*) FROM a")
        indptr, indices = bounds.allocate((n + 1,), np.int64), bounds.allocate((count,), np.int32)
        values = bounds.allocate((count,), np.float32) if weighted else None
        indptr[:] = 0
        at = 0
        for batch in duck.sql("SELECT s, t, w FROM a ORDER BY s, t").to_arrow_reader(_ROWS):
            rows = np.asarray(batch.column(0))
            span = slice(at, at + len(rows))
            indices[span] = np.asarray(batch.column(1))
            if values is not None:
                values[span] = np.asarray(batch.column(2))
            if len(rows):
                counts = np.bincount(rows - rows[0])
                indptr[rows[0] + 1 : rows[0] + 1 + len(counts)] += counts
            at += len(rows)
    for begin in range(1, n + 1, _ROWS):
        end = min(n + 1, begin + _ROWS)
        indptr[begin:end] = indptr[begin - 1] + np.cumsum(indptr[begin:end])
    return Adjacency(indptr, indices, values, directed)


def _moved(array: NDArray[np.int32], places: NDArray[np.int64], bounds: Bounds) -> NDArray[np.int32]:
    moved = bounds.allocate(array.shape, np.int32)
    for begin in range(0, len(array), _ROWS):
        moved[begin : begin + _ROWS] = places[array[begin : begin + _ROWS]]
    return moved


def _all_ones(weights: NDArray[np.float64]) -> bool:
    parts = (weights[begin : begin + _ROWS] for begin in range(0, len(weights), _ROWS))
    return all((part[part != 0] == 1).all() for part in parts)


def _id_kind(duck: Any, column: str, kind: str, where: str) -> str:
    """BIGINT or VARCHAR: as what a column of ids is compared."""
    if kind in _FLOATS or kind.startswith("DECIMAL"):
        odd = f"{column} <> floor({column}) OR abs({column}) >= 2.0 ** 53"
        ((bad,),) = _rows(duck, f"SELECT first({column}) FROM edges WHERE {odd}")
        if bad is not None:
            raise ValueError(f"{where}: the {column} id {bad} is not a whole number")
        return "BIGINT"
    if kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"):
        return "BIGINT"
    if kind in ("VARCHAR", "UBIGINT", "HUGEINT", "UHUGEINT", "UUID") or kind.startswith("ENUM"):
        return "VARCHAR"
    raise TypeError(f"{where}: ids must be whole numbers or strings; the {column} column holds {kind}")


def _rows(duck: Any, query: str, parameters: list[Any] | None = None) -> list[Any]:
    """Run a statement to its end."""
    return list(duck.execute(query, parameters or []).fetchall())


def _refuse_missing_ids(duck: Any, where: str) -> None:
    ((row, source),) = _rows(
        duck,
        "SELECT min(rowid), first(source IS NULL ORDER BY rowid) FROM edges "
        "WHERE source IS NULL OR target IS NULL",
    )
    if row is not None:
        name = "source" if source else "target"
        raise ValueError(f"{where}: the {name} id of edge {row + 1} is missing; every edge needs two ids")


def _check_weights(weights: NDArray[np.float64], where: str) -> None:
    bad = ~((weights >= 0) & (weights <= LARGEST))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        found = "missing or not a number" if np.isnan(weights[at]) else weights[at]
        raise ValueError(
            f"{where}: the weight of edge {at + 1} is {found}; weights are numbers from 0 to {LARGEST:.0e}"
        )


def edges_from_columns(sources: Any, targets: Any, weights: Any = None, where: str = "edges") -> Edges:
    """Edges from two columns of ids and, if there are any, weights."""
    import pyarrow as pa

    from nafs.readers.columns import numbers_of

    columns = {
        "source": id_column(sources, f"{where}: sources"),
        "target": id_column(targets, f"{where}: targets"),
    }
    if weights is not None:
        columns["weight"] = pa.array(numbers_of(weights, f"{where}: weights"))
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{count} {name}s" for name, count in lengths.items())
        raise ValueError(f"{where}: columns differ in length: {shown}")
    with duckdb_connection() as duck:
        duck.register("given", pa.table(columns))
        return number_edges(duck, "SELECT * FROM given", [], where)
