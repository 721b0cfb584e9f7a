"""`nafs report`: an embedding as a page to explore and to send to others."""

from __future__ import annotations

from typing import Annotated

from nafs._support.budget import show_bytes
from nafs.cli.embedding_options import EmbeddingOptions, RunOptions
from nafs.cli.flags import command, flag
from nafs.cli.options import OUTPUT, Force, Printing, beside
from nafs.cli.page import Name, PageOptions, gather
from nafs.cli.reading import Reading


@command
def report(
    name: Name,
    reading: Reading,
    embedding: EmbeddingOptions,
    running: RunOptions,
    page: PageOptions,
    printing: Printing,
    output: Annotated[
        str, flag("--output", "-o", metavar="FILE", help="Where to write the page, .html.", panel=OUTPUT)
    ] = "report.html",
    force: Force = False,
) -> None:
    """Write a page to explore: a map of the nodes with their columns, clusters, hops and neighbours.

    [dim]nafs report embedding.parquet --graph edges.csv --columns-from people.csv -o report.html[/dim]
    """
    from nafs.report.page import check_page_target, write_page

    run = printing.start()
    check_page_target(output, force=force)
    gathered = gather(run, name, reading, embedding, running, page, scratch_dir=beside(output))
    with run.stage("write"):
        size = write_page(gathered.data, output, force=force)
    n = len(gathered.embedding)
    run.finish(
        "report",
        [("nodes", f"{n:,}"), ("size", show_bytes(size)), ("result", output)],
        {"output": output, "nodes": n, "bytes": size},
    )
