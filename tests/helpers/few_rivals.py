"""Temporarily fewer rivals; afterwards the registry has its entries in their order again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nafs.rivals import RIVALS


@contextmanager
def only_rivals(chosen: Mapping[str, Any]) -> Iterator[None]:
    everything = dict(RIVALS)
    try:
        RIVALS.clear()
        RIVALS.update(chosen)
        yield
    finally:
        RIVALS.clear()
        RIVALS.update(everything)
