"""Options of everything that embeds: the method, its features, its resources, and how a run is executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

from nafs._support.errors import InputError, Parameter
from nafs.cli.flags import flag, switch, text_flag
from nafs.cli.options import RESOURCES, MemoryLimit, Threads, check_learning
from nafs.pipeline import Settings
from nafs.pipeline.settings import option_names
from nafs.smoothing.method import AUTO, DEFAULT_R

METHOD = "Method"
PREPARATION = "Features and choices"

Scheduler = Annotated[
    str | None,
    flag(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on this Dask cluster, such as tcp://10.0.0.1:8786 "
        "[dim](default with --engine dask: workers on this machine)[/dim].",
        panel=RESOURCES,
    ),
]


def _hops(text: str) -> int | str:
    try:
        return "auto" if text.lower() == "auto" else int(text)
    except ValueError:
        raise InputError(Parameter("n_hops"), f" must be a whole number or auto; got {text!r}") from None


def count_or(name: str, *words: str) -> Callable[[str], int | str]:
    """Parse a number, or one of some words."""

    def parse(text: str) -> int | str:
        try:
            return text.lower() if text.lower() in words else int(text)
        except ValueError:
            *first, last = "a whole number", *words
            message = f" must be {', '.join(first)} or {last}; got {text!r}"
            raise InputError(Parameter(name), message) from None

    return parse


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            Parameter("r"), f" must be numbers separated by commas, such as 0,0.25,0.5; got {text!r}"
        ) from None


def _show_numbers(r: float | Sequence[float]) -> str:
    return ",".join(f"{value:g}" for value in (r if isinstance(r, Sequence) else (r,)))


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """The method's parameters, as in `nafs.NAFS`."""

    n_hops: Annotated[
        int | str,
        text_flag(
            "--hops",
            metavar="N|auto",
            help="How many hops to smooth over; auto chooses the number without labels.",
            parse=_hops,
            panel=METHOD,
        ),
    ] = 20
    r: Annotated[
        tuple[float, ...],
        text_flag(
            "--r",
            metavar="NUMBERS",
            help="Normalisations from 0 to 1, separated by commas; several are combined by --ensemble.",
            parse=_numbers,
            write=_show_numbers,
            panel=METHOD,
        ),
    ] = DEFAULT_R
    ensemble: Annotated[
        str,
        flag(
            "--ensemble",
            help="How to combine several r: mean, max, or concat for a wider embedding.",
            panel=METHOD,
        ),
    ] = "mean"
    weighting: Annotated[
        str,
        flag(
            "--weighting",
            help="How to weight the hops: adaptive by node, linear, average, or last.",
            panel=METHOD,
        ),
    ] = "adaptive"
    distance: Annotated[
        str,
        flag(
            "--distance",
            help="What adaptive weights are based on: cosine, euclidean or stationary_cosine.",
            panel=METHOD,
        ),
    ] = "cosine"


@dataclass(frozen=True, kw_only=True)
class PreparationOptions:
    """What happens to the features before smoothing, and what auto chooses for, as in `nafs.NAFS`."""

    preprocessing: Annotated[
        str | None,
        flag(
            "--preprocessing",
            metavar="KIND",
            help="Scale the features first: none, l2, tfidf, standardize, components, or auto "
            "[dim](default: auto with --hops auto, otherwise none)[/dim].",
            panel=PREPARATION,
        ),
    ] = None
    center: Annotated[
        str,
        flag(
            "--center",
            help="What to subtract from every row of features: none, mean, stationary, or auto.",
            panel=PREPARATION,
        ),
    ] = "auto"
    goal: Annotated[
        str,
        flag(
            "--goal",
            help="What --hops auto optimises for: clusters or links (nafs evaluate: auto, by task).",
            panel=PREPARATION,
        ),
    ] = "clusters"
    n_clusters: Annotated[
        int | None,
        flag(
            "--clusters",
            metavar="N",
            help="Number of clusters that --hops auto looks for [dim](default: chosen automatically)[/dim].",
            panel=PREPARATION,
        ),
    ] = None
    dim: Annotated[
        int | str,
        text_flag(
            "--dim",
            metavar="N|full|auto",
            help="Width of the vectors: reduce wider features to it, to save time and memory; full keeps all "
            "columns, auto at most 256.",
            parse=count_or("dim", "auto", "full"),
            panel=PREPARATION,
        ),
    ] = "auto"
    reduction: Annotated[
        str,
        flag(
            "--reduction",
            help="How wide features are reduced: svd keeps more, random (projection) is faster.",
            panel=PREPARATION,
        ),
    ] = "svd"
    structure: Annotated[
        int | str,
        text_flag(
            "--structure",
            metavar="N|none|auto",
            help="Columns computed from the edges, beside the features: none, a number, or auto, which adds "
            "them where they help, but only with --hops auto.",
            parse=count_or("structure", "auto", "none"),
            panel=PREPARATION,
        ),
    ] = "auto"
    seed: Annotated[
        int, flag("--seed", metavar="N", help="Seed of the structural features.", panel=PREPARATION)
    ] = 0


@dataclass(frozen=True, kw_only=True)
class ResourceOptions:
    """Where and with what an embedding is computed, as in `nafs.NAFS`."""

    state_dtype: Annotated[
        str,
        switch(
            "--float16",
            help="Keep intermediate values in half precision, to halve their memory.",
            panel=RESOURCES,
            on="float16",
            off="float32",
        ),
    ] = "float32"
    n_threads: Threads = None
    memory_limit: MemoryLimit = None
    engine: Annotated[
        str,
        flag(
            "--engine",
            help="Where to compute: memory, disk (slower, within --memory-limit), dask, or auto.",
            panel=RESOURCES,
        ),
    ] = "auto"
    work_dir: Annotated[
        str | None,
        flag(
            "--work-dir",
            metavar="FOLDER",
            help="Folder for the intermediate files of the disk and dask engines.",
            panel=RESOURCES,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class EmbeddingOptions(ResourceOptions, PreparationOptions, MethodOptions):
    """Everything that decides an embedding."""

    def settings(self, **changes: Any) -> Settings:
        """The settings of the library, with some of them changed."""
        if self.n_hops == AUTO:
            check_learning(self.memory_limit)
        return Settings.of(**{name: getattr(self, name) for name in option_names()} | changes)

    def for_library(self, running: RunOptions, **changes: Any) -> dict[str, Any]:
        """The keyword arguments of `nafs.embed`, with some of them changed."""
        if running.resume and self.work_dir is None:
            raise InputError(
                Parameter("resume"), " needs the folder of the interrupted run: ", Parameter("work_dir")
            )
        if self.n_hops == AUTO:
            check_learning(self.memory_limit)
        options = {entry.name: getattr(self, entry.name) for entry in fields(EmbeddingOptions)}
        options |= {"engine": engine_for(self.engine, running.client)}
        return options | running.for_library() | changes


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How one embedding run is executed."""

    client: Scheduler = None
    resume: Annotated[
        bool,
        flag("--resume", help="Resume an interrupted run from its work folder.", panel=RESOURCES),
    ] = False

    def for_library(self) -> dict[str, Any]:
        """The keyword arguments of `nafs.embed`."""
        return {"client": self.client, "resume": self.resume}


def engine_for(engine: str, client: str | None) -> str:
    """The requested engine; a Dask scheduler implies the Dask engine."""
    if client is None:
        return engine
    if engine not in ("auto", "dask"):
        raise InputError(Parameter("client"), " is for ", Parameter("engine", "dask"), f"; got {engine}")
    return "dask"
