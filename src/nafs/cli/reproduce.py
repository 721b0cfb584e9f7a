"""`nafs reproduce`: the paper's tables, measured here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nafs.cli import options as o
from nafs.cli.console import messages

_ALL = ("links", "clustering", "classification")


def reproduce(
    targets: Annotated[
        list[str], typer.Argument(metavar="TARGET...", help=f"{', '.join(_ALL)}, or all.", show_default=False)
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="Folder for the tables.")] = "reproduction",
    seeds: Annotated[int, typer.Option(help="Seeds or splits for each number.")] = 10,
    quiet: o.QuietOption = False,
) -> None:
    """Measure the paper's tables and set them beside the published numbers.

    What is measured is kept in the folder; a run that was broken off goes on where it was.
    """
    from nafs.reproduce.tables import TARGETS
    from nafs.reproduce.tables import reproduce as measure

    wanted = list(_ALL) if targets == ["all"] else targets
    unknown = [name for name in wanted if name not in TARGETS]
    if unknown:
        raise ValueError(f"unknown target {unknown[0]!r}; there are {', '.join(TARGETS)} and all")
    if seeds < 1:
        raise ValueError(f"--seeds must be at least 1; got {seeds}")
    for name in wanted:
        with messages.status("") as status:

            def told(what: str, status: object = status) -> None:
                if not quiet:
                    status.update(what)  # type: ignore[attr-defined]

            files = measure(TARGETS[name], Path(output), seeds=seeds, told=told)
        if not quiet:
            messages.print(", ".join(map(str, files)), markup=False, highlight=False, soft_wrap=True)
