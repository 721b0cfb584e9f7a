"""How hops are weighted: one record for each choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nafs.smoothing import _kernel
from nafs.smoothing.distances import Distance

_Raw = Callable[[NDArray[np.float64], float, int], NDArray[np.float64]]


@dataclass(frozen=True)
class Weighting:
    """What is known about one weighting of hops.

    Parameters
    ----------
    name : str
        As users write it.
    code : _kernel.Weighting
    raw : callable
        Weights before they are divided by their sum, from distances, the distance's ``floor`` and the axis
        of hops.
    uses_distance : bool
        Weights depend on the distances.
    keeps_sum : bool
        A weighted sum of all hops is kept; otherwise the embedding is the last hop.
    """

    name: str
    code: _kernel.Weighting
    raw: _Raw
    uses_distance: bool = True
    keeps_sum: bool = True

    def weights(self, distances: NDArray[np.float64], distance: Distance, axis: int) -> NDArray[np.float32]:
        """Weights that add up to 1 along the axis of hops."""
        raw = self.raw(distances, distance.floor, axis)
        return np.asarray(raw / raw.sum(axis=axis, keepdims=True), dtype=np.float32)


def _softmax(distances: NDArray[np.float64], _floor: float, axis: int) -> NDArray[np.float64]:
    return np.asarray(np.exp(distances - distances.max(axis=axis, keepdims=True)))


def _linear(distances: NDArray[np.float64], floor: float, axis: int) -> NDArray[np.float64]:
    raw = np.where(distances > floor, distances, 0.0)
    return np.where(raw.any(axis=axis, keepdims=True), raw, 1.0)


def _average(distances: NDArray[np.float64], _floor: float, _axis: int) -> NDArray[np.float64]:
    return np.ones_like(distances)


def _last(distances: NDArray[np.float64], _floor: float, axis: int) -> NDArray[np.float64]:
    raw = np.zeros_like(distances)
    np.moveaxis(raw, axis, -1)[..., -1] = 1.0
    return raw


_WEIGHTINGS = {
    record.name: record
    for record in (
        Weighting("adaptive", _kernel.Weighting.softmax, _softmax),
        Weighting("linear", _kernel.Weighting.linear, _linear),
        Weighting("average", _kernel.Weighting.average, _average, uses_distance=False),
        Weighting("last", _kernel.Weighting.last, _last, uses_distance=False, keeps_sum=False),
    )
}
WEIGHTINGS = tuple(_WEIGHTINGS)


def weighting_named(name: str) -> Weighting:
    """The record of a weighting.

    Examples
    --------
    >>> from nafs.smoothing.weightings import weighting_named
    >>> weighting_named("last").keeps_sum
    False
    """
    return _WEIGHTINGS[name]
