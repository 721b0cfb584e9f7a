"""Settings for the preparation of features, and for choosing the number of hops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs.selection.preprocessing import CENTERS, KINDS, REDUCTIONS
from nafs.smoothing.method import AUTO, check_hops
from nafs.structure import DEFAULT_COLUMNS

GOALS = ("clusters", "links")


@dataclass(frozen=True, kw_only=True)
class Preparations:
    """Preparation of the features, validated on construction; see :class:`nafs.NAFS` for the meaning.

    ``columns`` and ``seed`` apply to structural features. ``structure`` says whether they stand beside the
    features that a graph has: "none", a number of columns, or "auto", which decides by hidden edges if the
    number of hops is "auto" too, and is "none" otherwise.
    """

    preprocessing: str | None = None
    center: str = AUTO
    goal: str = "clusters"
    n_clusters: int | str | None = None
    reduce_to: int | None = None
    reduction: str = "svd"
    structure: str | int = "none"
    columns: int = DEFAULT_COLUMNS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.preprocessing is not None:
            check_choice("preprocessing", self.preprocessing, (AUTO, *KINDS))
        check_choice("center", self.center, (AUTO, *CENTERS))
        check_choice("goal", self.goal, GOALS)
        check_choice("reduction", self.reduction, REDUCTIONS)
        if isinstance(self.structure, str) and self.structure.isdigit():
            object.__setattr__(self, "structure", int(self.structure))  # as the command line gives it
        elif isinstance(self.structure, str):
            check_choice("structure", self.structure, (AUTO, "none"))
        for name in ("n_clusters", "reduce_to", "structure", "columns"):
            self._check_count(name, getattr(self, name))
        object.__setattr__(self, "seed", check_hops(self.seed, "seed"))

    def _check_count(self, name: str, value: Any) -> None:
        if (
            value is None
            or (name == "n_clusters" and value == AUTO)
            or (name == "structure" and value in (AUTO, "none"))
        ):
            return
        if check_hops(value, name) < 1:
            raise InputError(Parameter(name), f" must be 1 or more; got {value}")
        object.__setattr__(self, name, int(value))  # NumPy integers cannot be written to JSON
