"""`nafs similar`: what is near a node in an embedding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from nafs._support.atomic import check_target, whole_file
from nafs.cli import options as o
from nafs.cli.console import Run, results, table_of
from nafs.embedding import Embedding
from nafs.smoothing.threads import check_threads
from nafs.writers.tables import is_table, write_table

EmbeddingArgument = Annotated[
    str,
    typer.Argument(
        metavar="EMBEDDING",
        help="What nafs embed wrote, or any table of vectors keyed by id: .parquet, .csv, .npy.",
        show_default=False,
    ),
]
CountOption = Annotated[int, typer.Option("--count", "-k", help="How many.")]
TableOption = Annotated[
    Optional[str],
    typer.Option("--output", "-o", help="A table: .parquet, .csv, .tsv.", rich_help_panel=o.OUTPUT),
]


def similar(
    embedding: EmbeddingArgument,
    nodes: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="NODE...", help="Ids; --all for every node.", show_default=False),
    ] = None,
    count: CountOption = 10,
    every: Annotated[bool, typer.Option("--all", help="Of every node; needs -o.")] = False,
    score: Annotated[str, typer.Option(help="cosine or inner (product).")] = "cosine",
    exact: Annotated[
        Optional[bool],
        typer.Option(
            "--exact/--approximate",
            help="Compare with every node, or through an index "
            "[dim](default: exact unless an index takes less time)[/dim].",
            show_default=False,
        ),
    ] = None,
    output: TableOption = None,
    threads: o.ThreadsOption = None,
    force: o.ForceOption = False,
    quiet: o.QuietOption = False,
    as_json: o.JsonOption = False,
) -> None:
    """Find the nearest nodes of some nodes, or of all.

    [dim]nafs similar embedding.parquet ann bob -k 5[/dim]
    """
    run = Run(quiet, as_json)
    if every == bool(nodes):
        raise ValueError("name at least one node, or say --all" if not nodes else "name nodes or say --all")
    if every and output is None:
        raise ValueError("--all finds neighbours of every node: say where they go (-o neighbors.parquet)")
    check_table_target(output, force=force)
    with run.stage("read"):
        vectors = Embedding.load(embedding)
    with run.stage("search", total=1) as advance:
        found = vectors.similar(
            None if every else nodes,
            count,
            score=score,
            exact=exact,
            n_threads=check_threads(threads),
            progress=advance,
        )
    show_table(run, found, output, force=force)


def check_table_target(output: str | None, *, force: bool) -> None:
    """Raise, before any work is done, if a table cannot be written."""
    if output is not None:
        if not is_table(output):
            raise ValueError(f"{output}: tables are written as .parquet, .csv or .tsv")
        check_target(Path(output), force=force)


def show_table(run: Run, table: Any, output: str | None, *, force: bool) -> None:
    """Write an Arrow table, or print it for people or as JSON."""
    names, rows = table.column_names, table.num_rows
    if output is not None:
        with run.stage("write"), whole_file(Path(output), force=force) as part:
            write_table(part, output, rows, len(names), lambda a, b: table.slice(a, b - a))
        run.finish("table", [("rows", f"{rows:,}"), ("result", output)], {"output": output, "rows": rows})
    elif run.as_json:
        print(json.dumps(table.to_pylist(), ensure_ascii=False))
    elif not rows:
        results.print("nothing found")
    else:
        shown = [tuple(_show(value) for value in row.values()) for row in table.to_pylist()]
        results.print(table_of(shown, tuple(names)))


def _show(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
