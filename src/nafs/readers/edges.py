"""Edges between ids become edges between numbers, in DuckDB: in parallel, on disk if memory is short.

Nodes are numbered in the order in which the edges name them, source before target; edges keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs._support.scratch import Allocate
from nafs.graph import Adjacency
from nafs.graph.adjacency import MAX_NODES, SMALLEST, Merging, merge_edges
from nafs.graph.features import LARGEST
from nafs.graph.ids import BLANKS, blanks_line, blanks_note, id_column, positions
from nafs.graph.numbers import numbers_of
from nafs.graph.spellings import POINT_ZERO, whole_note
from nafs.readers.database import Bounds, duckdb_connection
from nafs.readers.external_sort import EdgeList, sorted_adjacency
from nafs.readers.numbering import DenseNumbers, is_dense
from nafs.readers.roles import EdgeColumns
from nafs.readers.summary import columns_line, edges_line

_ROWS = 1 << 17  # edges handed over at a time; more would exceed small memory limits
_FLOATS = ("FLOAT", "DOUBLE")
_MEANINGS = ("source", "target", "weight")

RowsRead = Callable[[int], None]


@dataclass(frozen=True)
class PerhapsHeader:
    """The first edge of a text table, neither of whose ids occurs again: perhaps the names of columns."""

    where: str
    ends: tuple[int, int]  # among the ids
    words: str
    above_codes: bool = False  # whether all other ids have digits, and these have none

    @property
    def note(self) -> str:
        """What to say if it is read as an edge all the same."""
        return (
            f"{self.where}: the first line ({self.words}) is read as an edge, although neither of its ids "
            "occurs again; if it names the columns, say so with --header (header=True in Python)"
        )

    def unclear(self) -> InputError:
        """The error if it stands above codes, and no table of nodes tells what it is."""
        return InputError(
            f"{self.where}: the first line ({self.words}) may name the columns: neither word occurs again, "
            "and all other ids have digits; if it does, set ",
            Parameter("header", True),
            "; if it is an edge, set ",
            Parameter("header", False),
        )

    def error(self, nodes: str) -> InputError:
        """The error if all other ids have a row in the table of nodes."""
        return InputError(
            f"{self.where}: the first line ({self.words}) looks like column names: neither word occurs again "
            f"or has a row in {nodes}; if it is a header, say so with ",
            Parameter("header", True),
        )


@dataclass
class Edges:
    """Edge e goes from ``ids[sources[e]]`` to ``ids[targets[e]]``."""

    ids: Any
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None
    notes: list[str] = field(default_factory=list)
    bounds: Bounds | None = None
    columns: str = "edges"  # how the columns of the table were used
    has_direction: bool = True
    names: dict[str, str] = field(default_factory=dict)  # of the columns in a table with a header, by meaning
    header: PerhapsHeader | None = None  # the first edge, if it looks like column names

    def describe(self, roles: EdgeColumns, unused: Sequence[str], where: str) -> None:
        """Note how the columns were used."""
        meanings = [("source", roles.source), ("target", roles.target), ("weight", roles.weight)]
        self.columns = columns_line(where, meanings, [], unused)
        if (
            roles.weight
            and len(self.sources)
            and self.weights is not None
            and float(self.weights.min()) > 1e8
        ):
            self.notes.append(
                f"{where}: the weights in column {roles.weight!r} look like times; name another column, or "
                "use none"
            )
        if roles.two_kinds:
            both = len(np.intersect1d(self.sources, self.targets))
            if both:
                self.notes.append(
                    f"{where}: {roles.source!r} and {roles.target!r} share {both:,} ids, taken as the "
                    "same nodes; if they are not, give each kind a prefix"
                )

    def adjacency(
        self, places: NDArray[np.int64] | None, n: int, *, directed: bool, self_loops: bool
    ) -> tuple[Adjacency, str]:
        """The validated adjacency of n nodes, id i at ``places[i]``, and a line that says what was merged."""
        adjacency, merging = self._merged(places, n, directed=directed, self_loops=self_loops)
        separator = "; " if " = " in self.columns else ": "
        return (
            adjacency,
            f"{self.columns}{separator}{edges_line(adjacency, merging, has_direction=self.has_direction)}",
        )

    def _merged(
        self, places: NDArray[np.int64] | None, n: int, *, directed: bool, self_loops: bool
    ) -> tuple[Adjacency, Merging]:
        sources, targets = self.sources, self.targets
        if self.bounds is not None:
            weighted = self.weights is not None and not _all_ones(self.weights)
            listed = EdgeList(sources, targets, self.weights, places)
            return sorted_adjacency(
                listed, n, self.bounds, weighted=weighted, directed=directed, self_loops=self_loops
            )
        if places is not None:
            moved = places.astype(np.int32)
            sources, targets = moved[sources], moved[targets]
        values = np.ones(len(sources), bool) if self.weights is None else self.weights
        matrix = sp.coo_array((values, (sources, targets)), shape=(n, n))
        return merge_edges(matrix, directed=directed, self_loops=self_loops)


class BadEdgeError(InputError):
    """An edge without an id or with a bad weight; only its row is known, not its line in a file."""

    row = 0
    explanation = ""

    def placed(self, place: str) -> InputError:
        """The same error with a more precise place."""
        return InputError(f"{place}{self.explanation}")


def number_edges(
    duck: Any,
    query: str,
    parameters: list[Any],
    where: str,
    progress: RowsRead | None = None,
    bounds: Bounds | None = None,
    *,
    weighted: bool = False,
    as_text: bool = False,
) -> Edges:
    """Edges from a query with the columns c0, c1 and, if there are weights, c2: source, target, weight.

    With ``as_text`` ids of any kind are kept as text.
    """
    allocate = (bounds or Bounds()).allocate
    named = "c0 AS source, c1 AS target" + (", c2 AS weight" if weighted else "")
    temporary = "TEMPORARY" if bounds is None else ""  # for a database in memory; see one_database
    _rows(duck, f"CREATE {temporary} TABLE edges AS SELECT {named} FROM ({query})", parameters)
    kinds = {row[0]: row[1] for row in _rows(duck, "DESCRIBE edges")}
    notes = _without_blanks(duck, [name for name in ("source", "target") if kinds[name] == "VARCHAR"], where)
    _refuse_missing_ids(duck, where)
    notes += [] if as_text else _without_point_zero(duck, kinds, where)
    kind = _cast_ids(duck, kinds, where, as_text=as_text)
    ((count,),) = _rows(duck, "SELECT count(*) FROM edges")
    dense = _dense_numbers(duck, count, allocate) if kind == "BIGINT" and count else None
    listed = f"edges.rowid, source, target{', weight' if weighted else ''} FROM edges"
    if dense is None:
        _rows(
            duck,
            f"CREATE {temporary} TABLE nodes AS "
            "SELECT id, (row_number() OVER (ORDER BY first) - 1)::INTEGER AS number FROM "
            "(SELECT id, min(place) AS first FROM (SELECT source AS id, 2 * rowid AS place FROM edges "
            "UNION ALL SELECT target, 2 * rowid + 1 FROM edges) GROUP BY id)",
        )
        listed = listed.replace("source, target", "a.number, b.number")
        listed += " JOIN nodes a ON edges.source = a.id JOIN nodes b ON edges.target = b.id"
    sources, targets = allocate((count,), np.int32), allocate((count,), np.int32)
    weights = allocate((count,), np.float64) if weighted else None
    done = 0
    for batch in duck.sql(f"SELECT {listed}").to_arrow_reader(_ROWS):
        place, *ends = (np.asarray(batch.column(column)) for column in range(3))
        if dense is not None:
            if place[0] != done or place[-1] != done + len(place) - 1:
                raise AssertionError("DuckDB returned the rows of a table in another order")
            ends = [*dense.of_pairs(*ends)]
        sources[place], targets[place] = ends
        if weights is not None:
            weights[place] = batch.column(3).to_numpy(zero_copy_only=False)
        done += len(place)
        if progress is not None:
            progress(len(place))
    if dense is None:
        ids = duck.sql("SELECT id FROM nodes ORDER BY number").to_arrow_table().column(0)
    else:
        ids = dense.ids
    if len(ids) > MAX_NODES:
        raise InputError(f"{where}: at most {MAX_NODES} nodes are supported; found {len(ids)} different ids")
    edges = Edges(id_column(ids, f"{where}: ids"), sources, targets, weights, notes, bounds)
    edges.notes += _written_twice(edges.ids, where)
    check_weights(edges, where)
    return edges


def _written_twice(ids: Any, where: str) -> list[str]:
    """A note if some ids are written both as 1.0 and as 1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(ids.type):
        return []
    fractions = ids.filter(pc.ends_with(ids, ".0"))
    whole = pc.utf8_slice_codeunits(fractions, 0, -2)
    both = np.flatnonzero(positions(ids, whole) >= 0)
    if not len(both):
        return []
    first = whole[int(both[0])].as_py()
    return [
        f"{where}: {len(both):,} ids are written in two ways, such as {first!r} and '{first}.0', and are "
        "different nodes; write them alike if they are the same"
    ]


