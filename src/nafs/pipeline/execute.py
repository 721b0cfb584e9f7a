"""Execute a decision: prepare the features and run the engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from nafs.engines.base import Result
from nafs.engines.progress import ProgressCallback
from nafs.engines.registry import find_engine
from nafs.graph import Features
from nafs.pipeline.decide import Decision
from nafs.selection.choice import Choice
from nafs.selection.preprocessing import Preparation, find_preparation
from nafs.selection.reduction import find_directions, reduction_error


@dataclass(kw_only=True)
class Outcome(Result):
    """An embedding with its settings; see :class:`nafs.engines.base.Result` for its files.

    Attributes
    ----------
    choice : Choice
    preparation : Preparation
        The fitted preparation, which can be applied to other features.
    settings : dict
        All settings with the chosen values, the engine and the version.
    """

    choice: Choice
    preparation: Preparation
    settings: dict[str, Any]


def execute(decision: Decision, progress: ProgressCallback | None = None) -> Outcome:
    """Compute the embedding as decided.

    Parameters
    ----------
    decision : Decision
    progress : callable, optional
        Called with a :class:`nafs.Progress`. An exception raised by it stops the run.

    Returns
    -------
    Outcome
    """
    job, choice = decision.job, decision.choice
    if decision.preparation is None:
        preparation, features, lost = prepare_features(decision)
        choice = replace(choice, reasons=(*choice.reasons, *lost))
    else:
        preparation, features = decision.preparation, decision.preparation.apply(job.features)
    problem = replace(
        decision.problem, identity=lambda: job.fingerprint | {"preparation": preparation.checksum}
    )
    result = find_engine(decision.plan.engine).run(problem, decision.plan, features, progress)
    return Outcome(
        result.matrix,
        result.folder,
        result.temporary,
        choice=choice,
        preparation=preparation,
        settings=_record(decision, choice),
    )


def prepare_features(decision: Decision) -> tuple[Preparation, Features, tuple[str, ...]]:
    """Fit the preparation; returns it, the prepared features, and a note on the error of a reduction."""
    job, choice = decision.job, decision.choice
    kind = "none" if job.prepared_as else choice.preprocessing
    preparation, prepared = find_preparation(job.features, job.adjacency, kind, choice.center)
    before, width = job.features.shape[1], decision.problem.size.n_columns
    if width == before:
        return preparation, prepared, ()
    how = job.settings.preparations.reduction
    directions = choice.directions
    if how != "svd" or directions is None or directions.shape != (before, width):
        directions = find_directions(prepared, width, how)
    reduced = Preparation("none", "none", directions=directions).apply(prepared)
    error = reduction_error(prepared, reduced, how)
    cost = "of the sum of squares lost" if how == "svd" else "deviation of squared lengths"
    reason = f"{before} features reduced to {width} by {how} ({100 * error:.2g} % {cost})"
    return replace(preparation, directions=directions), reduced, (reason,)


def _record(decision: Decision, choice: Choice) -> dict[str, Any]:
    """The settings that are stored with the embedding."""
    from nafs import __version__

    record = decision.settings | {"version": __version__}
    if choice.score is not None:
        record["score"] = choice.score
    if choice.head is not None:
        record["link_head"] = choice.head.as_dict()
        record["suggest_by"] = choice.suggest_by
    if choice.reasons:
        record["reasons"] = list(choice.reasons)
    return record
