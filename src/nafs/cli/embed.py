"""`nafs embed`: edges and features in, vectors keyed by node id out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from nafs._support.budget import show_bytes
from nafs.cli import options as o
from nafs.cli.console import Run
from nafs.embedding import Embedding, making_embedding, structural_note
from nafs.engines import disk
from nafs.engines.progress import Progress
from nafs.engines.run import choose_engine
from nafs.engines.settings import Settings
from nafs.engines.work import WorkFolder
from nafs.graph import Graph
from nafs.writers.embeddings import check_embedding_target, write_embedding_table


def embed(
    edges: o.EdgesArgument,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="Where the embedding goes: .parquet, .csv, .tsv, .csv.gz, .npy; - for CSV on stdout.",
            show_default=False,
            rich_help_panel=o.OUTPUT,
        ),
    ],
    features: o.FeaturesOption = None,
    labels: o.LabelsOption = None,
    hops: o.HopsOption = "20",
    r: o.ROption = "0,0.1,0.2,0.3,0.4,0.5",
    ensemble: o.EnsembleOption = "mean",
    weighting: o.WeightingOption = "adaptive",
    distance: o.DistanceOption = "cosine",
    preprocessing: o.PreprocessingOption = None,
    center: o.CenterOption = "auto",
    goal: o.GoalOption = "clusters",
    clusters: o.ClustersOption = None,
    reduce_to: o.ReduceOption = None,
    reduction: o.ReductionOption = "svd",
    columns: o.ColumnsOption = 128,
    seed: o.SeedOption = 0,
    source: o.SourceOption = None,
    target: o.TargetOption = None,
    weight: o.WeightOption = None,
    unweighted: o.UnweightedOption = False,
    ignore: o.IgnoreOption = None,
    id_column: o.IdOption = None,
    label_column: o.LabelOption = None,
    delimiter: o.DelimiterOption = None,
    header: o.HeaderOption = None,
    comment: o.CommentOption = None,
    missing: o.MissingOption = "error",
    directed: o.DirectedOption = False,
    self_loops: o.SelfLoopsOption = False,
    threads: o.ThreadsOption = None,
    memory_limit: o.MemoryOption = None,
    float16: o.Float16Option = False,
    engine: o.EngineOption = "auto",
    work_dir: o.WorkDirOption = None,
    resume: o.ResumeOption = False,
    scheduler: o.SchedulerOption = None,
    half_output: Annotated[
        bool,
        typer.Option("--half-output", help="Write the vectors in half precision.", rich_help_panel=o.OUTPUT),
    ] = False,
    layout: Annotated[
        str,
        typer.Option(
            help="Parquet: one column of lists (list) or one per dimension (columns).",
            rich_help_panel=o.OUTPUT,
        ),
    ] = "list",
    force: o.ForceOption = False,
    quiet: o.QuietOption = False,
    as_json: o.JsonOption = False,
) -> None:
    """Embed the nodes of a graph.

    [dim]nafs embed edges.csv -f features.parquet -o embedding.parquet[/dim]
    """
    run = Run(quiet, as_json)
    settings = Settings(
        n_hops=o.parse_hops(hops),
        r=o.parse_r(r),
        ensemble=ensemble,
        weighting=weighting,
        distance=distance,
        n_threads=threads,
        memory_limit=memory_limit,
        state_dtype="float16" if float16 else "float32",
        preprocessing=preprocessing,
        center=center,
        goal=goal,
        n_clusters=clusters,
        reduce_to=reduce_to,
        reduction=reduction,
        engine=engine if scheduler is None else "dask",
        work_dir=work_dir or (None if output == "-" else f"{output}.work"),
    )
    if scheduler is not None and engine not in ("auto", "dask"):
        raise ValueError(f"--scheduler is for --engine dask; got --engine {engine}")
    if half_output and not output.endswith((".npy", ".parquet", ".pq")):
        raise ValueError("--half-output goes into .npy or .parquet")
    force = force or (resume and not Path(output).exists())  # ids beside it may be there
    if output != "-":
        check_embedding_target(output, layout, force=force)
    elif as_json:
        raise ValueError("--json and the embedding cannot both go to stdout; write the embedding to a file")
    graph = o.read(run, locals())
    if graph.features is None:
        run.notes.append(structural_note(columns, seed))
    begun = resume and settings.work_dir is not None and WorkFolder(Path(settings.work_dir)).about()
    if begun:
        run.say(f"going on with the run in {settings.work_dir}, in {len(begun['widths'])} panel(s)")
    else:
        if resume:
            run.notes.append(f"there was no run to go on with in {settings.work_dir}: made from the start")
        _say_what_it_takes(run, settings, graph, columns)
    with _smooth(
        run,
        settings,
        graph,
        columns=columns,
        seed=seed,
        resume=resume,
        client=scheduler,
        dtype="float16" if half_output else "float32",
    ) as embedding:
        _write(run, embedding, output, layout, force)
    n, width = embedding.matrix.shape
    chosen = embedding.choice.reasons if embedding.choice is not None else ()
    where = "stdout" if output == "-" else output
    n_features = columns if graph.features is None else graph.features.shape[1]
    run.finish(
        "embedding",
        [
            ("nodes", f"{n:,}"),
            ("edges", f"{graph.n_edges:,}"),
            ("features", f"{n_features:,}"),
            *(("chosen", reason) for reason in chosen),
            ("dimensions", f"{width:,}"),
            ("engine", embedding.settings["engine"]),
            ("result", where),
        ],
        {
            "output": where,
            "nodes": n,
            "edges": graph.n_edges,
            "features": n_features,
            "dimensions": width,
            "chosen": list(chosen),
            "settings": {name: value for name, value in embedding.settings.items() if value is not None},
        },
    )


def _say_what_it_takes(run: Run, settings: Settings, graph: Graph, columns: int) -> None:
    """Before a run that goes through files: the disk and memory that it needs."""
    width = columns if graph.features is None else graph.features.shape[1]
    width = min(width, settings.reduce_to or width)
    method, resources = settings.method(), settings.resources()
    chosen = choose_engine(graph.adjacency, width, method, settings)
    if chosen == "memory" or run.quiet:
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
    if chosen == "dask":
        panels = "panels of columns on the workers"
    run.say(
        f"{chosen} engine: {panels}, up to {show_bytes(plan.disk_bytes)} of disk in "
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
