"""Pages whose prose is written by hand and whose tables are generated, between ``<!-- NAME -->`` marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def fill(text: str, tables: Mapping[str, Sequence[str]]) -> str:
    """A page with its tables replaced. A table without lines, or without marks in the page, is left alone.

    Examples
    --------
    >>> from nafs.reproduce.marked import fill
    >>> page = chr(10).join(["before", "<!-- a -->", "old", "<!-- /a -->", "after"])
    >>> fill(page, {"a": ["new"]}).split()
    ['before', '<!--', 'a', '-->', 'new', '<!--', '/a', '-->', 'after']
    """
    for name, lines in tables.items():
        before, mark, after_mark = text.partition(f"<!-- {name} -->\n")
        _, end, after = after_mark.partition(f"<!-- /{name} -->")
        if lines and mark and end:
            text = "\n".join([before + mark, *lines, "", end + after])
    return text


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; none if there are no rows."""
    if not rows:
        return []
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows)]
