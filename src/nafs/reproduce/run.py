"""All targets by name, and the run that measures what is missing and writes what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nafs._support.checks import check_choice
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
from nafs.reproduce.target import Effort, Target
from nafs.rivals.registry import TIERS

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

OWN = ("quality",)  # not of the paper, and as long as all of it: measured by name only


def reproduce(
    target: Target,
    folder: Path,
    *,
    seeds: int = 10,
    rivals: str = "fast",
    told: Callable[[str, int, int], None] | None = None,
) -> list[Path]:
    """Measure the cells of a target that are not in the folder yet, and write its files.

    Parameters
    ----------
    target : Target
    folder : Path
        Cells that the same source measured before are taken from there.
    seeds : int
        Seeds or splits for each number.
    rivals : {"none", "fast", "all"}
        Which rivals to measure: none, those that take less than about a minute each, or all of them, which
        takes hours.
    told : callable, optional
        Called before each cell with its key, the number of cells done and of all cells; and at the end.

    Returns
    -------
    list of Path
        The files written.
    """
    check_choice("rivals", rivals, TIERS)
    store, effort = Store(folder), Effort(seeds, rivals)
    cells = target.cells(effort)
    for done, cell in enumerate(cells):
        if told is not None:
            told(cell.key, done, len(cells))
        if not store.has(cell.key, cell.source):
            store.keep(cell.key, cell.measure(), cell.source)
    files = target.write(store, effort)
    if told is not None:
        told("", len(cells), len(cells))
    return files