def _cast_ids(duck: Any, kinds: dict[str, str], where: str, *, as_text: bool) -> str:
    """Give both columns of ids the same type, and return it: BIGINT or VARCHAR."""
    wanted = dict.fromkeys(("source", "target"), "VARCHAR")
    if not as_text:
        wanted = {column: _id_kind(duck, column, kinds[column], where) for column in wanted}
    if len(set(wanted.values())) > 1:  # numbers in one column, text in the other
        wanted = dict.fromkeys(wanted, "VARCHAR")
    for column, kind in wanted.items():
        if kind != kinds[column]:
            floats = kinds[column].startswith((*_FLOATS, "DECIMAL")) and not as_text
            whole = f"{column}::BIGINT" if floats else column
            _rows(duck, f"ALTER TABLE edges ALTER {column} TYPE {kind} USING {whole}::{kind}")
    return wanted["source"]


def _dense_numbers(duck: Any, count: int, allocate: Allocate) -> DenseNumbers | None:
    """Numbers for ids that lie close together."""
    extent = "min(least(source, target)), max(greatest(source, target))"
    ((low, high),) = _rows(duck, f"SELECT {extent} FROM edges")
    return DenseNumbers(low, high, allocate) if is_dense(low, high, count) else None


def _all_ones(weights: NDArray[np.float64]) -> bool:
    parts = (weights[begin : begin + _ROWS] for begin in range(0, len(weights), _ROWS))
    return all((part[part != 0] == 1).all() for part in parts)


