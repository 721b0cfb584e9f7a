"""Which column of a node table holds the ids.

A column with a common name is trusted, and so is a data frame's index if it has a name or holds words. Row
numbers that sorting or filtering left in an index are not ids. Without such a column, the values decide: the
id column is the only one that holds the ids of the edges. An ambiguous table is an error that names the
choices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs.graph.ids import BLANKS, as_arrow, check_unique, id_column, is_text, is_unique, positions
from nafs.graph.spellings import difference, whole_like

USUAL_IDS = ("id", "node", "node_id", "nodeid")
_NAMELESS = re.compile(r"__index_level_\d+__")  # Arrow's name of a pandas index without a name
_WRITTEN_INDEX = re.compile(r"Unnamed: \d+(\.\d+)*")  # pandas' name of an index that it wrote and read again
_MOSTLY = 0.5  # of the rows, or of the known ids, from which on a column is likely to hold the ids
_MOST_TRIED = 50  # columns that are searched for repeated ids
_FAR_LESS = 0.1  # columns with less than this part of the best column's share of known ids are not considered


@dataclass(frozen=True)
class Index:
    """The column that was the index of a data frame, and any further levels without a name."""

    column: str
    named: bool
    further: tuple[str, ...] = ()

    @property
    def levels(self) -> tuple[str, ...]:
        """All columns of the index."""
        return (self.column, *self.further)


class NoIdsError(InputError):
    """A table without a column of ids."""


def is_nameless(column: str) -> bool:
    """Whether a column is the unnamed index of a data frame."""
    return _NAMELESS.fullmatch(column) is not None


def has_usual_name(column: str) -> bool:
    """Whether a column is called as ids usually are, or is the unnamed index of a data frame."""
    return column.lower() in USUAL_IDS or is_nameless(column)


def written_index(columns: Sequence[str]) -> Index | None:
    """The column that pandas wrote as an index without a name, and that was read as any other.

    Examples
    --------
    >>> from nafs.graph.node_columns import written_index
    >>> written_index(["Unnamed: 0", "customer", "revenue"])
    Index(column='Unnamed: 0', named=False, further=())
    """
    leftover = [*filter(is_nameless, columns), *takewhile(_WRITTEN_INDEX.fullmatch, columns)]
    return Index(leftover[0], False, tuple(leftover[1:])) if leftover and len(columns) > 1 else None


def without_index(columns: Sequence[str], index: Index | None) -> list[str]:
    """All columns but those of an index."""
    levels = () if index is None else index.levels
    return [name for name in columns if name not in levels and not is_nameless(name)]


def table_of(frame: Any, where: str) -> Any:
    """Any data frame as an Arrow table."""
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, dict) or hasattr(frame, "__arrow_c_stream__"):
        try:
            return pa.table(frame)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InputTypeError(f"{where}: a column mixes kinds of values ({error})") from None
    raise InputTypeError(
        f"{where} must be a data frame (pandas, polars, pyarrow), a dict of columns or, for edges, a tuple "
        f"(sources, targets) or an array of shape (m, 2); got {type(frame).__qualname__}"
    )


def split_index(schema: Any) -> tuple[Index | None, range | None]:
    """The index that the pandas metadata of a schema describes, and its values if it is a range."""
    about = schema.pandas_metadata or {}
    columns = about.get("index_columns", ())
    if len(columns) != 1:
        return None, None
    index = columns[0]
    if isinstance(index, str):
        return (Index(index, not is_nameless(index)), None) if index in schema.names else (None, None)
    name = index.get("name") if isinstance(index, dict) else None
    if not isinstance(name, str) or name in schema.names:
        return None, None
    try:
        return Index(name, True), range(int(index["start"]), int(index["stop"]), int(index["step"]))
    except (KeyError, TypeError, ValueError):
        return None, None


def with_index(table: Any, where: str) -> tuple[Any, Index | None]:
    """The table with its pandas index as a column, and the name of that column."""
    import pyarrow as pa

    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{where}: the column name {twice!r} occurs twice; rename one")
    index, values = split_index(table.schema)
    if index is not None and values is not None and len(values) == table.num_rows:
        table = table.append_column(index.column, pa.array(np.arange(values.start, values.stop, values.step)))
    elif values is not None:
        index = None
    # Or pandas would make indexes of the columns again.
    return table.replace_schema_metadata(None), index or written_index(names)


def pick(names: Sequence[str], wanted: str | int | None, meaning: str, where: str) -> str | None:
    """The column that the user chose, by name or by number from 1; ``None`` if they did not."""
    if wanted is None or wanted in names:
        return None if wanted is None else str(wanted)
    if str(wanted).isdigit() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise InputError(f"{where}: no column {wanted!r} for the {meaning}; there are {listed(names, 12)}")


def choose_id(
    names: Sequence[str],
    load: Callable[[str], Any],
    known: Any,
    *,
    index: Index | None = None,
    wanted: str | int | None = None,
    likely: Callable[[], Sequence[str]] | None = None,
    where: str = "nodes",
    others: bool = False,
) -> str:
    """The column that holds the ids of nodes; where some are missing, :func:`id_column` will name the first.

    Parameters
    ----------
    names : sequence of str
        All columns but the index.
    load : callable
        Returns the values of a column.
    known : Arrow array or None
        Ids that the column should hold; ``None`` if they are not known.
    index : Index, optional
    wanted : str or int, optional
        The user's choice: a name, a number from 1, or "index".
    likely : callable, optional
        Returns the columns that are worth loading; by default all.
    where : str
        Name of the table in errors.
    others : bool
        Whether the table may hold ids that are not known.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.graph.node_columns import choose_id
    >>> columns = {"age": pa.array([7, 8]), "user": pa.array(["b", "a"])}
    >>> choose_id(list(columns), columns.get, pa.array(["a", "b", "c"]))
    'user'
    """
    levels, named = (index.levels, index.named) if index else ((), True)
    if wanted == "index" and len(levels) == 1 and "index" not in names:
        return levels[0]
    chosen = pick([*names, *levels], wanted, "ids", where)
    if chosen is not None:
        return chosen
    candidates = [name for name in names if name.lower() in USUAL_IDS]
    usual = bool(candidates)
    leftover = [name for name in levels if not named and _are_integers(load(name))]
    words = [name for name in levels if name not in leftover]
    groups = [] if named else [name for name in words if not may_be_ids(load(name))]
    rest = [] if usual else list(names if likely is None else likely())
    if groups and (len(levels) > 1 or any(_share(load(name), known) > 0 for name in rest)):
        words = [name for name in words if name not in groups]
    candidates += words
    if len(candidates) == 1 and (usual or len(levels) == 1):
        return candidates[0]
    if not usual and (len(levels) > 1 or not candidates):
        candidates += rest
        candidates += [name for name in leftover if len(levels) > 1 or not _counts_rows(load(name))]
    shares = _shares(candidates, load, known)
    if others and not any(shares.values()):
        shares = {name: _share(load(name), None) for name in candidates}
    best = max(shares.values(), default=0.0)
    rivals = [name for name, share in shares.items() if best > 0 and share >= _FAR_LESS * best]
    if len(rivals) == 1:
        return rivals[0]
    if rivals:
        both = " and ".join(_shown(name) for name in rivals[:4])
        raise InputError(
            f"{where}: {both} could each hold the ids of the nodes; name the right column with ",
            Parameter("id_column"),
        )
    if known is not None and len(known):
        tried = [*names[:_MOST_TRIED], *levels]
        gaps = next((name for name in tried if _holds_most(load(name), known)), None)
        if gaps is not None:
            return gaps
        _refuse_repeated(names, load, known, where)
    held = f" ({listed_values(known)})" if known is not None else ""
    first = [load(name)[:1].to_pylist() for name in names[:8]]
    values = ", ".join(repr(value) for row in first for value in row)
    raise NoIdsError(
        f"{where}: no column ({listed(names, 8)}) holds the ids of the edges{held}, each once; its first row "
        f"is {values:.200}; name the id column with ",
        Parameter("id_column"),
        "" if known is None else _other_spelling(names, load, known),
    )


def _other_spelling(names: Sequence[str], load: Callable[[str], Any], known: Any) -> str:
    """What to add to an error if a column holds the known ids in another spelling."""
    for name in names[:_MOST_TRIED]:
        try:
            ids = id_column(load(name), "")
        except (ValueError, TypeError):
            continue
        if _holds_fractions(ids):
            continue
        spelling = difference(ids, known) or difference(known, ids)  # either table may be the smaller one
        if spelling:
            return f"; {name!r} may hold them: {spelling}"
    return ""


def _holds_fractions(ids: Any) -> bool:
    """Whether a column holds numbers such as 0.5, so that it is no column of ids."""
    import pyarrow.compute as pc

    return is_text(ids) and bool(pc.any(pc.match_substring_regex(ids, r"^-?[0-9]*\.[0-9]*[1-9]")).as_py())


def _holds_most(column: Any, known: Any) -> bool:
    """Whether a column with missing values holds most of the known ids besides them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        values = as_arrow(column, "")
    except InputError:
        return False
    present = values.drop_null()
    if is_text(present):
        blank = pc.equal(pc.utf8_trim(present.cast(pa.large_string()), characters=BLANKS), "")
        present = present.filter(pc.invert(blank))
    return len(present) < len(values) and _share(present, known, spelled=False) > _MOSTLY


