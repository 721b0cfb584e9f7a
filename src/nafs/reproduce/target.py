"""What a target is: cells to measure, and files made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nafs.datasets import Dataset, load_dataset
from nafs.reproduce.store import Store, Values


@dataclass(frozen=True)
class Cell:
    """One measurement, under a key that says what it is."""

    key: str
    measure: Callable[[], Values]


@dataclass(frozen=True)
class Target:
    """A table or figure of the paper.

    ``cells`` takes the number of seeds; ``write`` the measured cells and the number of seeds.
    """

    name: str
    title: str
    cells: Callable[[int], list[Cell]]
    write: Callable[[Store, int], list[Path]]


@lru_cache(maxsize=2)
def dataset(name: str) -> Dataset:
    """A data set, read once for the cells that follow each other."""
    return load_dataset(name)