def _id_kind(duck: Any, column: str, kind: str, where: str) -> str:
    """The type that a column of ids is compared as: BIGINT or VARCHAR."""
    if kind in _FLOATS or kind.startswith("DECIMAL"):
        odd = f"{column} <> floor({column}) OR abs({column}) >= 2.0 ** 53"
        ((bad,),) = _rows(duck, f"SELECT first({column}) FROM edges WHERE {odd}")
        if bad is not None:
            raise InputError(
                f"{where}: the {column} id {bad} is not a whole number; if these are ids, set ",
                Parameter("id_type", "text"),
            )
        return "BIGINT"
    if kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"):
        return "BIGINT"
    if kind in ("VARCHAR", "UBIGINT", "HUGEINT", "UHUGEINT", "UUID") or kind.startswith("ENUM"):
        return "VARCHAR"
    raise InputTypeError(f"{where}: ids must be whole numbers or strings; the {column} column holds {kind}")


def _rows(duck: Any, query: str, parameters: list[Any] | None = None) -> list[Any]:
    """Run a statement to its end."""
    return list(duck.execute(query, parameters or []).fetchall())


def _without_blanks(duck: Any, columns: Sequence[str], where: str) -> list[str]:
    """Remove blanks around ids, which never count; an id of blanks alone is missing."""
    count, example = 0, ""
    for column in columns:
        trimmed = f"trim({column}, $1)"
        ((n, some),) = _rows(
            duck, f"SELECT count(*), min({column}) FROM edges WHERE {column} <> {trimmed}", [BLANKS]
        )
        if n:
            count, example = count + n, some
            _rows(
                duck,
                f"UPDATE edges SET {column} = nullif({trimmed}, '') WHERE {column} <> {trimmed}",
                [BLANKS],
            )
    return [blanks_line(where, count, example)] if count else []


