"""`nafs describe`: what a graph looks like."""

from __future__ import annotations

from dataclasses import replace

from nafs.cli.flags import command
from nafs.cli.options import TablePrinting
from nafs.cli.reading import Edges, Reading, read


@command
def describe(edges: Edges, reading: Reading, printing: TablePrinting) -> None:
    """Count nodes, edges, components, degrees, features and labels.

    Nodes without a row in the feature table are counted here; other commands ask for --missing zeros.
    """
    run = printing.start()
    graph = read(run, edges, replace(reading, missing="zeros"))  # nodes without a row are counted in a note
    with run.stage("count"):
        description = graph.describe()
    run.answer(description.as_dict(), description.rows())
