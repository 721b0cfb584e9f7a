"""What `nafs report` and `nafs explore` have in common: their options, and gathering the page."""

from __future__ import annotations

import gzip
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nafs._support.budget import check_limit, parse_memory
from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run, peak_memory
from nafs.cli.embedding_options import EmbeddingOptions, RunOptions
from nafs.cli.flags import flag, reject_changes, text_flag
from nafs.cli.options import OUTPUT
from nafs.cli.reading import READING, Reading, is_dataset, load, read
from nafs.embedding import Embedding, embed, with_some_features
from nafs.graph import Graph
from nafs.readers.spool import is_pipe
from nafs.readers.tables import TableOptions, is_parquet
from nafs.smoothing.threads import check_threads
from nafs.writers.tables import is_table

if TYPE_CHECKING:
    from nafs.report import Column

Name = Annotated[
    str,
    typer.Argument(
        metavar="EMBEDDING|DATASET|EDGES",
        help="A file that nafs embed wrote, a data set by name, or edges, which are embedded first.",
        show_default=False,
    ),
]


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """What is on the page."""

    graph_path: Annotated[
        str | None,
        flag(
            "--graph",
            metavar="EDGES",
            help="With an embedding: its graph, to show degrees, hops and linked nodes.",
            panel=READING,
        ),
    ] = None
    columns_from: Annotated[
        str | None,
        flag(
            "--columns-from",
            metavar="FILE",
            help="Table with a row per node (.csv, .tsv, .parquet) whose columns to show "
            "[dim](default: the feature table)[/dim].",
            panel=OUTPUT,
        ),
    ] = None
    columns: Annotated[
        tuple[str, ...],
        text_flag(
            "--columns",
            metavar="NAMES",
            help="Which of its columns to show, separated by commas "
            "[dim](default: up to 12, text and categories first)[/dim].",
            parse=_names,
            write=",".join,
            panel=OUTPUT,
        ),
    ] = ()
    replay: Annotated[
        bool,
        flag(
            "--replay/--no-replay",
            help="Show how the map of a sample changes with the hops.",
            panel=OUTPUT,
        ),
    ] = True


# Bytes of memory that a page takes, measured and rounded up: libraries, clusters and maps of a sample of the
# nodes, and copies of the vectors.
PROGRAM, PER_SAMPLED_NODE, SAMPLED, PER_VALUE = 150 << 20, 90_000, 5_000, 40


@dataclass(frozen=True)
class Gathered:
    """A page before it is written."""

    data: dict[str, Any]
    embedding: Embedding
    graph: Graph | None


def gather(
    run: Run,
    name: str,
    reading: Reading,
    embedding: EmbeddingOptions,
    running: RunOptions,
    page: PageOptions,
    *,
    scratch_dir: Path | None,
    details: bool = True,
) -> Gathered:
    """Read or embed, and collect everything that the page shows."""
    from nafs.report.contents import collect, show_run

    facts = None
    if is_embedding(name, reading.features, page.graph_path):
        kept = ("n_clusters", "n_threads", "memory_limit")
        reject_changes(embedding, EmbeddingOptions(), f"{name} is an embedding already", except_for=kept)
        graph = None
        if page.graph_path is None:
            why = "there are no edges to read; name them with --graph"
            reject_changes(reading, Reading(), why, except_for=["memory_limit"])
        else:
            graph = read(run, page.graph_path, reading, scratch_dir=scratch_dir)
        with run.stage("vectors"):
            vectors = Embedding.load(name, graph, memory_limit=embedding.memory_limit)
        graph = _with_features_of(vectors.settings, graph)
    else:
        known = load(run, name, reading).graph if is_dataset(name) else None
        graph = known or read(run, name, reading, scratch_dir=scratch_dir)
        graph = with_some_features(graph, embedding.dim, embedding.seed)
        run.notes += [note for note in graph.notes if note not in run.notes]
        start = time.perf_counter()
        with run.stage("embed"):
            classes = None if graph.labels is None else len(graph.labels.classes)
            options = embedding.for_library(running, n_clusters=embedding.n_clusters or classes)
            vectors = embed(graph, **options)
        facts = show_run(time.perf_counter() - start, peak_memory())
    needed = PROGRAM + PER_SAMPLED_NODE * min(len(vectors), SAMPLED) + PER_VALUE * vectors.matrix.size
    check_limit(needed, parse_memory(embedding.memory_limit), "the page takes about", "raise it")
    with run.stage("columns"):
        columns = _columns(vectors, reading, page)
    data = collect(
        vectors,
        graph,
        columns=columns,
        title=Path(name).name.split(".")[0],
        n_clusters=embedding.n_clusters,
        replay=page.replay,
        details=details,
        run=facts,
        n_threads=check_threads(embedding.n_threads),
        stage=run.stage,
    )
    return Gathered(data, vectors, graph)


def _columns(vectors: Embedding, reading: Reading, page: PageOptions) -> list[Column]:
    """The columns of the table that the user named, or else of the feature or label table."""
    from nafs.report.columns import read_columns

    path = page.columns_from
    for table in (reading.features, reading.labels):
        if path is None and table is not None and (is_table(table) or is_parquet(table)):
            path = None if is_pipe(table) else table  # a pipe was read before, and is empty now
    if path is None:
        if page.columns:
            raise InputError(
                "there is no table to take columns from; name one with ", Parameter("columns_from")
            )
        return []
    options = TableOptions(delimiter=reading.delimiter, header=reading.header, comment=reading.comment)
    ids = vectors.id_array
    return read_columns(path, ids, page.columns or None, id_column=reading.id_column, options=options)


def _with_features_of(settings: dict[str, Any], graph: Graph | None) -> Graph | None:
    """The graph with the structural features that an embedding was made from, if it was from them alone."""
    if graph is None or graph.features is not None:
        return graph
    if "seed" not in settings or "structure_share" in settings:  # its features are not in the graph
        return graph
    return with_some_features(graph, int(settings["dim"]), int(settings["seed"]))


def is_embedding(name: str, features: str | None, graph: str | None) -> bool:
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
