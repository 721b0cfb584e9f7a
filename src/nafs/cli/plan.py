"""`nafs plan`: what an embedding would take, before it runs."""

from __future__ import annotations

import json

from nafs.cli import options as o
from nafs.cli.console import Run, results, show_seconds, table_of
from nafs.engines.budget import parse_memory, show_bytes
from nafs.engines.memory import plan as plan_memory
from nafs.engines.probe import guess_seconds
from nafs.engines.settings import Settings
from nafs.smoothing.threads import check_threads


def plan(
    edges: o.EdgesArgument,
    features: o.FeaturesOption = None,
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
    wanted = o.parse_hops(hops)
    settings = Settings(wanted, o.parse_r(r), ensemble, weighting, distance)
    method = settings.method()
    limit, n_threads = parse_memory(memory_limit), check_threads(threads)
    graph = o.read(run, locals())
    if wanted == "auto":
        run.notes.append(
            f"--hops auto chooses among up to {method.n_hops}: that many are planned for, the choice is not"
        )
    width = columns if graph.features is None else graph.features.shape[1]
    dtype = "float16" if float16 else "float32"
    least = plan_memory(graph.adjacency, width, method, state_dtype=dtype).nbytes
    fits = limit is None or least <= limit
    chosen = (
        plan_memory(graph.adjacency, width, method, state_dtype=dtype, memory_limit=limit) if fits else None
    )
    with run.stage("probe"):
        seconds = guess_seconds(graph.adjacency, width, method, n_threads=n_threads)
    nbytes = least if chosen is None else chosen.nbytes
    output = graph.n_nodes * method.n_columns(width) * 4
    facts = {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "features": width,
        "dimensions": method.n_columns(width),
        "graph_bytes": graph.nbytes,
        "engines": {"memory": {"bytes": nbytes, "disk_bytes": output, "fits": fits}},
        "engine": "memory" if fits else None,
        "seconds": seconds,
    }
    if as_json:
        print(json.dumps(facts | {"notes": run.notes}, ensure_ascii=False))
        return
    n, dimensions = graph.n_nodes, method.n_columns(width)
    kind = "structural features to be made" if graph.features is None else "features"
    size = f"{n:,} nodes, {graph.n_edges:,} edges, {width:,} {kind}"
    run.say_notes()
    work = f"{method.n_hops} hops and {len(method.r)} r's on {n_threads} thread(s)"
    rows = [
        ("graph", f"{size}; {show_bytes(graph.nbytes)} in memory"),
        ("result", f"{n:,} x {dimensions:,} float32: {show_bytes(output)} on disk as .npy"),
        ("memory engine", f"{show_bytes(nbytes)} besides the graph{_verdict(fits, limit)}"),
        ("time", f"about {show_seconds(seconds)} for {work}"),
    ]
    results.print(table_of(rows))


def _verdict(fits: bool, limit: int | None) -> str:
    if limit is None:
        return "; chosen (no memory limit given)"
    return f"; chosen, within {show_bytes(limit)}" if fits else f"; does not fit into {show_bytes(limit)}"
