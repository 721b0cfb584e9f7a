"""The engines by name. Each is imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nafs.engines.base import Engine

_HOMES = {
    "memory": ("nafs.engines.memory", "MemoryEngine"),
    "disk": ("nafs.engines.disk", "DiskEngine"),
    "dask": ("nafs.engines.dask", "DaskEngine"),
}
ENGINES = tuple(_HOMES)


def find_engine(name: str) -> Engine:
    """The engine of a name.

    Examples
    --------
    >>> from nafs.engines.registry import find_engine
    >>> find_engine("memory").name
    'memory'
    """
    module, kind = _HOMES[name]
    engine: Engine = getattr(import_module(module), kind)()
    return engine
