"""Evidence from the values of columns: which of them may hold the ends of edges. Counted by DuckDB."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

MEASUREMENT = r"^-?[0-9]*\.[0-9]*[1-9][0-9]*(e-?[0-9]+)?$"  # a number with a fraction
_DENSE = 10  # numbers whose span is below this many times their count may share values by chance


class Evidence:
    """How many different values columns hold, and how many they share.

    Parameters
    ----------
    duck : DuckDB connection
    query : str
        Selects the columns; all are compared as text.
    parameters : list
        Of the query.
    kinds : dict
        DuckDB's type of each column, in the order of the query.
    """

    def __init__(self, duck: Any, query: str, parameters: list[Any], kinds: dict[str, str]) -> None:
        self.duck = duck
        self.columns = [name for name, kind in kinds.items() if _may_hold_ids(kind)]
        places = {name: f"c{i}" for i, name in enumerate(kinds)}
        texts = ", ".join(f"{_as_text(places[name], kinds[name])} AS {places[name]}" for name in self.columns)
        self._run(
            f"CREATE OR REPLACE TEMP TABLE looked_at AS SELECT {texts or 'NULL'} FROM ({query})", parameters
        )
        ((self.rows,),) = self._run("SELECT count(*) FROM looked_at")
        self._facts = {name: self._count(places[name]) for name in self.columns}
        self._shared = {
            (a, b): self._common(places[a], places[b]) for a, b in itertools.combinations(self.columns, 2)
        }

    def _run(self, query: str, parameters: list[Any] | None = None) -> list[Any]:
        return list(self.duck.execute(query, parameters or []).fetchall())

    def _count(self, place: str) -> tuple[int, int, int, float | None]:
        """Values, different values, measurements, and the span where all are whole numbers."""
        query = (
            f"SELECT count({place}), count(DISTINCT {place}), "
            f"count(*) FILTER (regexp_matches({place}, '{MEASUREMENT}')), "
            f"CASE WHEN count(TRY_CAST({place} AS HUGEINT)) = count({place}) "
            f"THEN (max(TRY_CAST({place} AS HUGEINT)) - min(TRY_CAST({place} AS HUGEINT)))::DOUBLE END "
            "FROM looked_at"
        )
        ((values, different, fractions, span),) = self._run(query)
        return values, different, fractions, span

    def _common(self, a: str, b: str) -> int:
        common = f"SELECT {a} FROM looked_at WHERE {a} IS NOT NULL INTERSECT SELECT {b} FROM looked_at"
        ((count,),) = self._run(f"SELECT count(*) FROM ({common})")
        return int(count)

    def may_be_ends(self, name: str) -> bool:
        """Whether a column could hold ends of edges: whole numbers or words."""
        if name not in self._facts:
            return False
        values, _, fractions, _ = self._facts[name]
        return values > 0 and fractions <= 0.4 * values

    def is_unique(self, name: str) -> bool:
        """Whether no value of a column is repeated."""
        values, different, *_ = self._facts[name]
        return values == different

    def shared(self, a: str, b: str) -> int:
        """How many different values two columns have in common."""
        return self._shared[(a, b) if (a, b) in self._shared else (b, a)]

    def likeness(self, a: str, b: str) -> float:
        """Number of shared values relative to those of either column."""
        common = self.shared(a, b)
        return common / max(1, self._facts[a][1] + self._facts[b][1] - common)

    def by_chance(self, a: str, b: str) -> bool:
        """Whether two columns may share values only because both hold small numbers."""
        return all(
            span is not None and span + 1 < _DENSE * different
            for _, different, _, span in (self._facts[a], self._facts[b])
        )

    def pairs(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs of columns that share any value."""
        usable = [name for name in names if self.may_be_ends(name)]
        return [pair for pair in itertools.combinations(usable, 2) if self.shared(*pair)]


def _may_hold_ids(kind: str) -> bool:
    plain = (
        "VARCHAR",
        "UUID",
        "ENUM",
        "DECIMAL",
        "FLOAT",
        "DOUBLE",
        "HUGEINT",
        "UHUGEINT",
        "BIGINT",
        "UBIGINT",
    )
    return kind.startswith((*plain, "INTEGER", "UINTEGER", "SMALLINT", "USMALLINT", "TINYINT", "UTINYINT"))


def _as_text(place: str, kind: str) -> str:
    if kind.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
        whole = f"{place} = floor({place}) AND abs({place}) < 9007199254740992"
        return f"CASE WHEN {whole} THEN {place}::BIGINT::VARCHAR ELSE '0.5' END"  # a measurement
    return f"{place}::VARCHAR"
