"""`nafs convert`: a graph from one format into another."""

from __future__ import annotations

import sys
from copy import copy
from pathlib import Path
from typing import Annotated

import typer

from nafs._support.atomic import check_target
from nafs._support.errors import InputError, Parameter
from nafs._support.scratch import scratch_in
from nafs.cli.flags import command, flag, switch
from nafs.cli.options import OUTPUT, Force, Printing, beside
from nafs.cli.reading import Edges, Reading, read
from nafs.graph import Graph
from nafs.smoothing.order import with_order
from nafs.writers import write_graph, write_nodes
from nafs.writers.graphs import check_graph_target, write_edges


@command
def convert(
    edges: Edges,
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="Edges only: .csv, .tsv, .parquet, .mtx, .npz, or - for CSV on stdout. The whole graph: "
            ".graphml, or a folder (a name without a suffix).",
            show_default=False,
        ),
    ],
    reading: Reading,
    printing: Printing,
    nodes_out: Annotated[
        str | None,
        flag(
            "--nodes-out",
            metavar="FILE",
            help="Write ids, features and labels to this table: .csv, .tsv or .parquet.",
            panel=OUTPUT,
        ),
    ] = None,
    order: Annotated[
        bool,
        switch(
            "--order",
            help="Save the order of nodes by community with the graph, so that later runs need not find it.",
            panel=OUTPUT,
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Write a graph in another format.

    [dim]nafs convert edges.csv -f features.csv graph[/dim] writes a folder that holds everything.
    """
    run = printing.start()
    to_stdout = output == "-"
    if not to_stdout:
        check_graph_target(output, force=force)
    elif printing.as_json:
        raise InputError(
            Parameter("as_json"), " and the edges cannot both go to stdout; write the edges to a file"
        )
    if nodes_out is not None:
        if Path(nodes_out).resolve() == Path(output).resolve():
            raise InputError(
                Parameter("output"), " and ", Parameter("nodes_out"), f" are the same file, {nodes_out}"
            )
        check_target(Path(nodes_out), force=force)
    if order and (to_stdout or Path(output).suffix):
        raise InputError(Parameter("order", True), f" is for folders; {output} has no place for an order")
    graph = read(run, edges, reading, scratch_dir=beside(output))
    if order:
        with run.stage("order"):
            graph = copy(graph)
            graph.adjacency = with_order(graph.adjacency, allocate=scratch_in(beside(output)))
    with run.stage("write"):
        if nodes_out is not None:
            write_nodes(graph, nodes_out, force=force)
        if to_stdout:
            write_edges(graph, sys.stdout.buffer, ".csv")
        else:
            write_graph(graph, output, force=force)
    lost = _lost(graph, output)
    if lost and nodes_out is None:
        run.notes.append(f"{output} has no place for {' and '.join(lost)}; --nodes-out writes them")
    written = output if nodes_out is None else f"{output}, {nodes_out}"
    run.finish(
        "graph",
        [("nodes", f"{graph.n_nodes:,}"), ("edges", f"{graph.n_edges:,}"), ("result", written)],
        {"output": output, "nodes_out": nodes_out, "nodes": graph.n_nodes, "edges": graph.n_edges},
    )


def _lost(graph: Graph, output: str) -> list[str]:
    """What the format of the output cannot hold."""
    keeps_all = (output != "-" and not Path(output).suffix) or output.lower().endswith(".graphml")
    if keeps_all:
        return []
    has_no_ids = output.lower().endswith((".mtx", ".npz"))
    parts = {
        "features": graph.features is not None,
        "labels": graph.labels is not None,
        "ids": graph.has_ids and has_no_ids,
    }
    return [name for name, exists in parts.items() if exists]
