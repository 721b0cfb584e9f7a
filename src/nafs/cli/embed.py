"""`nafs embed`: edges and features in, vectors keyed by node id out."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from nafs.cli import options as o
from nafs.cli.console import Run
from nafs.embedding import Embedding, structural_note
from nafs.embedding import embed as make_embedding
from nafs.engines.memory import Progress
from nafs.engines.settings import Settings
from nafs.graph import Graph
from nafs.writers.embeddings import check_embedding_target, write_embedding, write_embedding_table


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
    )
    if output != "-":
        check_embedding_target(output, layout, force=force)
    elif as_json:
        raise ValueError("--json and the embedding cannot both go to stdout; write the embedding to a file")
    graph = o.read(run, locals())
    if graph.features is None:
        run.notes.append(structural_note(columns, seed))
    embedding = _smooth(run, settings, graph, columns, seed)
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


def _smooth(run: Run, settings: Settings, graph: Graph, columns: int, seed: int) -> Embedding:
    done = 0.0
    with run.stage("smooth", total=1.0) as advance:

        def progress(at: Progress) -> None:
            nonlocal done
            share = at.done / at.total
            advance(share - done)
            done = share

        return make_embedding(graph, columns=columns, seed=seed, progress=progress, **asdict(settings))


def _write(run: Run, embedding: Embedding, output: str, layout: str, force: bool) -> None:
    labels = None if embedding.labels is None else embedding.labels.to_arrow()
    matrix, ids = embedding.matrix, embedding.id_array
    with run.stage("write", total=len(matrix)) as advance:
        if output == "-":
            write_embedding_table(sys.stdout.buffer, ".csv", matrix, ids, labels, layout="columns")
            sys.stdout.flush()
        else:
            write_embedding(output, matrix, ids, labels, layout=layout, force=force, progress=advance)
