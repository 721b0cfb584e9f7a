"""How a text table is written: its delimiter, comments and header, judged by its first lines."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from nafs.readers.columns import HEADER_WORDS

_DELIMITERS = ("\t", ";", "|", ",", " ")
_COMMENTS = ("#", "%")


@dataclass(frozen=True)
class Dialect:
    """What DuckDB is told about a text table."""

    delimiter: str
    comment: str  # sign of comment lines further down; it would end a line anywhere
    skip: int  # lines of comments at the top
    header: bool
    names: tuple[str, ...]
    unnamed: frozenset[str] = frozenset()  # columns whose header is blank


def judge(
    lines: Sequence[str],
    where: str,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
) -> Dialect:
    """The dialect of a table from its first lines; what the caller knows is taken as said.

    Examples
    --------
    >>> from nafs.readers.dialect import judge
    >>> found = judge(["# a comment", "source;target", "1;2"], "edges.csv")
    >>> found.delimiter, found.skip, found.header, found.names
    (';', 1, True, ('source', 'target'))
    """
    lines = [line.removeprefix("\ufeff").rstrip("\r") for line in lines]
    signs = _COMMENTS if comment is None else (comment,) if comment else ()
    first = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith(signs)), None)
    if first is None:
        raise ValueError(f"{where}: the file is empty{' but for comments' if any(lines) else ''}")
    further = comment or _further_comments(lines[first:], where)
    rows = [line for line in lines[first:] if line.strip() and not (further and line.startswith(further))]
    delimiter = delimiter or _likely_delimiter(rows, where)
    if len(delimiter) != 1:
        raise ValueError(f"the delimiter must be one character, such as ',' or '\\t'; got {delimiter!r}")
    table = [_split(row, delimiter) for row in rows]
    if header is None:
        header = _has_header(table)
    if not header:
        names = tuple(f"column{i + 1}" for i in range(len(table[0])))
        return Dialect(delimiter, further, first, False, names)
    names = tuple(name.strip() or f"column{i + 1}" for i, name in enumerate(table[0]))
    lower = [name.lower() for name in names]
    twice = next((name for name in names if lower.count(name.lower()) > 1), None)
    if twice is not None:
        raise ValueError(f"{where}: the header names the column {twice!r} twice; rename one")
    blank = frozenset(name for name, written in zip(names, table[0], strict=True) if not written.strip())
    return Dialect(delimiter, further, first, True, names, blank)


def _further_comments(lines: Sequence[str], where: str) -> str:
    """The sign of comments between rows, if there are any and it stands nowhere else."""
    sign = next((sign for sign in _COMMENTS if any(line.startswith(sign) for line in lines)), "")
    if sign and any(sign in line for line in lines if not line.startswith(sign)):
        raise ValueError(
            f"{where}: {sign!r} starts some lines and stands inside others, so comments cannot be told from "
            "values; remove the comments, or say what starts one (--comment)"
        )
    return sign


def _split(line: str, delimiter: str) -> list[str]:
    if '"' not in line:  # the csv module has a limit on the length of a field
        return line.split(delimiter)
    return next(csv.reader([line], delimiter=delimiter), [])


def _likely_delimiter(rows: list[str], where: str) -> str:
    """The delimiter that splits all rows alike, into most columns; blanks only where nothing else does."""
    counts = {sign: [len(_split(row, sign)) for row in rows] for sign in _DELIMITERS}
    alike = [sign for sign in _DELIMITERS if counts[sign][0] > 1 and len(set(counts[sign])) == 1]
    if "\t" in alike and ".tsv" in where.lower():
        return "\t"
    if alike:
        return max(alike, key=lambda sign: (sign != " ", counts[sign][0]))
    return next((sign for sign in _DELIMITERS if counts[sign][0] > 1), ",")


def _has_header(table: list[list[str]]) -> bool:
    """A first row with known words, or with words above columns of numbers; none that come again below."""
    first = table[0]
    rest = [row for row in table[1:] if row != first]  # a whole header that comes again is still one
    below = [[row[i].strip() for row in rest if i < len(row) and row[i].strip()] for i in range(len(first))]
    values = {value for column in below for value in column}
    if any(field.strip() in values for field in first if not _is_number(field)):
        return False
    words = [field.strip().lower() for field in first if field.strip().lower() in HEADER_WORDS]
    if len(words) > 1 or any(len(word) > 1 for word in words):  # a lone u, v, w or y may well be a name
        return True
    if any(_is_number(field) for field in first):
        return False
    return any(2 * sum(map(_is_number, column)) > len(column) for column in below)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
