"""DuckDB's errors in one line: which file, which line, what to do; recognised by type, not by wording."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nafs._support.errors import InputError, MemoryLimitError, Parameter, Part

_LONGEST = 80  # characters of a value in a message
_TEXT_REASONS: tuple[tuple[str, tuple[Part, ...]], ...] = (
    (
        r"Expected Number of Columns: (?P<wanted>\d+) Found: (?P<found>\d+)",
        (
            "{found} instead of {wanted} columns; correct the row, or set ",
            Parameter("delimiter"),
            ", or ",
            Parameter("comment"),
            " if this line is a comment",
        ),
    ),
    (
        r'converting column "(?P<column>.*)"\. Could not convert string "(?P<value>-?\d+,\d+)" to',
        ("{value!r} in column {column!r} has a decimal comma; write it with a point, as 0.5",),
    ),
    (
        r'converting column "(?P<column>.*)"\. Could not convert string "(?P<value>.*)" to',
        (
            "{value!r} in column {column!r} is not a number; correct it, leave the column out (",
            Parameter("ignore"),
            "; for weights ",
            Parameter("weight", False),
            "), or say that it holds labels (",
            Parameter("label_column"),
            ")",
        ),
    ),
    (r"(?i)not utf-8|unicode", ("this is not UTF-8 text; convert it, or check that it is a text table",)),
    (r"(?i)CSV Error(.|\n)*quote", ("a quoted value does not end; close or double the quote sign",)),
    (
        r"(?i)state machine reached an invalid state",
        (
            "its lines cannot be told apart: perhaps some end in CRLF and others in LF; write all alike, "
            "such as with dos2unix",
        ),
    ),
    (r"(?i)maximum line size", ("a line is too long; is this a text table?",)),
)
_PARQUET_REASONS: tuple[tuple[str, tuple[Part, ...]], ...] = (
    (r"(?i)schema mismatch|Failed to cast|Can't combine", ("the files do not have the same columns",)),
    (r"(?P<what>.+)", ("damaged or incomplete Parquet file ({what})",)),
)


def explain(
    error: Exception, where: str, *, text: bool, names: Mapping[str, str] | None = None
) -> BaseException:
    """The error to raise in place of one of DuckDB or Arrow.

    Parameters
    ----------
    error : Exception
    where : str
        What to call the table.
    text : bool
        Whether it is a text table.
    names : mapping, optional
        What to call the files that DuckDB opened.
    """
    import duckdb

    message = str(error)
    # DuckDB reports Ctrl-C as a plain RuntimeError with exactly these words.
    if isinstance(error, duckdb.InterruptException) or (
        type(error) is RuntimeError and message == "Query interrupted"
    ):
        return KeyboardInterrupt()
    match = re.search(r"^\s*file = (.+)$", message, re.M)
    file = (names or {}).get(match[1], match[1]) if match else where
    line = f", line {match[1]}" if (match := re.search(r"CSV Error on Line: (\d+)", message)) else ""
    if isinstance(error, duckdb.OutOfMemoryException):
        return MemoryLimitError(
            f"{file}: reading needs more memory than it may take ({_first_line(message)}); raise ",
            Parameter("memory_limit"),
        )
    if isinstance(error, duckdb.IOException) and _is_full(message):
        return OSError(f"{file}: no room for sorting on disk ({_first_line(message)}); make room")
    for pattern, reason in _TEXT_REASONS if text else _PARQUET_REASONS:
        if match := re.search(pattern, message):
            words = {name: shortened(word or "") for name, word in match.groupdict().items()}
            parts = [part.format(**words) if isinstance(part, str) else part for part in reason]
            if line == ", line 1":
                parts += ["; if line 1 names the columns, set ", Parameter("header", True)]
            return InputError(f"{file}{line}: ", *parts)
    return InputError(f"{file}{line}: cannot be read ({_first_line(message)})")


def _is_full(message: str) -> bool:
    """Whether an I/O error of DuckDB reports a full disk; the matched part of its text holds no user data."""
    return (
        re.search(r'(?i)^IO Error: (could not write|.*failed to .*write|[^"]*no space left)', message)
        is not None
    )


def shortened(value: str, longest: int = _LONGEST) -> str:
    """A value for a message, cut if it is long."""
    return value if len(value) <= longest else f"{value[:longest]}..."


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:300] if text.strip() else "no reason given"
