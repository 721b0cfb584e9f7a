"""`nafs reproduce`: the paper's tables and figures, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from nafs._support.errors import InputError, Parameter
from nafs.cli.console import messages, say
from nafs.cli.flags import command, flag
from nafs.cli.options import TablePrinting


@command
def reproduce(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET...",
            help="Names of tables and figures, all (of the paper), or list to see the names.",
            show_default=False,
        ),
    ],
    printing: TablePrinting,
    output: Annotated[
        str, flag("--output", "-o", metavar="FOLDER", help="Folder for the results.")
    ] = "reproduction",
    seeds: Annotated[
        int, flag("--seeds", metavar="N", help="Number of seeds or splits behind each figure.")
    ] = 10,
    rivals: Annotated[
        str,
        flag(
            "--rivals",
            help="Other systems to measure: none, fast (about a minute each), or all (hours in total).",
        ),
    ] = "fast",
) -> None:
    """Measure the paper's tables and figures and compare them with the published numbers.

    Measurements are kept in the folder; run the command again to resume an interrupted one. Trained rivals
    need torch, torch_geometric and gensim, which the extra "rivals" installs.
    """
    from nafs.reproduce.run import OWN, TARGETS
    from nafs.reproduce.run import reproduce as measure

    run = printing.start()
    if targets == ["list"]:
        titles = [{"target": name, "title": target.title} for name, target in TARGETS.items()]
        run.answer(titles, [tuple(entry.values()) for entry in titles], header=("target", "title"))
        return
    wanted = [name for name in TARGETS if name not in OWN] if "all" in targets else targets
    unknown = [name for name in wanted if name not in TARGETS]
    if unknown:
        raise InputError(f"unknown target {unknown[0]!r}; choose from {', '.join(TARGETS)}, or all")
    if seeds < 1:
        raise InputError(Parameter("seeds"), f" must be at least 1; got {seeds}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    for name in wanted:
        with Progress(*columns, console=messages, transient=True, disable=run.quiet) as bar:
            task = bar.add_task(name)

            def report(step: str, done: int, total: int, bar: Progress = bar, task: object = task) -> None:
                bar.update(task, description=step, completed=done, total=total)  # type: ignore[arg-type]

            files = measure(TARGETS[name], Path(output), seeds=seeds, rivals=rivals, progress=report)
        if not run.quiet:
            say(", ".join(map(str, files)))
