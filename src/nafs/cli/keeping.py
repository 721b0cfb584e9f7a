"""`nafs embed --keep`: build a model that can be updated instead of an embedding alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from nafs._support.atomic import check_length, check_target
from nafs._support.budget import show_bytes
from nafs._support.errors import InputError, OutputExistsError, Parameter
from nafs._support.scratch import Allocate, scratch_in
from nafs.cli.console import Run
from nafs.cli.embedding_options import RunOptions
from nafs.cli.reading import Reading
from nafs.embedding import Embedding
from nafs.graph import Graph
from nafs.graph.ids import positions
from nafs.model import Model, check_decision, is_saved_model, kept_nbytes
from nafs.pipeline import Decision

_AGAIN = ("source", "target", "id_column", "id_type", "delimiter", "header", "comment", "missing")


def check_keeping(folder: str, running: RunOptions, dtype: str, *, force: bool) -> None:
    """Raise, before any work is done, if a model cannot be kept."""
    check_model_target(folder, force=force)
    for name in ("resume", "client"):
        if getattr(running, name):
            raise InputError(Parameter("keep"), " cannot be combined with ", Parameter(name))
    if dtype == "float16":
        raise InputError(Parameter("keep"), " cannot be combined with ", Parameter("dtype", dtype))


def check_model_target(folder: str, *, force: bool) -> None:
    """Raise, before any work is done, if a model cannot be saved in a folder."""
    target = Path(folder)
    check_length(target)
    if target.exists() and not is_saved_model(target):
        raise OutputExistsError(f"{folder} exists and is not a saved model; it is left alone")
    check_target(target, force=force)


def announce_model(run: Run, decision: Decision, graph: Graph, folder: str) -> None:
    """Report how much disk space the model needs, and raise if it does not fit."""
    check_decision(decision)
    width = decision.problem.size.n_columns
    size = kept_nbytes(graph.n_nodes, width, decision.method) + graph.adjacency.nbytes
    run.say(f"the model in {folder} will take {show_bytes(size)} of disk")
    free = shutil.disk_usage(Path(folder).resolve().parent).free
    if size > free:
        raise InputError(
            f"the model takes {show_bytes(size)}, but {Path(folder).resolve().parent} has only "
            f"{show_bytes(free)} left; reduce the width with ",
            Parameter("dim"),
        )


def build_model(run: Run, decision: Decision, graph: Graph, folder: str, reading: Reading) -> Model:
    """Compute the embedding and keep the states."""
    method = decision.method
    limit = decision.job.settings.resources.limit
    allocate: Allocate = np.zeros if limit is None else scratch_in(Path(folder).resolve().parent)
    total = (method.n_hops + 1) * graph.n_nodes
    with run.stage("smooth", total=1.0) as advance:
        model = Model.execute(decision, graph, allocate=allocate, progress=lambda rows: advance(rows / total))
    model.self_loops = reading.self_loops
    model.settings["reading"] = _plain(reading, graph)
    return model


def _plain(reading: Reading, graph: Graph) -> dict[str, Any]:
    """The options for reading later tables: those of the command, and the columns that were recognised."""
    options: dict[str, Any] = {name: getattr(reading, name) for name in _AGAIN}
    options["weight"] = False if reading.unweighted else reading.weight
    for name, column in graph.column_names.items():
        if options[name] is None and not column.isdigit():  # digits would count columns
            options[name] = column
    return options


def kept_embedding(model: Model, ids: Any = None) -> Embedding:
    """The embedding of a model, or of some of its nodes."""
    matrix, every = model.matrix, model.id_array
    if ids is not None:
        rows = positions(every, ids)
        rows = rows[rows >= 0]
        matrix, every = matrix[rows], every.take(rows)
    settings = {name: value for name, value in model.settings.items() if name != "reading"}
    return Embedding(matrix, every, None, settings)
