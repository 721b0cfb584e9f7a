"""JSON that somebody else may have written."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; raises ValueError for every text that cannot be parsed.

    Python's own parser raises RecursionError where brackets are nested thousands deep.

    Examples
    --------
    >>> from nafs._support.json_text import parse_json
    >>> parse_json('{"nodes": 3}')
    {'nodes': 3}
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: the brackets are nested too deeply
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the brackets are nested too deeply") from None
