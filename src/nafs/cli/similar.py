"""`nafs similar`: the nearest nodes in an embedding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from nafs._support.atomic import check_file_target, whole_file
from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run, results
from nafs.cli.flags import command, flag
from nafs.cli.keeping import kept_embedding
from nafs.cli.options import (
    COMPARING,
    Count,
    Force,
    MemoryLimit,
    TableFile,
    TablePrinting,
    Threads,
    check_vectors,
)
from nafs.embedding import Embedding
from nafs.model import Model, is_saved_model
from nafs.smoothing.threads import check_threads
from nafs.writers.tables import RESULTS, write_table


@command
def similar(
    embedding: Annotated[
        str,
        typer.Argument(
            metavar="EMBEDDING",
            help="A file that nafs embed wrote, a folder that --keep wrote, or a table of vectors with ids: "
            ".parquet, .csv, .npy.",
            show_default=False,
        ),
    ],
    printing: TablePrinting,
    nodes: Annotated[
        list[str] | None,
        typer.Argument(metavar="NODE...", help="Ids of nodes, or --all for every node.", show_default=False),
    ] = None,
    k: Count = 10,
    every: Annotated[bool, flag("--all", help="Find the neighbours of every node; needs --output.")] = False,
    score: Annotated[
        str, flag("--score", help="How to compare vectors: cosine, or inner for the inner product.")
    ] = "cosine",
    exact: Annotated[
        bool | None,
        flag(
            "--exact/--approximate",
            help="Compare with every node, or use an index, which is faster for many nodes "
            "[dim](default: whichever is faster)[/dim].",
        ),
    ] = None,
    output: TableFile = None,
    n_threads: Threads = None,
    memory_limit: MemoryLimit = None,
    force: Force = False,
) -> None:
    """Find the nearest nodes of some nodes, or of all.

    [dim]nafs similar embedding.parquet ann bob -k 5[/dim]
    """
    run = printing.start()
    if every == bool(nodes):
        raise InputError("name at least one node, or use " if not nodes else "name nodes or use ", _EVERY)
    if every and output is None:
        raise InputError(_EVERY, " prints too much for a screen; name a file with ", Parameter("output"))
    check_table_target(output, force=force)
    with run.stage("read"):
        vectors = _load(embedding, nodes or [], memory_limit)
    if every:
        check_vectors(memory_limit, vectors.matrix, COMPARING, "comparing all nodes")
    with run.stage("search", total=1) as advance:
        neighbors = vectors.similar(
            None if every else nodes,
            k,
            score=score,
            exact=exact,
            n_threads=check_threads(n_threads),
            progress=advance,
            memory_limit=memory_limit,
        )
    show_table(run, neighbors, output, force=force)


_EVERY = Parameter("every")


def _load(path: str, nodes: Sequence[str], memory_limit: int | str | None) -> Embedding:
    """The embedding of a file, or that of a model's folder."""
    if is_saved_model(path):
        return kept_embedding(Model.load(path, memory_limit=memory_limit))
    if not Path(path).exists() and any(node.lower().endswith(RESULTS) for node in nodes):
        raise InputError(
            f"no such file: {path}; the file of the embedding comes first, then the ids of nodes"
        )
    return Embedding.load(path, memory_limit=memory_limit)


def check_table_target(output: str | None, *, force: bool) -> None:
    """Raise, before any work is done, if a table cannot be written."""
    if output is not None:
        if not output.lower().endswith(RESULTS):
            raise InputError(f"{output}: tables are written as .parquet, .csv, .tsv, .feather or .jsonl")
        check_file_target(Path(output), force=force)


def show_table(run: Run, table: Any, output: str | None, *, force: bool) -> None:
    """Write an Arrow table to a file, or print it."""
    names, rows = table.column_names, table.num_rows
    if output is not None:
        with run.stage("write"), whole_table(table, output, force=force):
            pass
        run.finish("table", [("rows", f"{rows:,}"), ("result", output)], {"output": output, "rows": rows})
    elif not rows and not (run.as_json or run.as_csv):
        run.say_notes()
        results.print("no rows")
    else:
        records = table.to_pylist()
        run.answer(records, [tuple(_show(value) for value in row.values()) for row in records], names)


@contextmanager
def whole_table(table: Any, path: str, *, force: bool) -> Iterator[None]:
    """Write an Arrow table to a file that appears at the end of the block, unless that fails."""
    with whole_file(Path(path), force=force) as part:
        write_table(
            part, path, table.num_rows, table.num_columns, lambda begin, end: table.slice(begin, end - begin)
        )
        yield


def _show(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
