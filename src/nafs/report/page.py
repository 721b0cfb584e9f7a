"""The page: one file that opens from disk and loads nothing else.

The map is drawn by deck.gl, bundled at development time (``npm ci && npm run build`` in ``web/``);
docs/report.md compares it with other libraries.

Its content security policy allows one script and one style sheet, by their hashes, and no connections.
"""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from nafs._support.atomic import check_target, whole_file
from nafs._support.errors import InputError
from nafs.report.packing import pack


def write_page(data: dict[str, Any], path: str | os.PathLike[str], *, force: bool = False) -> int:
    """Write the page; the file appears when it is complete.

    Parameters
    ----------
    data : dict
        As :func:`nafs.report.collect` returns it.
    path : path
        .html
    force : bool
        Overwrite an existing file.

    Returns
    -------
    int
        Its size in bytes.
    """
    with whole_file(Path(path), force=force) as part:
        part.write_text(render(data), encoding="utf-8")
        return part.stat().st_size


def render(data: dict[str, Any]) -> str:
    """The page as text. The data is base64, so nothing in it can end the element that holds it."""
    return _filled(base64.b64encode(pack(data)).decode("ascii"), "", "default-src 'none'")


def render_for_server(address: str) -> str:
    """The page without its data, which it requests from the server."""
    return _filled("", f' data-from="{address}"', "default-src 'none'; connect-src 'self'")


def _filled(data: str, source: str, policy: str) -> str:
    folder = files("nafs.report")
    script, style, page = (
        folder.joinpath(name).read_text(encoding="utf-8").rstrip("\n")
        for name in ("page.js", "page.css", "page.html")
    )
    policy += f"; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data: blob:"
    values = {"POLICY": policy, "STYLE": style, "SCRIPT": script, "FROM": source, "DATA": data}
    parts = page.split("{{")
    fields = (part.split("}}", 1) for part in parts[1:])
    return parts[0] + "".join(values[name] + after for name, after in fields) + "\n"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def check_page_target(path: str, *, force: bool) -> None:
    """Raise, before any work is done, if a page cannot be written at ``path``."""
    if not path.lower().endswith((".html", ".htm")):
        raise InputError(f"{path}: a report is a page: name it .html")
    check_target(Path(path), force=force)
