"""`nafs plan`: what an embedding would take, before it runs."""

from __future__ import annotations

from typing import Any

from nafs._support.budget import show_bytes
from nafs.cli.console import show_seconds
from nafs.cli.embedding_options import EmbeddingOptions
from nafs.cli.flags import command
from nafs.cli.options import TablePrinting
from nafs.cli.reading import Edges, Reading, read
from nafs.engines import disk, memory
from nafs.engines.probe import guess_seconds
from nafs.engines.run import choose_engine
from nafs.engines.settings import AUTO
from nafs.graph import Graph
from nafs.smoothing import Method


@command
def plan(edges: Edges, reading: Reading, embedding: EmbeddingOptions, printing: TablePrinting) -> None:
    """Estimate the memory, disk space and time of an embedding, with a probe of about a second."""
    run = printing.start()
    settings = embedding.settings()
    method, resources = settings.method(), settings.resources()
    limit, n_threads = resources["memory_limit"], resources["n_threads"]
    graph = read(run, edges, reading)
    if settings.n_hops == AUTO:
        run.notes.append(
            f"--hops auto chooses among up to {method.n_hops} hops: the plan is for that many, without the "
            "choice itself"
        )
    width = embedding.columns if graph.features is None else graph.features.shape[1]
    width = min(width, settings.reduce_to or width)
    engines = _engines(graph, width, method, resources["state_dtype"], limit)
    try:
        engine: str | None = choose_engine(graph.adjacency, width, method, settings)
    except MemoryError:
        engine = None
    with run.stage("probe"):
        seconds = guess_seconds(graph.adjacency, width, method, n_threads=n_threads)
    n, dimensions = graph.n_nodes, method.n_columns(width)
    facts = {
        "nodes": n,
        "edges": graph.n_edges,
        "features": width,
        "dimensions": dimensions,
        "graph_bytes": graph.nbytes,
        "engines": engines,
        "engine": engine,
        "seconds": seconds,
    }
    kind = "structural features" if graph.features is None else "features"
    size = f"{n:,} nodes, {graph.n_edges:,} edges, {width:,} {kind}"
    work = f"{method.n_hops} hops and {len(method.r)} r's on {n_threads} thread(s) in memory"
    if engine == "disk":
        work += ", about twice as long on disk"
    in_memory, on_disk = engines["memory"], engines["disk"]
    panels = f", in {on_disk['panels']} panel(s), with {show_bytes(on_disk['disk_bytes'])} of disk"
    output, asked = show_bytes(n * dimensions * 4), engine is not None and settings.engine != AUTO
    fits = {name: _verdict(name, engine, limit, asked=asked) for name in ("memory", "disk")}
    run.answer(
        facts,
        [
            ("graph", f"{size}; {show_bytes(graph.nbytes)} in memory"),
            ("result", f"{n:,} x {dimensions:,} float32: {output} on disk as .npy"),
            (
                "memory engine",
                f"{show_bytes(in_memory['bytes'])} besides the graph{fits['memory']}",
            ),
            (
                "disk engine",
                f"{show_bytes(on_disk['bytes'])}{panels}{fits['disk']}",
            ),
            ("time", f"about {show_seconds(seconds)} for {work}"),
        ],
    )


def _engines(graph: Graph, width: int, method: Method, dtype: str, limit: int | None) -> dict[str, Any]:
    """What each engine needs within the limit, or at least if the limit is too small."""
    adjacency, stored = graph.adjacency, 0 if graph.features is None else graph.features.nbytes
    least = memory.plan(adjacency, width, method, state_dtype=dtype).nbytes
    fits = limit is None or least <= limit
    if fits:
        least = memory.plan(adjacency, width, method, state_dtype=dtype, memory_limit=limit).nbytes
    output = graph.n_nodes * method.n_columns(width) * 4
    engines: dict[str, Any] = {"memory": {"bytes": least, "disk_bytes": output, "fits": fits}}
    smallest = disk.smallest_limit(adjacency, width, method, state_dtype=dtype)
    allowed = None if limit is None else max(limit, smallest)
    plan = disk.plan(adjacency, (width, stored), method, state_dtype=dtype, memory_limit=allowed)
    engines["disk"] = {
        "bytes": plan.nbytes,
        "disk_bytes": plan.disk_bytes + output,
        "panels": len(plan.widths),
        "fits": limit is None or smallest <= limit,
    }
    return engines


def _verdict(name: str, engine: str | None, limit: int | None, *, asked: bool) -> str:
    if name == engine:
        return "; chosen" if limit is None else f"; chosen, within {show_bytes(limit)}"
    if asked or (engine is not None and name != "memory"):
        return ""
    return f"; does not fit into {'free memory' if limit is None else show_bytes(limit)}"
