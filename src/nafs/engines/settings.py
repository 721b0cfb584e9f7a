"""Everything that an embedding is made with, in one checked value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nafs.checks import check_choice
from nafs.engines.budget import parse_memory
from nafs.smoothing.hops import STATE_DTYPES
from nafs.smoothing.method import DEFAULT_R, Method, check_r
from nafs.smoothing.threads import check_threads


@dataclass(frozen=True)
class Settings:
    """How an embedding is made; checked when it is built. See :class:`nafs.NAFS` for the meaning."""

    n_hops: int = 20
    r: float | Sequence[float] = DEFAULT_R
    ensemble: str = "mean"
    weighting: str = "adaptive"
    distance: str = "cosine"
    state_dtype: str = "float32"
    n_threads: int | None = None
    memory_limit: int | str | None = None

    def __post_init__(self) -> None:
        self.method()
        self.resources()

    def method(self) -> Method:
        """The method's own settings."""
        return Method(self.n_hops, check_r(self.r), self.ensemble, self.weighting, self.distance)

    def resources(self) -> dict[str, Any]:
        """What the engine may use."""
        return {
            "state_dtype": check_choice("state_dtype", self.state_dtype, STATE_DTYPES),
            "n_threads": check_threads(self.n_threads),
            "memory_limit": parse_memory(self.memory_limit),
        }
