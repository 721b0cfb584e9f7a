"""All targets by name, and the function that measures their missing cells and writes their files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nafs.reproduce import (
    ablation,
    arxiv,
    comparison,
    efficiency,
    maps,
    quality,
    scalability,
    smoothing_speed,
    sparsity,
)
from nafs.reproduce.store import Store
from nafs.reproduce.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for part in (
        comparison,
        sparsity,
        scalability,
        arxiv,
        smoothing_speed,
        ablation,
        efficiency,
        maps,
        quality,
    )
    for target in part.TARGETS
}

OWN = ("quality",)  # not in the paper, and as slow as all of it: runs only if named


def reproduce(
    target: Target,
    folder: Path,
    *,
    seeds: int = 10,
    told: Callable[[str, int, int], None] | None = None,
) -> list[Path]:
    """Measure the missing cells of a target, and write its files.

    Parameters
    ----------
    target : Target
    folder : Path
        Folder of the results. Cells that this version has measured before are reused.
    seeds : int
        Number of seeds or splits per cell.
    told : callable, optional
        Called before each cell, and at the end, with the key, the number of finished cells and their total.

    Returns
    -------
    list of Path
        The written files.
    """
    store = Store(folder)
    cells = target.cells(seeds)
    for done, cell in enumerate(cells):
        if told is not None:
            told(cell.key, done, len(cells))
        if cell.key not in store:
            store.keep(cell.key, cell.measure())
    files = target.write(store, seeds)
    if told is not None:
        told("", len(cells), len(cells))
    return files
