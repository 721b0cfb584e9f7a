"""HTML tables for notebooks; cells are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(
    rows: Iterable[Sequence[object]], *, caption: str = "", header: Sequence[object] | None = None
) -> str:
    """An HTML table.

    Examples
    --------
    >>> from nafs._support.markup import html_table
    >>> html_table([("a", "<b>")])
    '<table><tbody><tr><td>a</td><td>&lt;b&gt;</td></tr></tbody></table>'
    """

    def line(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    parts = ["<table>"]
    parts += [f"<caption>{escape(caption)}</caption>"] if caption else []
    parts += [f"<thead>{line(header, 'th')}</thead>"] if header else []
    return "".join([*parts, "<tbody>", *(line(row, "td") for row in rows), "</tbody></table>"])