def _without_point_zero(duck: Any, kinds: dict[str, str], where: str) -> list[str]:
    """Drop the final .0 of all ids in one column if those in the other are whole numbers without it."""
    for column, other in (("source", "target"), ("target", "source")):
        ends = _rows(duck, f"SELECT {column}::VARCHAR FROM edges LIMIT 1")
        if kinds[column] != "VARCHAR" or not ends or not POINT_ZERO.fullmatch(ends[0][0]):
            continue
        ((differ,),) = _rows(
            duck,
            f"SELECT bool_and(regexp_full_match({column}, '{POINT_ZERO.pattern}') "
            f"AND regexp_full_match({other}::VARCHAR, '-?[0-9]+')) FROM edges",
        )
        if differ:
            _rows(duck, f"UPDATE edges SET {column} = {column}[:-3]")
            return [whole_note(f"{where}: {column}")]
    return []


def _refuse_missing_ids(duck: Any, where: str) -> None:
    ((row, source),) = _rows(
        duck,
        "SELECT min(rowid), first(source IS NULL ORDER BY rowid) FROM edges "
        "WHERE source IS NULL OR target IS NULL",
    )
    if row is not None:
        name = "source" if source else "target"
        raise _bad_edge(where, row, f": the {name} id is missing; fill it in, or delete the row")


def check_weights(edges: Edges, where: str) -> None:
    """Refuse weights that are missing, negative or too large, naming the first."""
    weights = edges.weights
    if weights is None:
        return
    bad = ~((weights == 0) | ((weights >= SMALLEST) & (weights <= LARGEST)))
    if not bad.any():
        return
    row = int(np.flatnonzero(bad)[0])
    value = "missing or not a number" if np.isnan(weights[row]) else weights[row]
    a, b = (edges.ids[int(ends[row])].as_py() for ends in (edges.sources, edges.targets))
    allowed = f"weights are 0, or numbers from {SMALLEST:.0e} to {LARGEST:.0e}"
    raise _bad_edge(where, row, f" ({a!r} → {b!r}): the weight is {value}; {allowed}")


def _bad_edge(where: str, row: int, explanation: str) -> BadEdgeError:
    error = BadEdgeError(f"{where}: edge {row + 1}{explanation}")
    error.row, error.explanation = row, explanation
    return error


def edges_from_columns(sources: Any, targets: Any, weights: Any = None, where: str = "edges") -> Edges:
    """Edges from two columns of ids and, if there are any, weights."""
    import pyarrow as pa

    columns = {"c0": id_column(sources, f"{where}: sources"), "c1": id_column(targets, f"{where}: targets")}
    notes = [*blanks_note(sources, f"{where}: sources"), *blanks_note(targets, f"{where}: targets")]
    if weights is not None:
        columns["c2"] = pa.array(numbers_of(weights, f"{where}: weights"))
    lengths = {name: len(column) for name, column in zip(_MEANINGS, columns.values(), strict=False)}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{count} {name}s" for name, count in lengths.items())
        raise InputError(f"{where}: columns differ in length: {shown}")
    with duckdb_connection() as duck:
        duck.register("given", pa.table(columns))
        edges = number_edges(duck, "SELECT * FROM given", [], where, weighted=weights is not None)
    edges.notes += notes
    return edges
