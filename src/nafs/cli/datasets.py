"""`nafs datasets`: the public graphs that are known by name."""

from __future__ import annotations

from typing import Annotated

import typer

from nafs.cli import options as o
from nafs.cli.console import Run, messages, results, table_of
from nafs.datasets.catalog import CATALOG, find
from nafs.datasets.download import data_home, fetch, is_present

app = typer.Typer(
    help="List, fetch and look at public graphs.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Such as cora; see the list.", show_default=False)]


@app.command(name="list")
def show_list() -> None:
    """Show the known data sets and which of them are here."""
    rows = [
        (name, "here" if is_present(entry) else "", *(_count(value) for value in _counts(entry)), entry.title)
        for name, entry in CATALOG.items()
    ]
    results.print(table_of(rows, header=("name", "", "nodes", "edges", "features", "classes", "")))
    messages.print(f"data folder: {data_home()}", markup=False, highlight=False, soft_wrap=True)


@app.command(name="fetch")
def fetch_some(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Data sets to download.")],
    quiet: o.QuietOption = False,
) -> None:
    """Download data sets into the data folder and check them."""
    for entry in [find(name) for name in names]:
        for path in fetch(entry, progress=not quiet):
            if not quiet:
                messages.print(str(path), markup=False, highlight=False, soft_wrap=True)


@app.command()
def info(name: Name, as_json: o.JsonOption = False) -> None:
    """Describe a data set, downloading it if need be."""
    import json

    from nafs.datasets import load_dataset

    run = Run()
    with run.stage("read"):
        data = load_dataset(name)
    found = data.graph.describe()
    parts = {part: len(nodes) for part, nodes in (data.split or {}).items()}
    if as_json:
        print(json.dumps(found.as_dict() | {"name": data.name, "title": data.title, "split": parts}))
        return
    rows = [("data set", data.name, data.title), *found.rows()]
    if parts:
        rows.append(("split", " / ".join(f"{count:,}" for count in parts.values()), " / ".join(parts)))
    results.print(table_of(rows))


def _counts(entry: object) -> list[int | None]:
    return [getattr(entry, what) for what in ("nodes", "edges", "features", "classes")]


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
