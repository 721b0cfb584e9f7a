"""The report page: one file that opens from disk, with nothing loaded from anywhere."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from nafs._support.atomic import check_target, whole_file
from nafs._support.errors import InputError

_PLACE = "/*DATA*/"


def write_page(data: dict[str, Any], path: str | os.PathLike[str], *, force: bool = False) -> int:
    """Write the page; it appears when it is whole.

    Parameters
    ----------
    data : dict
        As :func:`nafs.report.contents.collect` gathers it.
    path : path
        .html
    force : bool
        Replace what is there.

    Returns
    -------
    int
        Its size in bytes.
    """
    with whole_file(Path(path), force=force) as part:
        part.write_text(render(data), encoding="utf-8")
        return part.stat().st_size


def render(data: dict[str, Any]) -> str:
    """The page as text. No character of the data can end the element that holds it."""
    page = files("nafs.report").joinpath("page.html").read_text(encoding="utf-8")
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    before, after = page.split(_PLACE)
    return before + text + after


def check_page_target(path: str, *, force: bool) -> None:
    """Raise, before any work is done, if a page cannot be written at ``path``."""
    if not path.lower().endswith((".html", ".htm")):
        raise InputError(f"{path}: a report is a page: name it .html")
    check_target(Path(path), force=force)
