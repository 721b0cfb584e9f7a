"""The choices that define an embedding, checked once.

These are the number of hops K, the normalisations r, the weighting of hops, the over-smoothing distance
behind the weights, and the ensemble that combines the embeddings of several r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs.smoothing.distances import DISTANCES, distance_named
from nafs.smoothing.ensembles import ENSEMBLES, ensemble_named
from nafs.smoothing.weightings import WEIGHTINGS, weighting_named

__all__ = [
    "AUTO",
    "DEFAULT_R",
    "DISTANCES",
    "ENSEMBLES",
    "WEIGHTINGS",
    "Method",
    "MethodSettings",
    "check_hops",
    "check_one_r",
    "check_r",
]

AUTO = "auto"
DEFAULT_R = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)

MOST_HOPS = 100_000  # every graph is smooth long before


@dataclass(frozen=True)
class Method:
    """The choices that define an embedding.

    Parameters
    ----------
    n_hops : int
        K: features are smoothed over 0..K hops.
    r : tuple of floats in [0, 1]
        Normalisations Â_r = D̃^(r-1) Ã D̃^(-r): 0 is the random walk, 0.5 symmetric, 1 the reverse walk.
    ensemble : {"mean", "max", "concat"}
        How the embeddings of the r's are combined.
    weighting : {"adaptive", "linear", "average", "last"}
        Softmax of the distances; the distances over their sum; every hop alike; hop K alone.
    distance : {"cosine", "euclidean", "stationary_cosine"}
        Cosine to the node's own features; Euclidean distance to the stationary state; one minus the
        cosine to the stationary state.

    Examples
    --------
    >>> from nafs.smoothing import Method
    >>> Method(n_hops=3, r=(0.5,)).n_columns(100)
    100
    """

    n_hops: int = 20
    r: tuple[float, ...] = DEFAULT_R
    ensemble: str = "mean"
    weighting: str = "adaptive"
    distance: str = "cosine"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_hops", check_hops(self.n_hops))
        object.__setattr__(self, "r", check_r(self.r))
        check_choice("ensemble", self.ensemble, ENSEMBLES)
        check_choice("weighting", self.weighting, WEIGHTINGS)
        check_choice("distance", self.distance, DISTANCES)

    @property
    def uses_distance(self) -> bool:
        """Whether the weights depend on a distance at all."""
        return weighting_named(self.weighting).uses_distance

    @property
    def needs_stationary_state(self) -> bool:
        """Whether distances are taken to the stationary state."""
        return self.uses_distance and distance_named(self.distance).stationary

    def n_columns(self, n_features: int) -> int:
        """Columns of the embedding."""
        return n_features * (len(self.r) if ensemble_named(self.ensemble).side_by_side else 1)


@dataclass(frozen=True, kw_only=True)
class MethodSettings:
    """The choices of a :class:`Method` as a user makes them: the number of hops may be left open."""

    n_hops: int | str = 20
    r: float | Sequence[float] = DEFAULT_R
    ensemble: str = "mean"
    weighting: str = "adaptive"
    distance: str = "cosine"

    def __post_init__(self) -> None:
        if isinstance(self.n_hops, str) and self.n_hops != AUTO:
            raise InputError(Parameter("n_hops"), f" must be a number or 'auto'; got {self.n_hops!r}")
        checked = self.method(0 if self.n_hops == AUTO else self.n_hops)  # type: ignore[arg-type]
        object.__setattr__(self, "r", checked.r)
        if self.n_hops != AUTO:
            object.__setattr__(self, "n_hops", checked.n_hops)

    def method(self, n_hops: int) -> Method:
        """The method with this number of hops."""
        return Method(n_hops, self.r, self.ensemble, self.weighting, self.distance)  # type: ignore[arg-type]


def check_hops(n_hops: Any, name: str = "n_hops") -> int:
    """Return a number of hops as an int, or say what is wrong with it."""
    if isinstance(n_hops, bool) or not isinstance(n_hops, Integral):
        raise InputTypeError(Parameter(name), f" must be an integer; got {n_hops!r}")
    if n_hops < 0:
        raise InputError(Parameter(name), f" must be 0 or more; got {n_hops}")
    if int(n_hops) > MOST_HOPS:
        raise InputError(Parameter(name), f" must be at most {MOST_HOPS:,}; got {str(n_hops)[:30]}")
    return int(n_hops)


def check_r(r: Any) -> tuple[float, ...]:
    """Return one or several normalisations as a tuple, or say what is wrong with them."""
    if isinstance(r, str) or not isinstance(r, Real | Sequence | np.ndarray):
        raise InputTypeError(
            Parameter("r"), f" must be a number in [0, 1] or a list or tuple of them; got {r!r}"
        )
    values = (r,) if isinstance(r, Real) else tuple(r)
    if not values:
        raise InputError(Parameter("r"), " is empty: give at least one number in [0, 1]")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise InputTypeError(Parameter("r"), f" must hold numbers; got {value!r}")
        if not 0 <= float(value) <= 1:
            raise InputError(Parameter("r"), f" must lie in [0, 1]; got {value}")
    return tuple(float(value) for value in values)


def check_one_r(r: Any) -> float:
    """Return the single normalisation that a function looks at, or say that it takes one only."""
    values = check_r(r)
    if len(values) > 1:
        raise InputError(Parameter("r"), f" must be a single number here; got {r!r}")
    return values[0]
