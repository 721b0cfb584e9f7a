"""`nafs convert`: a graph from one format into another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from nafs._support.atomic import check_target
from nafs.cli import options as o
from nafs.cli.console import Run
from nafs.writers import write_graph, write_nodes
from nafs.writers.graphs import check_graph_target, write_edges


def convert(
    edges: o.EdgesArgument,
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="Edges: .csv, .tsv, .parquet, .mtx, .npz, - (stdout); all: .graphml, a folder (no ending).",
            show_default=False,
        ),
    ],
    features: o.FeaturesOption = None,
    labels: o.LabelsOption = None,
    nodes_out: Annotated[
        Optional[str],
        typer.Option(
            "--nodes-out",
            help="Ids, features and labels as a table: .csv, .tsv or .parquet.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
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
    memory_limit: o.MemoryOption = None,
    force: o.ForceOption = False,
    quiet: o.QuietOption = False,
    as_json: o.JsonOption = False,
) -> None:
    """Write a graph in another format.

    [dim]nafs convert edges.csv -f features.csv graph[/dim] makes a folder that keeps everything.
    """
    run = Run(quiet, as_json)
    if output != "-":
        check_graph_target(output, force=force)
    elif as_json:
        raise ValueError("--json and the edges cannot both go to stdout; write the edges to a file")
    if nodes_out is not None:
        if Path(nodes_out).resolve() == Path(output).resolve():
            raise ValueError(f"OUT and --nodes-out are the same file, {nodes_out}")
        check_target(Path(nodes_out), force=force)
    graph = o.read(run, locals())
    whole = (output != "-" and not Path(output).suffix) or output.lower().endswith(".graphml")
    with run.stage("write"):
        if nodes_out is not None:
            write_nodes(graph, nodes_out, force=force)
        if output == "-":
            write_edges(graph, sys.stdout.buffer, ".csv")
        else:
            write_graph(graph, output, force=force)
    if not whole and nodes_out is None:
        lost = [
            name
            for name, there in (
                ("features", graph.features is not None),
                ("labels", graph.labels is not None),
                ("ids", graph.has_ids and output.lower().endswith((".mtx", ".npz"))),
            )
            if there
        ]
        if lost:
            run.notes.append(f"{output} has no place for {' and '.join(lost)}; --nodes-out writes them")
    written = output if nodes_out is None else f"{output}, {nodes_out}"
    run.finish(
        "graph",
        [("nodes", f"{graph.n_nodes:,}"), ("edges", f"{graph.n_edges:,}"), ("result", written)],
        {"output": output, "nodes_out": nodes_out, "nodes": graph.n_nodes, "edges": graph.n_edges},
    )
