"""The over-smoothing distances: one record for each, with everything the package knows about it.

A distance is made of two numbers per row and hop: the dot product of the smoothed row with a reference row,
and the squared length of the smoothed row. Columns add up, so that panels of columns can be measured one by
one and their numbers summed. The C++ side is ``kernel/distances.h`` (names) and ``kernel/distances.inl``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.smoothing import _kernel

_ROUNDING = 1e-6  # a cosine below this is rounding

Formula = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[Any]], NDArray[np.float64]]


@dataclass(frozen=True)
class Distance:
    """What is known about one distance.

    Parameters
    ----------
    name : str
        As users write it.
    code : _kernel.Distance
    formula : callable
        The distances in float64, from dot products, squared lengths and a reference: the norms of the rows
        that the dot products were taken with, or d̃^r where the distance is a length.
    stationary : bool
        Distances are taken to the stationary state. This needs connected components, their centres, and an
        undirected graph.
    centred : bool
        Hops run on the features minus the component's centre.
    bounded : bool
        Distances are at most 1, so that a softmax needs no running maximum.
    floor : float
        Weighting "linear" takes smaller distances as 0.
    sums_centres : bool
        Panels of columns also measure the squared lengths of the centres.
    in_cache : bool
        Columns can take all hops in the cache: the dot products are those with the node's own features.
    """

    name: str
    code: _kernel.Distance
    formula: Formula
    stationary: bool = False
    centred: bool = False
    bounded: bool = True
    floor: float = _ROUNDING
    sums_centres: bool = False
    in_cache: bool = False


def _cosine(
    dots: NDArray[np.float64], squares: NDArray[np.float64], norms: NDArray[Any]
) -> NDArray[np.float64]:
    """Cosines of two rows; 0 where one of them is zero."""
    sizes = np.sqrt(squares) * norms
    return np.asarray(np.divide(dots, sizes, out=np.zeros_like(dots), where=sizes > 0))


def _one_minus_cosine(
    dots: NDArray[np.float64], squares: NDArray[np.float64], norms: NDArray[Any]
) -> NDArray[np.float64]:
    return 1.0 - _cosine(dots, squares, norms)


def _length(
    _dots: NDArray[np.float64], squares: NDArray[np.float64], scale: NDArray[Any]
) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(squares) * scale, dtype=np.float64)


_RECORDS = (
    Distance("cosine", _kernel.Distance.cosine, _cosine, in_cache=True),
    # A Euclidean distance has the unit of the features, so no value of it is rounding as such.
    Distance(
        "euclidean",
        _kernel.Distance.euclidean,
        _length,
        stationary=True,
        centred=True,
        bounded=False,
        floor=0.0,
    ),
    Distance(
        "stationary_cosine",
        _kernel.Distance.stationary_cosine,
        _one_minus_cosine,
        stationary=True,
        sums_centres=True,
    ),
)
_BY_NAME = {record.name: record for record in _RECORDS}
DISTANCES = tuple(_BY_NAME)


def distance_named(name: str) -> Distance:
    """The record of a distance.

    Examples
    --------
    >>> from nafs.smoothing.distances import distance_named
    >>> distance_named("cosine").bounded
    True
    """
    return _BY_NAME[name]
