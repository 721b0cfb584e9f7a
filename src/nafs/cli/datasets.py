"""`nafs datasets`: the public graphs that are known by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nafs.cli.console import say
from nafs.cli.flags import command, flag
from nafs.cli.options import Force, Quiet, TablePrinting
from nafs.datasets.catalog import CATALOG, find
from nafs.datasets.download import data_home, fetch, is_present
from nafs.datasets.example_tables import copy_example_tables

app = typer.Typer(
    help="List, download and describe public graphs.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COUNTS = ("nodes", "edges", "features", "classes")


@app.command(name="list")
@command
def show_list(printing: TablePrinting) -> None:
    """List the known data sets and which of them are already downloaded."""
    run = printing.start()
    records = [
        {"name": name, "present": is_present(entry)}
        | {count: getattr(entry, count) for count in _COUNTS}
        | {"title": entry.title}
        for name, entry in CATALOG.items()
    ]
    rows = [
        (
            str(record["name"]),
            "yes" if record["present"] else "",
            *("" if record[count] is None else f"{record[count]:,}" for count in _COUNTS),
            str(record["title"]),
        )
        for record in records
    ]
    run.answer(records, rows, header=("name", "present", *_COUNTS, "title"))
    run.say(f"data folder: {data_home()}")


@app.command(name="example")
@command
def copy_example(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Where to put the tables.")] = "example",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Copy the small example tables that ship with nafs: papers, citations and topics."""
    for path in copy_example_tables(Path(folder), force=force):
        if not quiet:
            say(str(path))


@app.command(name="fetch")
@command
def fetch_some(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Data sets to download.")],
    unverified: Annotated[
        bool, flag("--unverified", help="Also download files whose checksum is not known.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Download data sets into the data folder and verify their checksums."""
    for entry in [find(name) for name in names]:
        for path in fetch(entry, progress=not quiet, unverified=unverified):
            if not quiet:
                say(str(path))


@app.command()
@command
def info(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Such as cora; nafs datasets list shows all.")],
    printing: TablePrinting,
) -> None:
    """Describe a data set; it is downloaded first if necessary."""
    from nafs.datasets import load_dataset

    run = printing.start()
    with run.stage("read"):
        data = load_dataset(name, progress=not printing.quiet)
    description = data.graph.describe()
    parts = {part: len(nodes) for part, nodes in (data.split or {}).items()}
    rows = [("data set", data.name, data.title), *description.rows()]
    if parts:
        rows.append(("split", " / ".join(f"{count:,}" for count in parts.values()), " / ".join(parts)))
    run.answer({"name": data.name, "title": data.title} | description.as_dict() | {"split": parts}, rows)
