"""The kind of each column of a table, as skrub's TableVectorizer recognises it, and its values.

Numbers and dates may be written as text. Digits with leading zeros, such as postcodes, are words. Words are
categories, text, or ids, which carry no information. The same functions read the values when an encoder is
fitted and when it encodes new rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import MissingExtraError
from nafs.graph.labels import MARKS, PERHAPS_MARKS

_FEW = 40  # number of distinct values; columns with fewer are categories
_WORDS = 1.5  # words per value on average; columns with more are text
_DIFFERENT = 0.95  # from this share of distinct values on, single words count as ids
_NUMERIC, _DATE = "numeric", "datetime"  # skrub's names
_DATES = re.compile(  # with a year, first or last
    r"(19|20)\d\d([-/. ])\d{1,2}\2\d{1,2}\b.*|\d{1,2}([-/. ])\d{1,2}\3(19|20)\d\d\b.*"
    r"|(0[1-9]|[12]\d|3[01])([/.])(0[1-9]|[12]\d|3[01])\6\d\d"
    r"|.*\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b[ .,]*(\d{1,2}[ .,]+)?(19|20)\d\d\b.*",
    re.IGNORECASE,
)
_TRUTH = {"true": "1", "false": "0"}
ZERO_PADDED = r"0[0-9]+"  # a code rather than a number
MISSING_MARKS = (*MARKS, *PERHAPS_MARKS)  # of missing numbers and dates


@dataclass(frozen=True)
class Kind:
    """A column's kind and why; for dates also their format, so that new rows are read in the same way."""

    name: str
    kind: str
    why: str
    date_format: str | None = None


def find_kinds(table: Any, forced: dict[str, str]) -> list[Kind]:
    """The kind of every column.

    Parameters
    ----------
    table : Arrow table
    forced : dict
        Kinds that the user chose, by column: "text", "category" or "ignored".
    """
    written = {name: _written(table[name]) for name in table.column_names if name not in forced}
    codes = {name for name, values in written.items() if are_codes(values)}
    numbers = {name for name, values in written.items() if name not in codes and _are_numbers(values)}
    known = [name for name in table.column_names if name in forced or name in numbers or name in codes]
    kinds, formats = _ask_skrub(table.drop_columns(known))
    columns = []
    for name in table.column_names:
        if name in forced:
            columns.append(Kind(name, forced[name], "as requested"))
        elif name in numbers:
            columns.append(Kind(name, "number", "all values are numbers"))
        elif name in codes:
            columns.append(_kind_of_words(name, read_values(table[name], "text")))
        elif name not in kinds:
            columns.append(Kind(name, "ignored", "it has no values"))
        elif kinds[name] == _DATE:
            columns.append(Kind(name, "date", "all values are dates", formats.get(name)))
        elif kinds[name] == _NUMERIC:
            columns.append(Kind(name, "number", "all values are numbers"))
        else:
            columns.append(_kind_of_words(name, read_values(table[name], "text")))
    return columns


def _written(column: Any) -> list[str]:
    """The values of a column of text that are not missing; nothing for other columns."""
    import pyarrow as pa

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return []
    return [value for value in read_values(column, "text") if value is not None]


def _are_numbers(values: list[str]) -> bool:
    """Whether all values of a column of text are numbers, or true and false.

    Files hold them as text and frames do not; both must be read alike, years in particular, which skrub takes
    for dates in text.
    """
    return bool(values) and all(value.lower() in _TRUTH or _is_number(value) for value in values)


def are_codes(values: Iterable[str]) -> bool:
    """Whether all values are digits and some have leading zeros, as postcodes do.

    Examples
    --------
    >>> from nafs.tables.kinds import are_codes
    >>> are_codes(["01067", "80331"]), are_codes(["1067", "0"]), are_codes(["007", "1.5"])
    (True, False, False)
    """
    padded = False
    for value in values:
        if not (value.isascii() and value.isdigit()):
            return False
        padded = padded or (value[0] == "0" and len(value) > 1)
    return padded


def _is_number(value: str) -> bool:
    try:
        return np.isfinite(float(value)) and "_" not in value
    except ValueError:
        return False


