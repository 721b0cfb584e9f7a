"""How a text table is written: its delimiter, comments and header, judged by its first lines."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from nafs._support.errors import InputError, Parameter
from nafs.readers.roles import names_columns

_DELIMITERS = ("\t", ";", "|", ",", " ")
_COMMENTS = ("#", "%")


@dataclass(frozen=True)
class Dialect:
    """How a text table is to be read."""

    delimiter: str
    skip: int  # lines above the table
    header: bool
    names: tuple[str, ...]
    unnamed: frozenset[str] = frozenset()  # columns whose header is blank
    trim: bool = False  # whether blanks around values are ignored
    comments: int = 0  # lines that were skipped as comments


def judge(
    lines: Sequence[str],
    where: str,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
) -> Dialect:
    """The dialect of a table, judged by its first lines; what the caller sets is not questioned.

    Lines above the first row that start with ``#`` or ``%`` are comments; ``comment=""`` means that there are
    none. Further down, only lines that start with the caller's ``comment`` are comments.

    Examples
    --------
    >>> from nafs.readers.dialect import judge
    >>> dialect = judge(["# a comment", "source;target", "1;2"], "edges.csv")
    >>> dialect.delimiter, dialect.skip, dialect.header, dialect.names
    (';', 1, True, ('source', 'target'))
    """
    lines = [line.removeprefix("\ufeff").rstrip("\r") for line in lines]
    signs = _COMMENTS if comment is None else (comment,) if comment else ()
    first = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith(signs)), None)
    if first is None:
        if not any(line.strip() for line in lines):
            raise InputError(f"{where}: the file is empty")
        raise InputError(
            f"{where}: all of its lines start with a comment sign; if they hold ids, set ",
            Parameter("comment", ""),
        )
    comments = sum(line.startswith(signs) for line in lines[:first]) if signs else 0
    rows = [line for line in lines[first:] if line.strip() and not (comment and line.startswith(comment))]
    if rows[0].lstrip()[0] in "{[":
        _refuse_json(rows[0], where)
    delimiter = delimiter or _likely_delimiter(rows, where)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(
            Parameter("delimiter"), f" must be one character, such as ',' or '\\t'; got {delimiter!r}"
        )
    table = [_split(row, delimiter) for row in rows]
    trim = any(_has_outer_blanks(row, delimiter) for row in rows)
    if header is None:
        header = _has_header(table)
    if not header:
        names = tuple(f"column{i + 1}" for i in range(len(table[0])))
        return Dialect(delimiter, first, False, names, trim=trim, comments=comments)
    names = tuple(name.strip() or f"column{i + 1}" for i, name in enumerate(table[0]))
    lower: dict[str, str] = {}
    for name in names:
        before = lower.get(name.lower())
        if before is not None:
            both = f"columns {before!r} and {name!r}, alike but for capitals"
            twice = f"column {name!r} twice" if before == name else both
            raise InputError(f"{where}: the header names the {twice}; rename one")
        lower[name.lower()] = name
    blank = frozenset(name for name, written in zip(names, table[0], strict=True) if not written.strip())
    return Dialect(delimiter, first, True, names, blank, trim, comments)


def _refuse_json(line: str, where: str) -> None:
    text = line.strip()
    if text[0] == "{" or text in ("[", "[]") or text[1:].lstrip()[:1] in ("{", "["):
        raise InputError(
            f"{where}: this looks like JSON, not a text table; convert it to CSV or Parquet, such as with "
            "pandas.read_json"
        )


def _split(line: str, delimiter: str) -> list[str]:
    if '"' not in line:  # the csv module has a limit on the length of a field
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def _has_outer_blanks(line: str, delimiter: str) -> bool:
    if delimiter == " ":
        return False
    fields = line.split(delimiter) if '"' not in line else _unquoted(line, delimiter)
    return any(field != field.strip(" ") for field in fields if field.strip(" "))


def _unquoted(line: str, delimiter: str) -> list[str]:
    """The fields of a line; text in quotes is replaced by letters, so that it holds no delimiter."""
    plain, inside = [], False
    for sign in line:
        inside ^= sign == '"'
        plain.append("x" if inside or sign == '"' else sign)
    return "".join(plain).split(delimiter)


def _likely_delimiter(rows: list[str], where: str) -> str:
    """The delimiter that splits every row into the same number of columns, and the most; blanks last."""
    counts = {sign: [len(_split(row, sign)) for row in rows] for sign in _DELIMITERS}
    alike = [sign for sign in _DELIMITERS if counts[sign][0] > 1 and len(set(counts[sign])) == 1]
    if "\t" in alike and ".tsv" in where.lower():
        return "\t"
    if alike:
        return max(alike, key=lambda sign: (sign != " ", counts[sign][0]))
    return next((sign for sign in _DELIMITERS if counts[sign][0] > 1), ",")


def _has_header(table: list[list[str]]) -> bool:
    """Whether the first row has known names or words above numbers, and none of its words recur below."""
    first = table[0]
    others = [row for row in table[1:] if row != first]  # a repeated header is still a header
    below = [[row[i].strip() for row in others if i < len(row) and row[i].strip()] for i in range(len(first))]
    values = {value for column in below for value in column}
    if any(field.strip() in values for field in first if not is_number(field)):
        return False
    if names_columns([field.strip() for field in first]):
        return True
    if any(is_number(field) for field in first):
        return False
    return any(2 * sum(map(is_number, column)) > len(column) for column in below)


def is_number(text: str) -> bool:
    """Whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
