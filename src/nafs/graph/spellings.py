"""Other spellings of an id: zeros before and after numbers, case, blanks, punctuation and prefixes."""

from __future__ import annotations

import re
from typing import Any

from nafs.graph.ids import is_text, plain_numbers, positions

POINT_ZERO = re.compile(r"-?[0-9]+\.0")  # a whole number that a program wrote as a fraction
_MOSTLY = 0.5  # of the unknown ids that have to be known in another spelling
_DIFFERENCES = {
    "^0+([0-9])": "leading zeros only",
    r"^(-?[0-9]+)\.0$": "a final .0 only, which pandas adds to whole numbers beside missing ones",
}


def other_spellings(key: str, ids: Any, count: int = 3) -> list[str]:
    """Ids that differ from a key only in how they are written, then those with a prefix more or less.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.graph.spellings import other_spellings
    >>> ids = pa.array(["C-1492", "C-0042", "C-0420", "D-0042"])
    >>> other_spellings("c 42", ids), other_spellings("42", ids), other_spellings("B-7", ids)
    (['C-0042'], ['C-0042', 'D-0042'], [])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names = ids.cast(pa.large_string())
    plain = _plain(names)
    wanted = _plain(pa.array([key], pa.large_string()))[0].as_py()
    if not wanted:
        return []
    same = names.filter(pc.equal(plain, wanted))[:count].to_pylist()
    if same:
        return list(same)
    if wanted.isdigit():  # the id may have a prefix
        return list(names.filter(pc.match_substring_regex(plain, rf"^\D+{wanted}$"))[:count].to_pylist())
    digits = wanted.lstrip("".join(sign for sign in wanted if not sign.isdigit()))
    return list(names.filter(pc.equal(plain, digits))[:count].to_pylist()) if digits.isdigit() else []


def difference(ids: Any, unknown: Any) -> str:
    """What most of the unknown ids differ in from known ones, and what to do; nothing if it is not spelling.

    Ids of the second array that are known count for nothing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.graph.spellings import difference
    >>> difference(pa.array([7, 8]), pa.array(["007", "008"]))
    'they differ in leading zeros only: write the ids alike in both tables'
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(ids) and not is_text(unknown):  # whole numbers have one spelling
        return ""
    unknown = unknown.filter(pa.array(positions(ids, unknown) < 0))
    digits = pc.match_substring_regex(unknown.cast(pa.large_string()), "^-?[0-9]")
    if not len(unknown) or pc.mean(digits.cast(pa.int8())).as_py() <= _MOSTLY:
        return ""
    for pattern, words in _DIFFERENCES.items():
        known, wanted = (
            pc.replace_substring_regex(values.cast(pa.large_string()), pattern, r"\1")
            for values in (ids, unknown)
        )
        if (positions(known, wanted) >= 0).mean() > _MOSTLY:
            return f"they differ in {words}: write the ids alike in both tables"
    return ""


def whole_like(ids: Any, known: Any) -> Any:
    """Ids that are all written as 1.0 as whole numbers, if known ids are, or if only then some are known.

    Others are unchanged. Pandas writes whole numbers like this if the column has missing values, or had some.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.graph.spellings import whole_like
    >>> whole_like(pa.array(["7.0", "8.0"]), pa.array([8, 9])).to_pylist()
    [7, 8]
    >>> whole_like(pa.array(["7.0"]), pa.array([8, 9])).to_pylist()
    [7]
    >>> whole_like(pa.array(["7.0", "8.0"]), pa.array(["8.0", "8.1"])).to_pylist()
    ['7.0', '8.0']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(ids) or not len(ids) or ids.null_count or not POINT_ZERO.fullmatch(ids[0].as_py()):
        return ids
    text = ids.cast(pa.large_string())
    if not pc.all(pc.match_substring_regex(text, f"^{POINT_ZERO.pattern}$")).as_py():
        return ids
    whole = plain_numbers(pc.replace_substring_regex(text, r"^-(0)\.0$|\.0$", r"\1"))
    if len(known) and pa.types.is_integer(known.type) and pa.types.is_integer(whole.type):
        return whole
    never = bool((positions(known, ids) < 0).all())
    return whole if never and (positions(known, whole) >= 0).any() else ids


def whole_note(where: str) -> str:
    """What to say of ids that :func:`whole_like` has changed."""
    return f"{where}: all ids are written with a final .0, and are read as whole numbers"


def _plain(names: Any) -> Any:
    """Names in lower case, without blanks, punctuation and zeros before numbers."""
    import pyarrow.compute as pc

    apart = pc.replace_substring_regex(pc.utf8_lower(names), r"(^|\D)0+(\d)", r"\1\2")
    return pc.replace_substring_regex(apart, r"[\s\-_.:/#]+", "")
