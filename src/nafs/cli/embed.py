"""`nafs embed`: edges and features in, vectors keyed by node id out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from nafs._support.budget import show_bytes
from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run
from nafs.cli.embedding_options import EmbeddingOptions, RunOptions, engine_for
from nafs.cli.flags import command, flag, switch
from nafs.cli.options import OUTPUT, Force, Printing, beside
from nafs.cli.reading import Edges, Reading, read
from nafs.embedding import Embedding, making_embedding, structural_note
from nafs.engines import disk
from nafs.engines.progress import Progress
from nafs.engines.run import choose_engine
from nafs.engines.settings import Settings
from nafs.engines.work import WorkFolder
from nafs.graph import Graph
from nafs.writers.embeddings import check_embedding_target, write_embedding_table


@command
def embed(
    edges: Edges,
    output: Annotated[
        str,
        flag(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write the embedding: .parquet, .csv, .tsv, .csv.gz, .npy, or - for CSV on stdout.",
            panel=OUTPUT,
        ),
    ],
    reading: Reading,
    embedding: EmbeddingOptions,
    running: RunOptions,
    printing: Printing,
    dtype: Annotated[
        str,
        switch(
            "--half-output",
            help="Write the vectors in half precision, to halve the file.",
            panel=OUTPUT,
            on="float16",
            off="float32",
        ),
    ] = "float32",
    layout: Annotated[
        str,
        flag(
            "--layout",
            help="Shape of a Parquet table: list (one column of vectors) or columns (one per dimension).",
            panel=OUTPUT,
        ),
    ] = "list",
    force: Force = False,
) -> None:
    """Embed the nodes of a graph.

    [dim]nafs embed edges.csv -f features.parquet -o embedding.parquet[/dim]
    """
    run = printing.start()
    to_stdout = output == "-"
    settings = embedding.settings(
        engine=engine_for(embedding.engine, running.client),
        work_dir=embedding.work_dir or (None if to_stdout else f"{output}.work"),
    )
    if dtype == "float16" and not output.endswith((".npy", ".parquet", ".pq")):
        raise InputError(Parameter("dtype", dtype), " is for .npy and .parquet files")
    force = force or (running.resume and not Path(output).exists())  # ids beside it may exist
    if not to_stdout:
        check_embedding_target(output, layout, force=force)
    elif printing.as_json:
        raise InputError(
            Parameter("as_json"),
            " and the embedding cannot both go to stdout; write the embedding to a file",
        )
    graph = read(run, edges, reading, scratch_dir=beside(settings.work_dir))
    if graph.features is None:
        run.notes.append(structural_note(embedding.columns, embedding.seed))
    _announce(run, settings, graph, embedding.columns, resume=running.resume)
    options = {"columns": embedding.columns, "seed": embedding.seed, "dtype": dtype}
    with _smooth(run, settings, graph, **options, **running.for_library()) as result:
        _write(run, result, output, layout, force)
    n, width = result.matrix.shape
    reasons = result.choice.reasons if result.choice is not None else ()
    where = "stdout" if to_stdout else output
    n_features = embedding.columns if graph.features is None else graph.features.shape[1]
    run.finish(
        "embedding",
        [
            ("nodes", f"{n:,}"),
            ("edges", f"{graph.n_edges:,}"),
            ("features", f"{n_features:,}"),
            *(("chosen", reason) for reason in reasons),
            ("dimensions", f"{width:,}"),
            ("engine", result.settings["engine"]),
            ("result", where),
        ],
        {
            "output": where,
            "nodes": n,
            "edges": graph.n_edges,
            "features": n_features,
            "dimensions": width,
            "chosen": list(reasons),
            "settings": {name: value for name, value in result.settings.items() if value is not None},
        },
    )


def _announce(run: Run, settings: Settings, graph: Graph, columns: int, *, resume: bool) -> None:
    """Print, before the work starts, which run is resumed or what a run through files needs."""
    begun = resume and settings.work_dir is not None and WorkFolder(Path(settings.work_dir)).about()
    if begun:
        run.say(f"resuming the run in {settings.work_dir}, in {len(begun['widths'])} panel(s)")
        return
    if resume:
        run.notes.append(f"there was no run to resume in {settings.work_dir}: started from the beginning")
    width = columns if graph.features is None else graph.features.shape[1]
    width = min(width, settings.reduce_to or width)
    method, resources = settings.method(), settings.resources()
    engine = choose_engine(graph.adjacency, width, method, settings)
    if engine == "memory" or run.quiet:
        return
    stored = 0 if graph.features is None else graph.features.nbytes
    plan = disk.plan(
        graph.adjacency,
        (width, stored),
        method,
        state_dtype=resources["state_dtype"],
        memory_limit=resources["memory_limit"],
    )
    count, widest = len(plan.widths), max(plan.widths)
    panels = f"{count} panel(s) of up to {widest} columns, {show_bytes(plan.nbytes)} of memory"
    if engine == "dask":
        panels = "panels of columns on the workers"
    run.say(
        f"{engine} engine: {panels}, up to {show_bytes(plan.disk_bytes)} of disk in "
        f"{settings.work_dir or 'a temporary folder'}"
    )


@contextmanager
def _smooth(run: Run, settings: Settings, graph: Graph, **options: Any) -> Iterator[Embedding]:
    done = 0.0
    with ExitStack() as stack:
        with run.stage("smooth", total=1.0) as advance:

            def progress(at: Progress) -> None:
                nonlocal done
                share = at.done / at.total
                advance(share - done, _where(at))
                done = share

            embedding = stack.enter_context(
                making_embedding(graph, progress=progress, **options, **asdict(settings))
            )
        yield embedding


def _where(at: Progress) -> str:
    if at.n_panels == 1:
        return "smooth"
    return f"{at.step} panel {at.panel + 1}/{at.n_panels}, r {at.r[0]:g}, hop {at.hop}/{at.n_hops}"


def _write(run: Run, embedding: Embedding, output: str, layout: str, force: bool) -> None:
    matrix = embedding.matrix
    with run.stage("write", total=len(matrix)) as advance:
        if output == "-":
            labels = None if embedding.labels is None else embedding.labels.to_arrow()
            ids = embedding.id_array
            write_embedding_table(sys.stdout.buffer, ".csv", matrix, ids, labels, layout="columns")
            sys.stdout.flush()
        else:
            embedding.write(output, layout=layout, force=force, progress=advance)