def _refuse_repeated(names: Sequence[str], load: Callable[[str], Any], known: Any, where: str) -> None:
    """Raise if a column would hold the ids but for some that are repeated, naming one and its rows."""
    for name in names[:_MOST_TRIED]:
        try:
            ids = id_column(load(name), "")
        except (ValueError, TypeError):
            continue
        ids = whole_like(ids, known)
        distinct = ids.unique()
        if len(distinct) < _MOSTLY * len(ids) or (positions(known, distinct) >= 0).mean() < _MOSTLY:
            continue
        check_unique(ids, f"{where}: column {name!r} holds ids of the edges, but not each once")


def _shown(name: str) -> str:
    return f"the index ({name!r})" if is_nameless(name) else repr(name)


def listed(names: Sequence[str], count: int = 8) -> str:
    """Some names for a message."""
    return ", ".join(repr(name) for name in names[:count]) + (", ..." if len(names) > count else "")


def listed_values(values: Any, count: int = 3) -> str:
    """Some values of an Arrow array for a message."""
    return ", ".join(repr(value) for value in values[:count].to_pylist()) + (
        ", ..." if len(values) > count else ""
    )


def may_be_ids(column: Any) -> bool:
    """Whether the values could be ids: whole numbers or words, none missing, none repeated."""
    return _share(column, None) > 0


