"""Other spellings of an id: zeros before numbers, upper and lower case, blanks, punctuation and prefixes."""

from __future__ import annotations

from typing import Any

from nafs.graph.ids import positions

_MOSTLY = 0.5  # of the unknown ids that have to be known but for their zeros


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


def differ_in_zeros(ids: Any, unknown: Any) -> bool:
    """Whether unknown ids are known but for leading zeros, which spreadsheets drop.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.graph.spellings import differ_in_zeros
    >>> differ_in_zeros(pa.array([7, 8]), pa.array(["007", "008"]))
    True
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(unknown):
        return False
    known, wanted = (
        pc.replace_substring_regex(values.cast(pa.large_string()), "^0+([0-9])", r"\1")
        for values in (ids, unknown)
    )
    return bool((positions(known, wanted) >= 0).mean() > _MOSTLY)


def _plain(names: Any) -> Any:
    """Names in lower case, without blanks, punctuation and zeros before numbers."""
    import pyarrow.compute as pc

    apart = pc.replace_substring_regex(pc.utf8_lower(names), r"(^|\D)0+(\d)", r"\1\2")
    return pc.replace_substring_regex(apart, r"[\s\-_.:/#]+", "")
