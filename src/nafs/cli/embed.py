"""`nafs embed`: edges and features in, vectors keyed by node id out."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from nafs._support.atomic import check_length
from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run
from nafs.cli.embedding_options import EmbeddingOptions, RunOptions, engine_for
from nafs.cli.flags import command, flag, switch
from nafs.cli.keeping import announce_model, build_model, check_keeping, kept_embedding
from nafs.cli.options import OUTPUT, Force, Printing, beside
from nafs.cli.reading import Edges, Reading, read
from nafs.embedding import Embedding, embedding_of
from nafs.engines.leftovers import announce_output, remove_leftovers
from nafs.engines.progress import Progress
from nafs.model import without_structure
from nafs.pipeline import Decision, Job, Outcome, decide, execute
from nafs.smoothing.method import AUTO
from nafs.writers.embeddings import check_embedding_target, write_embedding_table
from nafs.writers.tables import ARROW, PARQUET


@command
def embed(
    edges: Edges,
    output: Annotated[
        str,
        flag(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write the embedding: .parquet, .feather, .jsonl, .csv, .tsv, .csv.gz, .npy, "
            ".lance, .usearch (a search index), or - for CSV on stdout.",
            panel=OUTPUT,
        ),
    ],
    reading: Reading,
    embedding: EmbeddingOptions,
    running: RunOptions,
    printing: Printing,
    dtype: Annotated[
        str,
        switch(
            "--half-output",
            help="Write the vectors in half precision, to halve the file.",
            panel=OUTPUT,
            on="float16",
            off="float32",
        ),
    ] = "float32",
    layout: Annotated[
        str,
        flag(
            "--layout",
            help="Shape of the table: list (one column of vectors) or columns (one per dimension, as CSV "
            "always has).",
            panel=OUTPUT,
        ),
    ] = "list",
    keep: Annotated[
        str | None,
        flag(
            "--keep",
            metavar="FOLDER",
            help="Also save a model in this folder, which `nafs update` can update.",
            panel=OUTPUT,
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Embed the nodes of a graph.

    [dim]nafs embed edges.csv -f features.parquet -o embedding.parquet[/dim]
    """
    run = printing.start()
    to_stdout = output == "-"
    settings = embedding.settings(
        engine=engine_for(embedding.engine, running.client),
        work_dir=embedding.work_dir or (None if to_stdout else f"{output}.work"),
    )
    if settings.resources.work_dir is not None:
        check_length(Path(settings.resources.work_dir))
    if dtype == "float16" and not output.lower().endswith((".npy", *PARQUET, *ARROW)):
        raise InputError(Parameter("dtype", dtype), " is for .npy, .parquet and .feather files")
    if running.resume and settings.resources.work_dir is None:
        raise InputError(
            Parameter("resume", True), " needs ", Parameter("work_dir"), " with output on stdout"
        )
    if not to_stdout:
        if running.resume and not Path(output).exists():
            remove_leftovers(settings.resources.work_dir, output)
        check_embedding_target(output, layout, force=force)
    elif printing.as_json:
        raise InputError(
            Parameter("as_json"),
            " and the embedding cannot both go to stdout; write the embedding to a file",
        )
    if keep is not None:
        check_keeping(keep, running, dtype, force=force)
        if settings.structure == AUTO:
            run.notes.append("structural columns were not tried, because updates cannot follow them")
        settings = without_structure(settings)
    graph = read(run, edges, reading, scratch_dir=beside(settings.resources.work_dir))
    job = Job.of(graph, settings, dtype=dtype, resume=running.resume, client=running.client)
    run.notes += job.notes
    with run.stage("decide"):
        decision = decide(job)
    _announce(run, decision)
    if keep is not None:
        announce_model(run, decision, graph, keep)
        model = build_model(run, decision, graph, keep, reading)
        result = replace(kept_embedding(model), labels=graph.labels)
        _write(run, result, output, layout, force)
        with run.stage("keep"):
            model.save(keep, force=force)
        reasons = list(model.settings["reasons"])
    else:
        with _execute(run, decision) as outcome:
            result = embedding_of(graph, job, outcome)
            if not to_stdout:
                announce_output(settings.resources.work_dir, output)
            _write(run, result, output, layout, force)
        reasons = list(outcome.choice.reasons)
    n, width = result.matrix.shape
    where = "stdout" if to_stdout else output
    run.finish(
        "embedding",
        [
            ("nodes", f"{n:,}"),
            ("edges", f"{graph.n_edges:,}"),
            ("features", f"{job.size.n_columns:,}"),
            *(("chosen", reason) for reason in reasons),
            ("dimensions", f"{width:,}"),
            ("engine", decision.plan.engine),
            ("result", where),
            *([("model", keep)] if keep is not None else []),
        ],
        {
            "output": where,
            "model": keep,
            "nodes": n,
            "edges": graph.n_edges,
            "features": job.size.n_columns,
            "dimensions": width,
            "chosen": reasons,
            "settings": {name: value for name, value in result.settings.items() if value is not None},
        },
    )


def _announce(run: Run, decision: Decision) -> None:
    """Print what was decided before the work starts, as `nafs plan` does."""
    problem = decision.problem
    if problem.interrupted_run:
        panels = len(problem.interrupted_run["widths"])
        run.say(f"resuming the run in {problem.work_dir}, in {panels} panel{'s' if panels > 1 else ''}")
    elif problem.resume:
        run.notes.append(f"there was no run to resume in {problem.work_dir}: started from the beginning")
    where = "" if decision.plan.engine == "memory" else f" in {problem.work_dir or 'a temporary folder'}"
    run.say(f"{decision.plan.explain()}{where}")


def _execute(run: Run, decision: Decision) -> Outcome:
    done = 0.0
    with run.stage("smooth", total=1.0) as advance:

        def progress(at: Progress) -> None:
            nonlocal done
            share = at.done / at.total
            advance(share - done, _where(at))
            done = share

        return execute(decision, progress)


def _where(at: Progress) -> str:
    if at.n_panels == 1:
        return "smooth"
    return f"{at.step} panel {at.panel + 1}/{at.n_panels}, r {at.r[0]:g}, hop {at.hop}/{at.n_hops}"


def _write(run: Run, embedding: Embedding, output: str, layout: str, force: bool) -> None:
    matrix = embedding.matrix
    with run.stage("write", total=len(matrix)) as advance:
        if output == "-":
            labels = None if embedding.labels is None else embedding.labels.to_arrow()
            ids = embedding.id_array
            write_embedding_table(sys.stdout.buffer, ".csv", matrix, ids, labels, layout="columns")
            sys.stdout.flush()
        else:
            embedding.write(output, layout=layout, force=force, progress=advance)
