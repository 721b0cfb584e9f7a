"""Optional packages: imported on first use; errors name the extra that installs them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nafs._support.errors import MissingExtraError


def require(module: str, purpose: str, extra: str | None = None) -> Any:
    """Import an optional package, or say what needs it and how to install it: by an extra, or by its name.

    Examples
    --------
    >>> from nafs._support.extras import require
    >>> require("no_such_package", "reading tables", "files")
    Traceback (most recent call last):
    ...
    nafs._support.errors.MissingExtraError: reading tables needs no_such_package: pip install 'nafs[files]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:  # it is installed, but broken
            raise
        wanted = module if extra is None else f"'nafs[{extra}]'"
        raise MissingExtraError(f"{purpose} needs {module}: pip install {wanted}") from None


def lance() -> Any:
    """The library that reads and writes Lance datasets."""
    return require("lance", "reading or writing Lance datasets", "lance")
