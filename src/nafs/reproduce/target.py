"""A target: cells to measure, and the files that are written from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nafs.datasets import Dataset, load_dataset
from nafs.reproduce.store import Store, Values


@dataclass(frozen=True)
class Cell:
    """One measurement, identified by its key."""

    key: str
    measure: Callable[[], Values]


@dataclass(frozen=True)
class Target:
    """A table or figure of the paper.

    ``cells`` returns the cells for a number of seeds; ``write`` writes the files from the measured cells.
    """

    name: str
    title: str
    cells: Callable[[int], list[Cell]]
    write: Callable[[Store, int], list[Path]]


@lru_cache(maxsize=2)
def dataset(name: str) -> Dataset:
    """Load a data set; consecutive cells share it."""
    return load_dataset(name)
