"""All targets by name, and the function that measures their missing cells and writes their files."""

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

OWN = ("quality",)  # not in the paper, and as slow as all of it: runs only if named


def reproduce(
    target: Target,
    folder: Path,
    *,
    seeds: int = 10,
    rivals: str = "fast",
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Path]:
    """Measure the missing cells of a target, and write its files.

    Parameters
    ----------
    target : Target
    folder : Path
        Folder of the results. Cells that the same source code has measured before are reused.
    seeds : int
        Number of seeds or splits per cell.
    rivals : {"none", "fast", "all"}
        Rivals to measure. "fast" are those that need less than about a minute each; "all" takes hours.
    progress : callable, optional
        Called before each cell, and at the end, with the key, the number of finished cells and their total.

    Returns
    -------
    list of Path
        The written files.
    """
    check_choice("rivals", rivals, TIERS)
    store, effort = Store(folder), Effort(seeds, rivals)
    cells = target.cells(effort)
    for done, cell in enumerate(cells):
        if progress is not None:
            progress(cell.key, done, len(cells))
        if not store.has(cell.key, cell.source):
            store.keep(cell.key, cell.measure(), cell.source)
    files = target.write(store, effort)
    if progress is not None:
        progress("", len(cells), len(cells))
    return files
