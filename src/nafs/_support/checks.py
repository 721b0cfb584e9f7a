"""Checks of options."""

from __future__ import annotations

import difflib
from typing import Any

from nafs._support.errors import InputError, Parameter


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``choices``; otherwise raise an error that lists them."""
    if value in choices:
        return str(value)
    known = ", ".join(repr(choice) for choice in choices)
    close = difflib.get_close_matches(str(value), choices, 1, cutoff=0.75)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise InputError(Parameter(name), f" must be one of {known}; got {value!r}{hint}")