def in_words(date_format: str) -> str:
    """A format of dates for people.

    Examples
    --------
    >>> from nafs.tables.kinds import in_words
    >>> in_words("%d/%m/%Y %H:%M")
    'day/month/year hour:minute'
    """
    names = {"%Y": "year", "%y": "year", "%m": "month", "%b": "month", "%B": "month", "%d": "day"}
    names |= {"%H": "hour", "%I": "hour", "%M": "minute", "%S": "second", "%f": "fraction", "%z": " zone"}
    return re.sub("%.", lambda code: names.get(code[0], code[0]), date_format)


def other_reading(column: Any, date_format: str) -> str | None:
    """The format with day and month swapped, if it reads all dates of a column too."""
    import pandas as pd

    swapped = re.sub("%[dm]", lambda code: {"%d": "%m", "%m": "%d"}[code[0]], date_format)
    if swapped == date_format or date_format.startswith("%Y"):
        return None
    dates = column.drop_null().to_pandas()
    dates = dates[[str(value).strip().lower() not in MISSING_MARKS for value in dates]]
    readings = [
        pd.to_datetime(dates, format=how, errors="coerce", utc=True) for how in (date_format, swapped)
    ]
    if readings[1].isna().any() or (readings[0] == readings[1]).all():
        return None
    return swapped


def looks_like_dates(values: NDArray[Any]) -> bool:
    """Whether nearly all words are dates, in whatever format."""
    present = [value for value in values if value is not None]
    return bool(present) and sum(bool(_DATES.fullmatch(value)) for value in present) >= 0.9 * len(present)


def _ask_skrub(table: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Kinds of columns by skrub's names, and the formats of dates; empty columns are left out."""
    if not table.num_columns:
        return {}, {}
    try:
        from skrub import TableVectorizer
    except ImportError:
        raise MissingExtraError(
            "columns of words, dates or missing values need skrub: pip install 'nafs[tables]'"
        ) from None
    vectorizer = TableVectorizer(
        cardinality_threshold=_FEW,
        low_cardinality="passthrough",
        high_cardinality="passthrough",
        numeric="passthrough",
        datetime="passthrough",
    )
    vectorizer.fit(table.to_pandas())
    formats = {}
    for name, steps in vectorizer.all_processing_steps_.items():
        date_formats = [step.format_ for step in steps if getattr(step, "format_", None) is not None]
        if date_formats:
            formats[str(name)] = str(date_formats[-1])
    return {str(name): str(kind) for name, kind in vectorizer.column_to_kind_.items()}, formats


def _kind_of_words(name: str, values: NDArray[Any]) -> Kind:
    present = [value for value in values if value is not None]
    distinct = len(set(present))
    if distinct < _FEW:
        return Kind(name, "category", f"{distinct} different values")
    if np.mean([len(value.split()) for value in present]) >= _WORDS:
        return Kind(name, "text", "values of several words")
    if distinct >= _DIFFERENT * len(present):
        return Kind(name, "ignored", "nearly every value is different, as in a column of ids")
    return Kind(name, "category", f"{distinct} different values of one word")


def read_values(column: Any, kind: str, date_format: str | None = None) -> NDArray[Any]:
    """Values of an Arrow column: numbers, seconds since 1970 (NaN where missing), or strings and None.

    Blanks around words are ignored, in data frames as in CSV files.
    """
    if kind == "number":
        return _as_numbers(column.to_pandas())
    if kind == "date":
        return _as_seconds(column.to_pandas(), date_format)
    values = np.empty(len(column), object)
    for i, value in enumerate(column.to_pylist()):
        missing = value is None or value != value  # noqa: PLR0124 - NaN differs from itself
        values[i] = None if missing else str(value).strip() or None
    return values


def _as_numbers(series: Any) -> NDArray[np.float64]:
    import pandas as pd

    if series.dtype.kind not in "biuf":
        series = pd.Series([_TRUTH.get(str(value).lower(), value) for value in series], dtype=object)
    return np.asarray(pd.to_numeric(series, errors="coerce").astype("float64"))


def _as_seconds(series: Any, date_format: str | None) -> NDArray[np.float64]:
    import pandas as pd

    times = pd.to_datetime(series, errors="coerce", format=date_format, utc=True)
    seconds = times.dt.tz_localize(None).to_numpy("datetime64[us]").astype(np.int64) / 1e6
    return np.asarray(np.where(times.isna(), np.nan, seconds))
