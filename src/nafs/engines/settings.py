"""Everything that an embedding is made with, in one checked value."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from nafs._support.budget import parse_memory
from nafs._support.checks import check_choice
from nafs.smoothing.hops import STATE_DTYPES
from nafs.smoothing.method import DEFAULT_R, Method, check_hops, check_r
from nafs.smoothing.threads import check_threads

AUTO = "auto"
ENGINES = (AUTO, "memory", "disk", "dask")
REDUCTIONS = ("svd", "random")
GOALS = ("clusters", "links")
LADDER = (1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 45, 60)  # numbers of hops that "auto" chooses from
_PREPROCESSINGS = (AUTO, "none", "l2", "tfidf", "standardize")
_CENTERS = (AUTO, "none", "mean", "stationary")


@dataclass(frozen=True)
class Settings:
    """How an embedding is made; checked when it is built. See :class:`nafs.NAFS` for the meaning."""

    n_hops: int | str = 20
    r: float | Sequence[float] = DEFAULT_R
    ensemble: str = "mean"
    weighting: str = "adaptive"
    distance: str = "cosine"
    state_dtype: str = "float32"
    n_threads: int | None = None
    memory_limit: int | str | None = None
    preprocessing: str | None = None
    center: str = AUTO
    goal: str = "clusters"
    n_clusters: int | None = None
    reduce_to: int | None = None
    reduction: str = "svd"
    engine: str = AUTO
    work_dir: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.n_hops, Integral) and not isinstance(self.n_hops, bool):
            object.__setattr__(self, "n_hops", int(self.n_hops))
        if isinstance(self.n_hops, str) and self.n_hops != AUTO:
            raise ValueError(f"n_hops must be a number or 'auto'; got {self.n_hops!r}")
        if self.preprocessing is not None:
            check_choice("preprocessing", self.preprocessing, _PREPROCESSINGS)
        check_choice("center", self.center, _CENTERS)
        check_choice("goal", self.goal, GOALS)
        check_choice("engine", self.engine, ENGINES)
        check_choice("reduction", self.reduction, REDUCTIONS)
        if self.reduce_to is not None and check_hops(self.reduce_to, "reduce_to") < 1:
            raise ValueError(f"reduce_to must be 1 or more columns; got {self.reduce_to}")
        if self.n_clusters is not None and check_hops(self.n_clusters, "n_clusters") < 1:
            raise ValueError(f"n_clusters must be 1 or more; got {self.n_clusters}")
        # As plain values, so that they can be written down.
        object.__setattr__(self, "r", check_r(self.r))
        for name in ("n_clusters", "reduce_to"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, int(getattr(self, name)))
        if self.work_dir is not None:
            object.__setattr__(self, "work_dir", os.fspath(self.work_dir))
        self.method()
        self.resources()

    def method(self, n_hops: int | None = None) -> Method:
        """The method's own settings; with the most hops that are tried where the number is open."""
        if n_hops is None:
            n_hops = LADDER[-1] if self.n_hops == AUTO else self.n_hops  # type: ignore[assignment]
        return Method(n_hops, check_r(self.r), self.ensemble, self.weighting, self.distance)  # type: ignore[arg-type]

    def with_hops(self, n_hops: int) -> Settings:
        """The same with a number of hops, and features treated as they were to be before."""
        kind = self.preprocessing
        if kind is None:
            kind = AUTO if self.n_hops == AUTO else "none"
        return replace(self, n_hops=n_hops, preprocessing=kind)

    def resources(self) -> dict[str, Any]:
        """What the engine may use."""
        return {
            "state_dtype": check_choice("state_dtype", self.state_dtype, STATE_DTYPES),
            "n_threads": check_threads(self.n_threads),
            "memory_limit": parse_memory(self.memory_limit),
        }
