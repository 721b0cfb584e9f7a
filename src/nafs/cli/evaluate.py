"""`nafs evaluate`: how good an embedding is, on a public data set or on one's own graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from nafs._support.checks import check_choice
from nafs.cli import options as o
from nafs.cli.console import Run, results, table_of
from nafs.cli.rivals import check_request, compare_with_rivals, show_comparison
from nafs.datasets.catalog import CATALOG
from nafs.embedding import embed
from nafs.engines.settings import Settings
from nafs.graph import Graph
from nafs.links import SCORES
from nafs.readers.vectors import read_embedding

METHODS = ("mixture", "kmeans")
TASKS = ("clustering", "links", "classification")


def evaluate(
    target: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|EDGES",
            help="A data set by name, such as cora, or edges as for embed.",
            show_default=False,
        ),
    ],
    task: Annotated[
        str,
        typer.Option(
            "--task", "-t", help=f"{', '.join(TASKS)}, or several, or all.", rich_help_panel="Tasks"
        ),
    ] = "all",
    embedding: Annotated[
        Optional[str],
        typer.Option(
            help="Judge this embedding (.parquet, .csv, .npy) instead of making one; not for links.",
            rich_help_panel="Tasks",
        ),
    ] = None,
    clusters: Annotated[
        Optional[int],
        typer.Option(
            help="Number of clusters [dim](default: that of the classes)[/dim].", rich_help_panel="Tasks"
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Seeds or splits for each task.", rich_help_panel="Tasks")] = 10,
    method: Annotated[
        str,
        typer.Option(help="Of clustering: mixture, or kmeans as in the paper.", rich_help_panel="Tasks"),
    ] = "mixture",
    score: Annotated[
        str,
        typer.Option(
            help="Of links: inner, cosine, or auto by the validation edges.", rich_help_panel="Tasks"
        ),
    ] = "auto",
    rivals: Annotated[
        str,
        typer.Option(
            help="Compare with other systems: none, fast (about a minute each) or all.",
            rich_help_panel="Tasks",
        ),
    ] = "none",
    chart: Annotated[
        Optional[str],
        typer.Option(help="Write the comparison as a bar chart (.png, .svg, .pdf).", rich_help_panel="Tasks"),
    ] = None,
    features: o.FeaturesOption = None,
    labels: o.LabelsOption = None,
    hops: o.HopsOption = "20",
    r: o.ROption = "0,0.1,0.2,0.3,0.4,0.5",
    ensemble: o.EnsembleOption = "mean",
    weighting: o.WeightingOption = "adaptive",
    distance: o.DistanceOption = "cosine",
    preprocessing: o.PreprocessingOption = None,
    center: o.CenterOption = "auto",
    source: o.SourceOption = None,
    target_column: Annotated[
        Optional[str], typer.Option("--target", help="Column of the target ids.", rich_help_panel=o.READING)
    ] = None,
    weight: o.WeightOption = None,
    unweighted: o.UnweightedOption = False,
    ignore: o.IgnoreOption = None,
    id_column: o.IdOption = None,
    label_column: o.LabelOption = None,
    delimiter: o.DelimiterOption = None,
    header: o.HeaderOption = None,
    comment: o.CommentOption = None,
    missing: o.MissingOption = "error",
    threads: o.ThreadsOption = None,
    quiet: o.QuietOption = False,
    as_json: o.JsonOption = False,
) -> None:
    """Judge an embedding by clustering, link prediction and classification.

    [dim]nafs evaluate cora --task links --hops 9[/dim]
    """
    run = Run(quiet, as_json)
    settings = Settings(
        o.parse_hops(hops),
        o.parse_r(r),
        ensemble,
        weighting,
        distance,
        n_threads=threads,
        preprocessing=preprocessing,
        center=center,
        n_clusters=clusters,
    )
    check_request(rivals, chart, embedding)
    if seeds < 1:
        raise ValueError(f"--seeds must be at least 1; got {seeds}")
    wanted = _tasks(task, embedding)
    split = None
    if not Path(target).exists() and target.lower().replace("_", "-") in CATALOG:
        from nafs.datasets import load_dataset

        if not all(given is None for given in (features, labels, source, target_column, weight, id_column)):
            raise ValueError(
                f"{target} is a data set with features and labels of its own; leave out files and columns"
            )

        with run.stage("read"):
            data = load_dataset(target, progress=not quiet)
        graph, split = data.graph, data.split
    else:
        graph = o.read(run, locals() | {"edges": target, "target": target_column})
    if graph.features is None and embedding is None:
        run.notes.append("no features given: structural ones are made, for links without the hidden edges")
    if task == "all" and graph.labels is None:
        wanted = [name for name in wanted if name == "links" or (name == "clustering" and clusters)]
        run.notes.append(f"the graph has no labels: {' and '.join(wanted) or 'nothing'} can be judged")
    check_choice("score", score, ("auto", *SCORES))
    check_choice("method", method, METHODS)
    judged = _judge(run, graph, wanted, settings, embedding, split, seeds, method, score)
    found = []
    for name, measure in judged:
        try:
            with run.stage(name):
                found += measure()
        except ValueError as error:
            if task != "all":
                raise
            run.notes.append(f"{name}: {error}")
    comparisons = compare_with_rivals(
        run,
        graph,
        wanted,
        partial(_embed, run, settings),
        tier=rivals,
        seeds=seeds,
        split=split,
        n_clusters=clusters,
        score=score,
        dataset=target.lower().replace("_", "-") if split is not None else "",
        chart=chart,
    )
    if as_json:
        facts = {"target": target, "results": [one.as_dict() for one in found], "notes": run.notes}
        print(json.dumps(facts | {"rivals": [one.as_dict() for one in comparisons]}))
        return
    run.say_notes()
    for one in found:
        results.print(f"{one.task}: {one.how}", style="bold", markup=False, highlight=False)
        results.print(table_of(one.rows()))
    for comparison in comparisons:
        show_comparison(comparison)


def _tasks(task: str, embedding: str | None) -> list[str]:
    wanted = list(TASKS) if task == "all" else [part.strip() for part in task.split(",")]
    unknown = [name for name in wanted if name not in TASKS]
    if unknown:
        raise ValueError(f"unknown task {unknown[0]!r}; there are {', '.join(TASKS)} and all")
    if embedding is not None and "links" in wanted:
        if task != "all":
            raise ValueError("a given embedding has seen the edges that links would hide; leave links out")
        wanted.remove("links")
    return wanted


def _embed(run: Run, settings: Settings, graph: Graph, goal: str, classes: int | None = None) -> Any:
    """The embedding for a goal; what was decided for it becomes a note."""
    from dataclasses import asdict, replace

    clusters = settings.n_clusters
    classes = clusters or classes or (None if graph.labels is None else len(graph.labels.classes))
    if settings.n_hops == "auto" and goal == "clusters" and clusters is None and classes:
        note = f"auto is told the number of classes, {classes}, and nothing else of the labels"
        if note not in run.notes:
            run.notes.append(note)
    embedding = embed(graph, **asdict(replace(settings, goal=goal, n_clusters=classes)))
    for reason in () if embedding.choice is None else embedding.choice.reasons:
        note = f"for {goal}: {reason}"
        if note not in run.notes:
            run.notes.append(note)
    return embedding.matrix


def _judge(
    run: Run,
    graph: Graph,
    wanted: list[str],
    settings: Settings,
    embedding: str | None,
    split: Any,
    seeds: int,
    method: str,
    score: str,
) -> list[tuple[str, Callable[[], list[Any]]]]:
    """The tasks wanted, ready to be measured one by one."""
    from nafs.tasks import evaluate_classification, evaluate_clustering, evaluate_links

    clusters = settings.n_clusters

    make = partial(_embed, run, settings)
    matrix: Any = None
    if set(wanted) - {"links"}:
        with run.stage("embed"):
            matrix = make(graph, "clusters") if embedding is None else read_embedding(embedding, graph)[0]

    def clustering() -> list[Any]:
        return [evaluate_clustering(matrix, graph, n_clusters=clusters, method=method, seeds=seeds)]

    def links() -> list[Any]:
        return [evaluate_links(graph, lambda some: make(some, "links"), splits=seeds, score=score)]

    def classification() -> list[Any]:
        given = [] if split is None else [evaluate_classification(matrix, graph, [split])]
        return [*given, evaluate_classification(matrix, graph, count=seeds)]

    known = {"clustering": clustering, "links": links, "classification": classification}
    return [(name, known[name]) for name in wanted]
