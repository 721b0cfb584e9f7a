"""Resolve every setting of "auto", and plan the run, before the full features are smoothed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from nafs._support.blas import one_blas_thread
from nafs._support.budget import check_limit, program_bytes
from nafs._support.errors import MemoryLimitError
from nafs.clustering import ClusterSearch
from nafs.clustering.sample import SAMPLE
from nafs.engines.base import FeatureSize, Plan, Problem
from nafs.engines.choice import choose_plan
from nafs.graph import Adjacency, Features
from nafs.pipeline.job import Job
from nafs.selection import hops_for_clusters
from nafs.selection.choice import LADDER, Choice, Question
from nafs.selection.hops_for_clusters import LIBRARIES, choose_for_clusters
from nafs.selection.hops_for_links import choose_for_links
from nafs.selection.preprocessing import (
    SHIFTED,
    Preparation,
    judge,
    measurements_note,
    outweighing_note,
    prepare,
    prepared_nbytes,
)
from nafs.selection.reduction import reduction_nbytes
from nafs.selection.structure import StructureChoice, choose_structure, structure_choice_nbytes
from nafs.smoothing.ensembles import ensemble_named
from nafs.smoothing.method import AUTO, Method
from nafs.structure import structural_nbytes

AUTO_DIM = 256  # columns that dim="auto" keeps of wider features

_NOT_TRIED = (
    "no structural columns: whether they help is only tried if the number of hops is left to auto; "
    "structure=128 adds them"
)
Computed = tuple[Adjacency, Features] | None  # a graph and its structural features


@dataclass(frozen=True, eq=False)
class Decision:
    """How a job will be run.

    Attributes
    ----------
    job : Job
    choice : Choice
        Number of hops, preprocessing and centre, with the reasons for automatic choices.
    problem : Problem
        The engine's input.
    plan : Plan
        The engine and its plan.
    preparation : Preparation, optional
        A fitted preparation to apply; by default one is fitted to the features.
    """

    job: Job
    choice: Choice
    problem: Problem
    plan: Plan
    preparation: Preparation | None = None

    @property
    def method(self) -> Method:
        """The method, with the chosen number of hops."""
        return self.problem.method

    @property
    def n_columns(self) -> int:
        """Number of columns of the embedding."""
        return self.method.n_columns(self.problem.size.n_columns)

    @property
    def settings(self) -> dict[str, Any]:
        """All settings by name, with the chosen values filled in."""
        settings = self.job.settings.as_dict() | {
            "n_hops": self.choice.n_hops,
            "preprocessing": self.choice.preprocessing,
            "center": self.choice.center,
            "dim": self.problem.size.n_columns,
            "engine": self.plan.engine,
        }
        if self.job.structure_share:
            settings |= {
                "structure": self.job.structural_columns,
                "structure_share": self.job.structure_share,
            }
        elif not self.job.is_structural:
            settings |= {"structure": "none"}
            del settings["seed"]
        return settings

    def rows(self) -> list[tuple[str, str]]:
        """The decision for people, as pairs of name and value."""
        method, features = self.method, self.problem.size.n_columns
        before = self.job.size.n_columns
        width = f"{features:,}" if features == before else f"{features:,}, reduced from {before:,}"
        prepared = self.choice.preprocessing
        prepared += "" if self.choice.center == "none" else f", {self.choice.center} subtracted"
        r = ", ".join(f"{value:g}" for value in method.r)
        weights = method.weighting + (f" by {method.distance} distance" if method.uses_distance else "")
        return [
            ("features", f"{width}; preprocessing: {prepared}"),
            ("method", f"{method.n_hops} hops, r = {r}, {method.ensemble}, {weights}"),
            *(("chosen", reason) for reason in self.choice.reasons),
            ("plan", self.plan.explain()),
        ]


@one_blas_thread()
def decide(job: Job, *, fitted: tuple[Choice, Preparation] | None = None) -> Decision:
    """Resolve the settings of a job, and plan its run.

    Parameters
    ----------
    job : Job
    fitted : (Choice, Preparation), optional
        Choices and preparation of an earlier run to reuse.

    Returns
    -------
    Decision

    Raises
    ------
    MemoryLimitError
        If the run, or the search for the number of hops, would exceed the limit. Raised before features
        are copied.
    """
    if fitted is not None:
        choice, preparation = fitted
        directions = preparation.directions
        problem = _problem(job, choice, None if directions is None else directions.shape[1])
        return Decision(job, choice, problem, choose_plan(problem), preparation)
    job, beside, computed = with_structure(job)
    settings = job.settings
    kind, reasons = _preprocessing(job)
    reasons = [*beside, *reasons]
    centers = _centers(job, kind)
    hops = settings.method.n_hops
    open_hops = hops == AUTO
    first = Choice(LADDER[-1] if open_hops else int(hops), kind, centers[0])
    width = _reduced_width(job)
    problem = _problem(job, first, width)
    plan = choose_plan(problem)
    if not open_hops:
        choice = replace(first, preprocessing=job.prepared_as or kind, reasons=tuple(reasons))
        return Decision(job, choice, problem, plan)
    choose = choose_for_links if settings.preparations.goal == "links" else choose_for_clusters
    choice = choose(_question(job, kind, centers, computed))
    problem = _problem(job, choice, width)
    choice = replace(choice, preprocessing=job.prepared_as or kind, reasons=(*reasons, *choice.reasons))
    return Decision(job, choice, problem, choose_plan(problem))


@one_blas_thread()
def search_clusters(job: Job, sample: int = SAMPLE) -> ClusterSearch:
    """Embeddings of one sweep over several numbers of hops, ready to be clustered with any seed.

    In a graph with more nodes than ``sample``, so many are compared, drawn with the seed of the settings.
    """
    job, *_ = with_structure(job)
    kind, _ = _preprocessing(job)
    return hops_for_clusters.search_clusters(_question(job, kind, _centers(job, kind)), sample)


def with_structure(job: Job) -> tuple[Job, list[str], Computed]:
    """The job with structural columns beside its features where the settings ask for them or they help.

    Also the reasons, and what was computed of a graph without some of its edges and may be needed again.
    """
    wanted = job.settings.structure
    if job.is_structural or job.structure_share:
        return job, [], None
    if wanted == "none":
        return job, [_NOT_TRIED] if job.settings.preparations.structure == AUTO else [], None
    kind, reasons = _preprocessing(job)
    copied = prepared_nbytes(job.features, kind, "none")
    share, reason, computed = 0.5, f"{wanted} structural columns beside the features", None
    if wanted == AUTO:
        choice = _choose_structure(job, kind, copied)
        share, reason = choice.share, choice.reason
        if job.settings.preparations.goal == "links" and job.settings.resources.limit is None:
            computed = choice.computed
    if not share:
        settings = replace(job.settings, preparations=replace(job.settings.preparations, structure="none"))
        return replace(job, settings=settings), [reason], None
    prepared = prepare(job.features, job.adjacency, kind)
    preparations = replace(job.settings.preparations, preprocessing="none")
    settings = replace(job.settings, preparations=preparations)
    held = job.held + copied
    job = replace(
        job, own_features=prepared, settings=settings, held=held, structure_share=share, prepared_as=kind
    )
    return job, [*reasons, reason], computed


def _choose_structure(job: Job, kind: str, copied: int) -> StructureChoice:
    """Whether structural columns help; none are added if memory is too short to find out."""
    settings, n = job.settings, job.adjacency.n_nodes
    columns = job.structural_columns
    making = structural_nbytes(n, columns)
    needed = structure_choice_nbytes(job.adjacency, job.features, columns, making)
    needed += LIBRARIES if program_bytes(settings.resources.limit) else 0
    question = _question(job, kind, ("none",))
    # One r says as much about the features as all of them, in a fraction of the time.
    method = replace(settings.method, r=question.method.method(0).r[-1:], ensemble="mean")
    question = replace(question, method=method, held=question.held + needed)
    try:
        check_limit(
            question.held + copied, settings.resources.limit, "comparing them needs", "raise the limit"
        )
        prepared = prepare(job.features, job.adjacency, kind)
        goal = settings.preparations.goal
        return choose_structure(job.adjacency, prepared, job.structural, question.sweep, goal=goal)
    except MemoryLimitError as error:
        return StructureChoice(0.0, f"no structural columns: {error}")


def _preprocessing(job: Job) -> tuple[str, list[str]]:
    """The preprocessing, and why where it is chosen."""
    kind = job.settings.preprocessing
    if job.settings.preparations.preprocessing is None and kind == "none" and not job.is_structural:
        return kind, outweighing_note(job.features, job.names)
    if kind != AUTO:
        return kind, []
    if job.is_structural:
        return "none", []  # structural rows have length 1 and no common part
    kind, why = judge(job.features)
    reasons = [f"preprocessing {kind}: {why}"]
    if kind == "standardize":
        reasons += measurements_note(job.features, job.names)
    return kind, reasons


def _question(job: Job, kind: str, centers: tuple[str, ...], computed: Computed = None) -> Question:
    settings = job.settings
    prepared = prepared_nbytes(job.features, kind, "none" if len(centers) > 1 else centers[0])
    copies = 2 if settings.preparations.goal == "links" else 1  # recomputed without the hidden edges
    structural = copies * job.size.nbytes if job.depends_on_edges else 0
    return Question(
        job.adjacency,
        job.features,
        settings.method,
        settings.preparations,
        settings.resources,
        kind,
        centers,
        job.held + prepared + structural,
        partial(job.remake, computed=computed) if job.depends_on_edges else None,
    )


def _centers(job: Job, kind: str) -> tuple[str, ...]:
    """The centres to choose from."""
    preparations = job.settings.preparations
    if preparations.center != AUTO:
        return (preparations.center,)
    for_links = preparations.goal == "links" and job.settings.method.n_hops == AUTO
    # Shifted columns already have mean 0.
    return ("none", "mean") if for_links and kind not in SHIFTED else ("none",)


def _reduced_width(job: Job) -> int | None:
    """Number of columns that the features are reduced to; ``None`` if they are not reduced."""
    preparations = job.settings.preparations
    width = preparations.dim
    if width == AUTO and ensemble_named(job.settings.method.ensemble).commutes_with_rotations:
        width = AUTO_DIM
    if isinstance(width, str) or width >= job.size.n_columns:
        return None
    # An SVD has no more directions than rows.
    return min(width, job.adjacency.n_nodes) if preparations.reduction == "svd" else width


def _problem(job: Job, choice: Choice, width: int | None) -> Problem:
    """The engine's input. Raises if preparing the features would exceed the memory limit."""
    kind, center, size = choice.preprocessing, choice.center, job.size
    copied = 0 if kind == center == "none" else prepared_nbytes(job.features, kind, center)
    if copied:
        dense = kind in SHIFTED or center != "none"
        size = FeatureSize(size.n_columns, copied, sparse=size.sparse and not dense)
    if width is not None:
        size = FeatureSize(width, 4 * job.adjacency.n_nodes * width)
        check_limit(
            job.held
            + copied
            + size.nbytes
            + reduction_nbytes(job.adjacency.n_nodes, job.size.n_columns, width),
            job.settings.resources.limit,
            "preparing and reducing the features needs",
            "raise the limit, or reduce them beforehand",
        )
    held = job.held + (job.size.nbytes if job.depends_on_edges else 0)
    held += size.nbytes if copied or width is not None else 0
    return Problem(
        job.adjacency,
        size,
        job.settings.method.method(choice.n_hops),
        job.settings.resources,
        held,
        job.dtype,
        job.resume,
        job.client,
        job.components,
    )
