"""`nafs suggest-links`: pairs without an edge that ought to have one."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from nafs.cli import options as o
from nafs.cli.console import Run
from nafs.cli.similar import CountOption, TableOption, check_table_target, show_table
from nafs.embedding import Embedding, embed
from nafs.smoothing.threads import check_threads


def suggest_links(
    edges: o.EdgesArgument,
    features: o.FeaturesOption = None,
    labels: o.LabelsOption = None,
    embedding: Annotated[
        Optional[str],
        typer.Option(help="Vectors to go by [dim](default: embedded with --hops)[/dim]."),
    ] = None,
    node: Annotated[
        Optional[list[str]],
        typer.Option("--node", help="Links of this node; may come again.", show_default=False),
    ] = None,
    count: CountOption = 10,
    score: Annotated[
        Optional[str],
        typer.Option(help="inner or cosine [dim](default: as hidden edges say, or inner)[/dim]."),
    ] = None,
    hops: Annotated[
        str,
        typer.Option("--hops", help="Number, or auto: by hidden edges.", rich_help_panel=o.METHOD),
    ] = "auto",
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
    self_loops: o.SelfLoopsOption = False,
    output: TableOption = None,
    threads: o.ThreadsOption = None,
    force: o.ForceOption = False,
    quiet: o.QuietOption = False,
    as_json: o.JsonOption = False,
) -> None:
    """Suggest the best missing links: of some nodes, or of the whole graph.

    [dim]nafs suggest-links edges.csv -f features.csv --node ann -k 5[/dim]
    """
    run = Run(quiet, as_json)
    check_table_target(output, force=force)
    graph = o.read(run, locals())
    if embedding is not None:
        vectors = Embedding.load(embedding, graph)
    else:
        with run.stage("embed"):
            vectors = embed(graph, n_hops=o.parse_hops(hops), goal="links", n_threads=threads)
        assert vectors.choice is not None
        run.notes += vectors.choice.reasons
    options = {} if score is None else {"score": score}
    with run.stage("search", total=1) as advance:
        found = vectors.suggest_links(
            graph, count, node or None, n_threads=check_threads(threads), progress=advance, **options
        )
    if found.num_rows < count * (len(node) if node else 1):
        run.notes.append(f"{found.num_rows} missing links found, fewer than asked for")
    if output is None:
        run.say_notes()
    show_table(run, found, output, force=force)
