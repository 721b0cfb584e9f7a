"""`nafs similar`: the nearest nodes in an embedding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from nafs._support.atomic import check_file_target, whole_file
from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run, results
from nafs.cli.flags import command, flag
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
from nafs.embedding.unknown_ids import closest_ids
from nafs.graph.ids import id_column, positions
from nafs.graph.node_columns import listed_values
from nafs.graph.spellings import other_spellings
from nafs.smoothing.threads import check_threads
from nafs.writers.tables import RESULTS, write_table


@command
def similar(
    embedding: Annotated[
        str,
        typer.Argument(
            metavar="EMBEDDING",
            help="A file that nafs embed wrote, or a table of vectors with ids: .parquet, .csv, .npy.",
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
        vectors = Embedding.load(embedding, memory_limit=memory_limit)
        refuse_other_spellings(nodes or [], vectors)
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


def refuse_other_spellings(nodes: Sequence[str], vectors: Embedding) -> None:
    """Raise if an unknown id is a known one in another spelling; the embedding refuses all others."""
    places = positions(vectors.id_array, id_column(nodes)) if nodes else ()
    for node, place in zip(nodes, places, strict=True):
        likely = other_spellings(node, vectors.id_array) if place < 0 else []
        if likely:
            raise InputError(f"unknown id {node!r}; did you mean {' or '.join(map(repr, likely))}?")
        if place < 0 and not closest_ids(node, vectors.id_array):
            nearest = _nearest_numbers(node, vectors.id_array)
            some = f"the closest are {nearest}" if nearest else f"ids are {listed_values(vectors.id_array)}"
            raise InputError(f"unknown id {node!r}; {some}")


def _nearest_numbers(node: str, ids: Any) -> str:
    """The ids that are nearest to a number, if all are numbers."""
    import pyarrow as pa

    if not pa.types.is_int64(ids.type) or not node.removeprefix("-").isdecimal():
        return ""
    values = np.asarray(ids)
    order = np.argsort(np.abs(values - float(node)), kind="stable")[:3]
    return ", ".join(str(value) for value in values[order])


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
