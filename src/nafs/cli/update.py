"""`nafs update`: update an embedding after its graph has changed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from nafs._support.errors import InputError, Parameter
from nafs._support.scratch import Allocate, scratch_in
from nafs.cli.flags import command, flag
from nafs.cli.keeping import check_model_target, kept_embedding
from nafs.cli.options import OUTPUT, Force, MemoryLimit, Printing, Threads
from nafs.cli.reading import (
    READING,
    Header,
    IdColumn,
    SourceColumn,
    TargetColumn,
    WeightColumn,
    stdin_as_file,
)
from nafs.model import Model
from nafs.model.new_rows import Files, update_from_files
from nafs.writers.embeddings import check_embedding_target

CHANGES = "Changes"


@dataclass(frozen=True, kw_only=True)
class Changes:
    """The tables of an update."""

    edges: Annotated[
        str | None,
        flag("--edges", metavar="FILE", help="New edges; unknown ids become new nodes.", panel=CHANGES),
    ] = None
    features: Annotated[
        str | None,
        flag(
            "--features",
            "-f",
            metavar="FILE",
            help="Features of new nodes, or new features of old ones, in the same columns as before.",
            panel=CHANGES,
        ),
    ] = None
    remove_edges: Annotated[
        str | None, flag("--remove-edges", metavar="FILE", help="Edges to remove.", panel=CHANGES)
    ] = None
    remove_nodes: Annotated[
        str | None,
        flag("--remove-nodes", metavar="FILE", help="Nodes to remove, with their edges.", panel=CHANGES),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ChangedReading:
    """How to read the tables; by default like those that the model was built from."""

    source: SourceColumn = None
    target: TargetColumn = None
    weight: WeightColumn = None
    id_column: IdColumn = None
    header: Header = None
    missing: Annotated[
        str | None,
        flag(
            "--missing",
            metavar="HOW",
            help="New nodes without a row of features: error, or zeros to fill them "
            "[dim](default: as when the model was built)[/dim].",
            panel=READING,
        ),
    ] = None

    @property
    def overrides(self) -> dict[str, Any]:
        """The options that replace those of the model's own tables."""
        own = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: value for name, value in own.items() if value is not None}


@command
def update(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="Folder that `nafs embed --keep` wrote.", show_default=False),
    ],
    changes: Changes,
    reading: ChangedReading,
    printing: Printing,
    output: Annotated[
        str | None,
        flag(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write the embedding of all nodes: .parquet, .csv, .tsv, .csv.gz or .npy.",
            panel=OUTPUT,
        ),
    ] = None,
    changed: Annotated[
        str | None,
        flag(
            "--changed",
            metavar="FILE",
            help="Where to write only the vectors that changed, for example to refresh a vector database.",
            panel=OUTPUT,
        ),
    ] = None,
    keep: Annotated[
        str | None,
        flag(
            "--keep",
            metavar="FOLDER",
            help="Save the updated model here [dim](default: in MODEL)[/dim].",
            panel=OUTPUT,
        ),
    ] = None,
    layout: Annotated[
        str,
        flag(
            "--layout",
            help="Shape of a Parquet table: list (one column of vectors) or columns (one per dimension).",
            panel=OUTPUT,
        ),
    ] = "list",
    n_threads: Threads = None,
    memory_limit: MemoryLimit = None,
    force: Force = False,
) -> None:
    """Update an embedding: new nodes, new and removed edges, changed features.

    The result equals embedding the whole new graph with the same settings, but only nodes that the changes
    reach are recomputed. The model in MODEL is updated too, unless --keep names another folder.

    [dim]nafs embed edges.csv -f nodes.csv -o vectors.parquet --keep model[/dim]
    [dim]nafs update model --edges new_edges.csv -f new_nodes.csv -o vectors2.parquet[/dim]
    """
    run = printing.start()
    if output is None and changed is None and keep is None:
        run.say("no output was named: only the model is updated")
    for target in (output, changed):
        if target is not None:
            check_embedding_target(target, layout, force=force)
    if output is not None and output == changed:
        raise InputError(Parameter("output"), " and ", Parameter("changed"), f" are the same file, {output}")
    kept_in = model if keep is None else keep
    if Path(kept_in).resolve() != Path(model).resolve():
        check_model_target(kept_in, force=force)
    with run.stage("load"):
        allocate: Allocate = np.zeros if memory_limit is None else scratch_in(Path(kept_in).resolve().parent)
        kept = Model.load(model, n_threads=n_threads, memory_limit=memory_limit, allocate=allocate)
    paths = [getattr(changes, entry.name) for entry in fields(changes)]
    with run.stage("update"), stdin_as_file(paths) as (named, _):
        files = Files(**dict(zip((entry.name for entry in fields(changes)), named, strict=True)))
        report, notes = update_from_files(
            kept,
            files,
            kept.settings.get("reading", {}),
            overrides=reading.overrides,
            memory_limit=memory_limit,
        )
    run.notes += notes
    with run.stage("write"):
        if output is not None:
            kept_embedding(kept).write(output, layout=layout, force=force)
        if changed is not None:
            kept_embedding(kept, report.ids).write(changed, layout=layout, force=force)
        kept.save(kept_in, force=force)
    where = [target for target in (output, changed) if target is not None]
    run.finish(
        "update",
        [
            ("nodes", f"{report.n_nodes:,}"),
            ("changes", f"{report.new:,} new, {report.removed:,} removed, {report.changed:,} changed nodes"),
            ("recomputed", report.recomputed_text()),
            ("model", kept_in),
            *(("result", target) for target in where),
        ],
        {
            "output": output,
            "changed_output": changed,
            "model": kept_in,
            "nodes": report.n_nodes,
            "new": report.new,
            "removed": report.removed,
            "changed": report.changed,
            "recomputed": report.recomputed,
            "share": report.share,
            "full": report.full,
            "why": report.why,
        },
    )
