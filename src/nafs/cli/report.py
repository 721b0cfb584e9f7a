"""`nafs report`: an embedding as a page to look at."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from nafs._support.budget import show_bytes
from nafs.cli.console import peak_memory
from nafs.cli.embedding_options import EmbeddingOptions, RunOptions
from nafs.cli.flags import command, flag, reject_changes
from nafs.cli.options import OUTPUT, Force, Printing, beside
from nafs.cli.reading import READING, Reading, is_dataset, load, read
from nafs.embedding import Embedding, embed, with_some_features
from nafs.graph import Graph
from nafs.readers.tables import is_parquet
from nafs.smoothing.threads import check_threads
from nafs.writers.tables import is_table


@command
def report(
    name: Annotated[
        str,
        typer.Argument(
            metavar="EMBEDDING|DATASET|EDGES",
            help="A file that nafs embed wrote, a data set by name, or edges, which are embedded first.",
            show_default=False,
        ),
    ],
    reading: Reading,
    embedding: EmbeddingOptions,
    running: RunOptions,
    printing: Printing,
    graph_path: Annotated[
        str | None,
        flag(
            "--graph",
            metavar="EDGES",
            help="With an embedding: its edges, to show degrees, hops and linked nodes.",
            panel=READING,
        ),
    ] = None,
    output: Annotated[
        str, flag("--output", "-o", metavar="FILE", help="Where to write the page, .html.", panel=OUTPUT)
    ] = "report.html",
    replay: Annotated[
        bool,
        flag(
            "--replay/--no-replay",
            help="Show how a sample's map changes with the hops.",
            panel=OUTPUT,
        ),
    ] = True,
    force: Force = False,
) -> None:
    """Write a page with a map of the nodes, their hops and their neighbours.

    [dim]nafs report embedding.parquet --graph edges.csv -f features.csv -o report.html[/dim]
    """
    from nafs.report.contents import collect, show_run
    from nafs.report.page import check_page_target, write_page

    run = printing.start()
    check_page_target(output, force=force)
    facts = None
    if _is_embedding(name, reading.features, graph_path):
        kept = ("n_clusters", "n_threads", "memory_limit")
        reject_changes(embedding, EmbeddingOptions(), f"{name} is an embedding already", except_for=kept)
        if graph_path is None:
            reject_changes(reading, Reading(), "there are no edges to read; name them with --graph")
            graph = None
        else:
            graph = read(run, graph_path, reading, scratch_dir=beside(output))
        with run.stage("vectors"):
            vectors = Embedding.load(name, graph)
        graph = _with_features_of(vectors.settings, graph)
    else:
        known = load(run, name, reading).graph if is_dataset(name) else None
        graph = known or read(run, name, reading, scratch_dir=beside(output))
        graph = with_some_features(graph, embedding.columns, embedding.seed)
        run.notes += [note for note in graph.notes if note not in run.notes]
        start = time.perf_counter()
        with run.stage("embed"):
            vectors = _embed(graph, embedding, running)
        facts = show_run(time.perf_counter() - start, peak_memory())
    with run.stage("collect") as advance:
        data = collect(
            vectors,
            graph,
            title=f"nafs: {Path(name).stem}",
            n_clusters=embedding.n_clusters,
            replay=replay,
            run=facts,
            n_threads=check_threads(embedding.n_threads),
            told=lambda part: advance(0, f"collect: {part}"),
        )
    size = write_page(data, output, force=force)
    shown = data["nodes"]
    run.finish(
        "report",
        [("nodes shown", f"{shown:,}"), ("size", show_bytes(size)), ("result", output)],
        {"output": output, "nodes": len(vectors), "shown": shown, "bytes": size},
    )


def _embed(graph: Graph, embedding: EmbeddingOptions, running: RunOptions) -> Embedding:
    classes = None if graph.labels is None else len(graph.labels.classes)
    return embed(graph, **embedding.for_library(running, n_clusters=embedding.n_clusters or classes))


def _with_features_of(settings: dict[str, Any], graph: Graph | None) -> Graph | None:
    """The graph with the structural features that an embedding was made from, if it was."""
    if graph is None or graph.features is not None or "columns" not in settings:
        return graph
    return with_some_features(graph, int(settings["columns"]), int(settings.get("seed", 0)))


def _is_embedding(name: str, features: str | None, graph: str | None) -> bool:
    """Whether a file holds vectors rather than edges: by the other options, its suffix or its columns."""
    if graph is not None:
        return True
    path = Path(name)
    if features is not None or not path.is_file():
        return False
    lower = name.lower()
    if lower.endswith(".npy"):
        return True
    if is_parquet(lower):
        import pyarrow.parquet

        schema = pyarrow.parquet.read_schema(path)
        return b"nafs" in (schema.metadata or {}) or _has_vectors(schema.names)
    if not is_table(lower):
        return False
    with gzip.open(path, "rt") if lower.endswith(".gz") else path.open() as file:
        first = file.readline()
    return _has_vectors([word.strip(' "\n') for word in first.replace("\t", ",").split(",")])


def _has_vectors(names: list[str]) -> bool:
    """Whether these are the columns of a written embedding."""
    return "embedding" in names or {"id", "e0"} <= set(names)