def _shares(names: Sequence[str], load: Callable[[str], Any], known: Any) -> dict[str, float]:
    """Share of the known ids that each column holds; 1.0 stands for 1 if they are much larger then."""
    shares = {name: _share(load(name), known) for name in names}
    best = max(shares.values(), default=1.0)
    if known is None or best >= _MOSTLY:
        return shares
    whole = {name: _share(load(name), known, spelled=False) for name in names}
    return whole if best < _MOSTLY * max(whole.values()) else shares


def _share(column: Any, known: Any, *, spelled: bool = True) -> float:
    """Share of the known ids that a column holds; 0 if the column cannot hold ids.

    Unless they have to be spelled alike, 1.0 may stand for 1.
    """
    try:
        ids = id_column(column, "")
    except (ValueError, TypeError):
        return 0.0
    if not len(ids) or not is_unique(ids):
        return 0.0
    if known is None or not len(known):
        return 1.0
    if not spelled:
        ids, known = whole_like(ids, known), whole_like(known, ids)
    return float((positions(ids, known) >= 0).mean())


def _are_integers(column: Any) -> bool:
    import pyarrow as pa

    try:
        return bool(pa.types.is_int64(id_column(column, "").type))
    except (ValueError, TypeError):
        return False


def _counts_rows(column: Any) -> bool:
    """Whether whole numbers form a range, in any order."""
    steps = np.diff(np.sort(np.asarray(id_column(column, ""))))
    return bool(len(steps) == 0 or (steps == steps[0]).all())
