"""Libraries that only some users have."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nafs._support.errors import MissingExtraError


def lance() -> Any:
    """The library that reads and writes Lance datasets."""
    try:
        return import_module("lance")
    except ImportError:
        raise MissingExtraError("Lance datasets need pylance: pip install 'nafs[lance]'") from None
