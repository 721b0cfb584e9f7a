"""`nafs plan`: what an embedding would take, before it runs."""

from __future__ import annotations

import json
from typing import Any

from nafs._support.budget import show_bytes
from nafs.cli import options as o
from nafs.cli.console import Run, results, show_seconds, table_of
from nafs.engines import disk, memory
from nafs.engines.probe import guess_seconds
from nafs.engines.run import choose_engine
from nafs.engines.settings import AUTO, Settings
from nafs.graph import Graph
from nafs.smoothing import Method


def plan(
    edges: o.EdgesArgument,
    features: o.FeaturesOption = None,
    labels: o.LabelsOption = None,
    hops: o.HopsOption = "20",
    r: o.ROption = "0,0.1,0.2,0.3,0.4,0.5",
    ensemble: o.EnsembleOption = "mean",
    weighting: o.WeightingOption = "adaptive",
    distance: o.DistanceOption = "cosine",
    columns: o.ColumnsOption = 128,
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
    memory_limit: o.MemoryOption = None,
    float16: o.Float16Option = False,
    quiet: o.QuietOption = False,
    as_json: o.JsonOption = False,
) -> None:
    """Say what an embedding would take: memory, disk and, from a one-second probe, time."""
    run = Run(quiet, as_json)
    settings = Settings(
        o.parse_hops(hops),
        o.parse_r(r),
        ensemble,
        weighting,
        distance,
        state_dtype="float16" if float16 else "float32",
        n_threads=threads,
        memory_limit=memory_limit,
    )
    method, resources = settings.method(), settings.resources()
    limit, n_threads = resources["memory_limit"], resources["n_threads"]
    graph = o.read(run, locals())
    if settings.n_hops == AUTO:
        run.notes.append(
            f"--hops auto chooses among up to {method.n_hops}: that many are planned for, the choice is not"
        )
    width = columns if graph.features is None else graph.features.shape[1]
    engines = _engines(graph, width, method, resources["state_dtype"], limit)
    try:
        chosen: str | None = choose_engine(graph.adjacency, width, method, settings)
    except MemoryError:
        chosen = None
    with run.stage("probe"):
        seconds = guess_seconds(graph.adjacency, width, method, n_threads=n_threads)
    output = graph.n_nodes * method.n_columns(width) * 4
    facts = {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "features": width,
        "dimensions": method.n_columns(width),
        "graph_bytes": graph.nbytes,
        "engines": engines,
        "engine": chosen,
        "seconds": seconds,
    }
    if as_json:
        print(json.dumps(facts | {"notes": run.notes}, ensure_ascii=False))
        return
    n, dimensions = graph.n_nodes, method.n_columns(width)
    kind = "structural features to be made" if graph.features is None else "features"
    size = f"{n:,} nodes, {graph.n_edges:,} edges, {width:,} {kind}"
    run.say_notes()
    work = f"{method.n_hops} hops and {len(method.r)} r's on {n_threads} thread(s) in memory"
    if chosen == "disk":
        work += ", on disk about twice as long"
    memory, disk_plan = engines["memory"], engines["disk"]
    panels = f", in {disk_plan['panels']} panel(s), with {show_bytes(disk_plan['disk_bytes'])} of disk"
    rows = [
        ("graph", f"{size}; {show_bytes(graph.nbytes)} in memory"),
        ("result", f"{n:,} x {dimensions:,} float32: {show_bytes(output)} on disk as .npy"),
        (
            "memory engine",
            f"{show_bytes(memory['bytes'])} besides the graph{_verdict('memory', chosen, limit)}",
        ),
        ("disk engine", f"{show_bytes(disk_plan['bytes'])}{panels}{_verdict('disk', chosen, limit)}"),
        ("time", f"about {show_seconds(seconds)} for {work}"),
    ]
    results.print(table_of(rows))


def _engines(graph: Graph, width: int, method: Method, dtype: str, limit: int | None) -> dict[str, Any]:
    """What each engine takes within the limit, or at least where that is too small."""
    adjacency, stored = graph.adjacency, 0 if graph.features is None else graph.features.nbytes
    least = memory.plan(adjacency, width, method, state_dtype=dtype).nbytes
    fits = limit is None or least <= limit
    if fits:
        least = memory.plan(adjacency, width, method, state_dtype=dtype, memory_limit=limit).nbytes
    output = graph.n_nodes * method.n_columns(width) * 4
    found: dict[str, Any] = {"memory": {"bytes": least, "disk_bytes": output, "fits": fits}}
    smallest = disk.smallest_limit(adjacency, width, method, state_dtype=dtype)
    allowed = None if limit is None else max(limit, smallest)
    plan = disk.plan(adjacency, (width, stored), method, state_dtype=dtype, memory_limit=allowed)
    found["disk"] = {
        "bytes": plan.nbytes,
        "disk_bytes": plan.disk_bytes + output,
        "panels": len(plan.widths),
        "fits": limit is None or smallest <= limit,
    }
    return found


def _verdict(engine: str, chosen: str | None, limit: int | None) -> str:
    if engine == chosen:
        return "; chosen" if limit is None else f"; chosen, within {show_bytes(limit)}"
    if chosen is not None and engine != "memory":
        return ""
    return f"; does not fit into {'what is free' if limit is None else show_bytes(limit)}"
