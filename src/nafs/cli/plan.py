"""`nafs plan`: what an embedding would take, before it runs."""

from __future__ import annotations

from dataclasses import asdict

from nafs._support.budget import show_bytes
from nafs._support.counted import counted
from nafs.cli.console import show_seconds
from nafs.cli.embedding_options import EmbeddingOptions, Scheduler, engine_for
from nafs.cli.flags import command
from nafs.cli.options import TablePrinting
from nafs.cli.reading import Edges, Reading, read
from nafs.engines.probe import guess_seconds
from nafs.pipeline import Job, decide


@command
def plan(
    edges: Edges,
    reading: Reading,
    embedding: EmbeddingOptions,
    printing: TablePrinting,
    client: Scheduler = None,
) -> None:
    """Show how nafs embed would run with the same options: choices, engine, memory, disk space and time.

    Automatic choices are made, and a probe of about a second estimates the time.
    """
    run = printing.start()
    settings = embedding.settings(engine=engine_for(embedding.engine, client))
    graph = read(run, edges, reading)
    job = Job.of(graph, settings, client=client)
    run.notes += job.notes
    with run.stage("decide"):
        decision = decide(job)
    with run.stage("probe"):
        seconds = guess_seconds(decision.problem, decision.plan)
    n, dimensions = graph.n_nodes, decision.n_columns
    facts = {
        "nodes": n,
        "edges": graph.n_edges,
        "features": job.size.n_columns,
        "dimensions": dimensions,
        "graph_bytes": graph.nbytes,
        "settings": {name: value for name, value in decision.settings.items() if value is not None},
        "chosen": list(decision.choice.reasons),
        "plan": asdict(decision.plan),
        "seconds": seconds,
    }
    time = f"about {show_seconds(seconds)} on {counted(settings.resources.threads, 'thread')}"
    run.answer(
        facts,
        [
            ("graph", f"{n:,} nodes, {graph.n_edges:,} edges; {show_bytes(graph.nbytes)} in memory"),
            *decision.rows(),
            ("result", f"{n:,} x {dimensions:,} float32: {show_bytes(n * dimensions * 4)} as .npy"),
            ("time", time),
        ],
    )
