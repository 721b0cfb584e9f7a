"""`nafs reproduce`: the paper's tables and figures, measured here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from nafs.cli import options as o
from nafs.cli.console import messages


def reproduce(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET...",
            help="Tables and figures by name, all (of the paper), list.",
            show_default=False,
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="Folder for the results.")] = "reproduction",
    seeds: Annotated[int, typer.Option(help="Seeds or splits for each number.")] = 10,
    rivals: Annotated[
        str,
        typer.Option(help="Rivals to measure: none, fast (about a minute each), or all (hours in total)."),
    ] = "fast",
    quiet: o.QuietOption = False,
) -> None:
    """Measure the paper's tables and figures and set them beside the published numbers.

    What is measured is kept in the folder, and an interrupted run resumes there. Trained rivals need torch,
    torch_geometric and gensim, which the extra "rivals" installs.
    """
    from nafs.cli.console import results, table_of
    from nafs.reproduce.run import OWN, TARGETS
    from nafs.reproduce.run import reproduce as measure

    if targets == ["list"]:
        results.print(table_of([(name, target.title) for name, target in TARGETS.items()]))
        return
    wanted = [name for name in TARGETS if name not in OWN] if "all" in targets else targets
    unknown = [name for name in wanted if name not in TARGETS]
    if unknown:
        raise ValueError(f"unknown target {unknown[0]!r}; there are {', '.join(TARGETS)}, and all")
    if seeds < 1:
        raise ValueError(f"--seeds must be at least 1; got {seeds}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    for name in wanted:
        with Progress(*columns, console=messages, transient=True, disable=quiet) as bar:
            task = bar.add_task(name)

            def told(what: str, done: int, total: int, bar: Progress = bar, task: object = task) -> None:
                bar.update(task, description=what, completed=done, total=total)  # type: ignore[arg-type]

            files = measure(TARGETS[name], Path(output), seeds=seeds, rivals=rivals, told=told)
        if not quiet:
            messages.print(", ".join(map(str, files)), markup=False, highlight=False, soft_wrap=True)
