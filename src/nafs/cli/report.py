"""`nafs report`: a page to look at."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Annotated, Optional

import typer

from nafs._support.budget import show_bytes
from nafs.cli import options as o
from nafs.cli.console import Run, peak_memory
from nafs.datasets.catalog import CATALOG
from nafs.embedding import Embedding, embed, with_some_features
from nafs.graph import Graph
from nafs.readers.tables import is_parquet
from nafs.smoothing.threads import check_threads
from nafs.writers.tables import is_table


def report(
    target_name: Annotated[
        str,
        typer.Argument(
            metavar="EMBEDDING|DATASET|EDGES",
            help="What nafs embed wrote; a data set by name; or edges as for embed, embedded first.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="The page, .html.", rich_help_panel=o.OUTPUT)
    ] = "report.html",
    graph_path: Annotated[
        Optional[str],
        typer.Option(
            "--graph",
            help="With an embedding: the edges that it was made from, for degrees, hops and neighbours.",
            rich_help_panel=o.READING,
        ),
    ] = None,
    features: o.FeaturesOption = None,
    labels: o.LabelsOption = None,
    hops: o.HopsOption = "20",
    r: o.ROption = "0,0.1,0.2,0.3,0.4,0.5",
    preprocessing: o.PreprocessingOption = None,
    clusters: o.ClustersOption = None,
    replay: Annotated[
        bool, typer.Option("--replay/--no-replay", help="Draw the maps of a sample over hops too.")
    ] = True,
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
    force: o.ForceOption = False,
    quiet: o.QuietOption = False,
    as_json: o.JsonOption = False,
) -> None:
    """Write a page with the map, the hops and the neighbours of every node.

    [dim]nafs report embedding.parquet --graph edges.csv -f features.csv -o report.html[/dim]
    """
    from nafs.report.contents import collect, show_run
    from nafs.report.page import check_page_target, write_page

    run = Run(quiet, as_json)
    check_page_target(output, force=force)
    given = locals()
    facts = None
    if _is_embedding(target_name, features, graph_path):
        graph = None if graph_path is None else o.read(run, given | {"edges": graph_path})
        with run.stage("vectors"):
            made = Embedding.load(target_name, graph)
        how = made.settings
        if graph is not None and graph.features is None and "columns" in how:
            graph = with_some_features(graph, int(how["columns"]), int(how.get("seed", 0)))
    else:
        graph = with_some_features(_read(run, target_name, given))
        run.notes += [note for note in graph.notes if note not in run.notes]
        start = time.perf_counter()
        with run.stage("embed"):
            made = embed(
                graph,
                n_hops=o.parse_hops(hops),
                r=o.parse_r(r),
                preprocessing=preprocessing,
                n_clusters=clusters or (None if graph.labels is None else len(graph.labels.classes)),
                n_threads=threads,
            )
        facts = show_run(time.perf_counter() - start, peak_memory())
    with run.stage("collect") as advance:
        data = collect(
            made,
            graph,
            title=f"nafs: {Path(target_name).stem}",
            n_clusters=clusters,
            replay=replay,
            run=facts,
            n_threads=check_threads(threads),
            told=lambda part: advance(0, f"collect: {part}"),
        )
    size = write_page(data, output, force=force)
    shown = data["nodes"]
    run.finish(
        "report",
        [("nodes shown", f"{shown:,}"), ("size", show_bytes(size)), ("result", output)],
        {"output": output, "nodes": len(made), "shown": shown, "bytes": size},
    )


def _is_embedding(name: str, features: str | None, graph: str | None) -> bool:
    """Vectors in a file, and not edges: said by --graph, by what is beside, or by the columns."""
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
    """Whether columns are those of an embedding that was written."""
    return "embedding" in names or {"id", "e0"} <= set(names)


def _read(run: Run, name: str, given: dict[str, object]) -> Graph:
    if not Path(name).exists() and name.lower().replace("_", "-") in CATALOG:
        from nafs.datasets import load_dataset

        with run.stage("read"):
            return load_dataset(name, progress=not run.quiet).graph
    return o.read(run, given | {"edges": name})
