"""A target: cells to measure, and the files that are written from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from nafs.datasets import Dataset, load_dataset
from nafs.reproduce.sources import fingerprint
from nafs.reproduce.store import Store, Values


@dataclass(frozen=True)
class Cell:
    """One measurement, identified by its key.

    ``code`` names the source that computes it, in the form of :func:`fingerprint`; by default the function
    ``measure``.
    """

    key: str
    measure: Callable[[], Values]
    code: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """A fingerprint of the source that computes the cell."""
        measure = self.measure
        while isinstance(measure, partial):
            measure = measure.func
        name = measure.__qualname__.partition(".")[0]
        return fingerprint(self.code or (f"{measure.__module__}:{name}",))


@dataclass(frozen=True)
class Effort:
    """How much is measured: seeds or splits for each number, and which tier of rivals."""

    seeds: int = 10
    rivals: str = "fast"


@dataclass(frozen=True)
class Target:
    """A table or figure of the paper.

    ``cells`` lists the measurements for an effort; ``write`` writes files from their values.
    """

    name: str
    title: str
    cells: Callable[[Effort], list[Cell]]
    write: Callable[[Store, Effort], list[Path]]


@lru_cache(maxsize=2)
def dataset(name: str) -> Dataset:
    """Load a data set; consecutive cells share it."""
    return load_dataset(name)
