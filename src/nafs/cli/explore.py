"""`nafs explore`: open the page of an embedding in the browser."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

from nafs.cli.console import results
from nafs.cli.embedding_options import EmbeddingOptions, RunOptions
from nafs.cli.flags import command, flag
from nafs.cli.options import OUTPUT, Printing
from nafs.cli.page import Name, PageOptions, gather
from nafs.cli.reading import Reading


@command
def explore(
    name: Name,
    reading: Reading,
    embedding: EmbeddingOptions,
    running: RunOptions,
    page: PageOptions,
    printing: Printing,
    port: Annotated[
        int | None,
        flag(
            "--port",
            metavar="N",
            help="Serve the page on this port of this machine, for graphs too large for a file; 0 takes any "
            "free port.",
            panel=OUTPUT,
        ),
    ] = None,
    browser: Annotated[
        bool,
        flag(
            "--browser/--no-browser",
            help="Open the page in the browser, or only print its address.",
            panel=OUTPUT,
        ),
    ] = True,
) -> None:
    """Open a page to explore an embedding in your browser.

    [dim]nafs explore embedding.parquet --graph edges.csv --columns-from people.csv[/dim]
    """
    import webbrowser

    run = printing.start()
    if port is not None:
        from nafs.report.server import check_port

        check_port(port)
    served = port is not None
    gathered = gather(run, name, reading, embedding, running, page, scratch_dir=None, details=not served)
    n = len(gathered.embedding)
    if port is None:
        from nafs.report.page import write_page

        folder = Path(tempfile.mkdtemp(prefix="nafs-explore-"))
        path = folder / "explore.html"
        size = write_page(gathered.data, path)
        address = path.as_uri()
        run.finish(
            "explore",
            [("nodes", f"{n:,}"), ("page", str(path))],
            {"output": str(path), "nodes": n, "bytes": size},
        )
        if browser:
            webbrowser.open(address)
        return
    from nafs.report.server import PageServer

    with PageServer(gathered.data, gathered.embedding, gathered.graph, port) as server:
        run.finish(
            "explore",
            [("nodes", f"{n:,}"), ("page", server.address), ("stop", "Ctrl-C")],
            {"address": server.address, "nodes": n},
        )
        results.file.flush()
        if browser:
            webbrowser.open(server.address)
        server.serve_forever()
