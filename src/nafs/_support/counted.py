"""Numbers with their nouns."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number with its noun, in the plural unless the number is 1.

    Examples
    --------
    >>> from nafs._support.counted import counted
    >>> counted(1, "row"), counted(1200, "entry")
    ('1 row', '1,200 entries')
    """
    plural = {"entry": "entries"}.get(noun, f"{noun}s")
    return f"{count:,} {noun if count == 1 else plural}"
