"""Settings for the preparation of features, and for choosing the number of hops."""

from __future__ import annotations

from dataclasses import dataclass

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs.selection.preprocessing import CENTERS, KINDS
from nafs.selection.reduction import REDUCTIONS
from nafs.smoothing.method import AUTO, check_hops

GOALS = ("clusters", "links")
FULL = "full"


@dataclass(frozen=True, kw_only=True)
class Preparations:
    """Preparation of the features, validated on construction; see :class:`nafs.NAFS` for the meaning.

    ``dim`` is the number of columns that are smoothed: a number, "full" for all columns of the features, or
    "auto" for at most 256. ``structure`` adds structural columns to the features of a graph: "none", a number
    of columns, or "auto", which decides by hidden edges if the number of hops is "auto" too, and is "none"
    otherwise. ``seed`` applies to structural features and clusters.
    """

    preprocessing: str | None = None
    center: str = AUTO
    goal: str = "clusters"
    n_clusters: int | str | None = None
    dim: int | str = AUTO
    reduction: str = "svd"
    structure: str | int = AUTO
    seed: int = 0

    def __post_init__(self) -> None:
        if self.preprocessing is not None:
            check_choice("preprocessing", self.preprocessing, (AUTO, *KINDS))
        check_choice("center", self.center, (AUTO, *CENTERS))
        check_choice("goal", self.goal, GOALS)
        check_choice("reduction", self.reduction, REDUCTIONS)
        self._check_count("n_clusters", (None, AUTO))
        self._check_count("dim", (AUTO, FULL))
        self._check_count("structure", (AUTO, "none"))
        object.__setattr__(self, "seed", check_hops(self.seed, "seed"))

    def _check_count(self, name: str, words: tuple[str | None, ...]) -> None:
        """Check that a setting is one of some words, or a positive integer."""
        value = getattr(self, name)
        if value is None or isinstance(value, str):
            if value not in words:
                allowed = ", ".join(repr(word) for word in words if word is not None)
                raise InputError(Parameter(name), f" must be a number or one of {allowed}; got {value!r}")
            return
        if check_hops(value, name) < 1:
            raise InputError(Parameter(name), f" must be 1 or more; got {value}")
        object.__setattr__(self, name, int(value))  # NumPy integers cannot be written to JSON
