"""The requirements of a model that can be updated: node features, the memory engine, enough memory."""

from __future__ import annotations

from dataclasses import replace

from nafs._support.budget import check_limit, left_now
from nafs._support.errors import InputError, Parameter
from nafs.model.neighbors import LISTED
from nafs.model.states import run_nbytes
from nafs.pipeline import Decision, Settings
from nafs.smoothing.method import AUTO


def without_structure(settings: Settings) -> Settings:
    """Settings for a model: structural columns are not tried, and an error if they were requested.

    Examples
    --------
    >>> from nafs.model import without_structure
    >>> from nafs.pipeline import Settings
    >>> without_structure(Settings.of(n_hops="auto")).structure
    'none'
    """
    if settings.preparations.structure not in (AUTO, "none"):
        raise needs_features()
    return replace(settings, preparations=replace(settings.preparations, structure="none"))


def check_decision(decision: Decision) -> None:
    """Raise if a model cannot be built as decided, before anything is computed."""
    if decision.job.depends_on_edges:
        raise needs_features()
    if decision.plan.engine != "memory":
        raise InputError(
            "a model that can be updated is computed in memory; leave out ",
            Parameter("engine"),
            ", or raise ",
            Parameter("memory_limit"),
        )


def needs_features() -> InputError:
    """The error for a graph without features of its own."""
    return InputError(
        "a model that can be updated needs features of its own, without structural columns, which change "
        "everywhere with every edge: pass features, and ",
        Parameter("structure", "none"),
    )


def check_room(decision: Decision, n_columns: int) -> int | None:
    """Bytes that the memory limit leaves for a full run; raises if that is too little.

    Called when the features are prepared, before anything else is computed.
    """
    limit, graph = decision.job.settings.resources.limit, decision.job.adjacency
    room = left_now(limit)
    if limit is None or room is None:
        return None
    if room == limit:  # a limit of the library
        room -= decision.problem.held
    listed = LISTED * graph.n_stored  # when the model is saved
    needed = max(listed, run_nbytes(graph.n_nodes, n_columns, decision.method, 1))
    hint = "raise the limit, or reduce the width"
    check_limit(limit - room + needed, limit, "keeping a model needs", hint)
    return room
