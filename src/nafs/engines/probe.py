"""Estimate the duration of a run from about one second of work."""

from __future__ import annotations

import time

import numpy as np

from nafs.graph import Adjacency, read_features
from nafs.smoothing import _kernel
from nafs.smoothing.hops import Hops
from nafs.smoothing.method import Method

_COLUMNS = 32
_ENOUGH = 50  # hops to time
_MOST_VALUES = 1 << 26  # in the state of the probe


def guess_seconds(
    graph: Adjacency, n_features: int, method: Method, *, n_threads: int = 1, budget: float = 1.0
) -> float:
    """Estimated seconds of an embedding, from a few hops over a few columns of random numbers.

    Parameters
    ----------
    graph : Adjacency
    n_features : int
    method : Method
    n_threads : int
    budget : float
        Seconds to spend; at least one hop is timed.

    Returns
    -------
    float
    """
    columns = max(1, min(n_features, _COLUMNS, _MOST_VALUES // graph.n_nodes))
    random = np.random.default_rng(0).random((graph.n_nodes, columns), dtype=np.float32)
    try:
        hops = Hops(graph, read_features(random), method, method.r[:1], n_threads=n_threads)
        hops.advance()
        hops.advance()  # the first touch of its memory is slow
        durations: list[float] = []
        end = time.perf_counter() + budget
        while not durations or (time.perf_counter() < end and len(durations) < _ENOUGH):
            start = time.perf_counter()
            hops.advance()
            durations.append(time.perf_counter() - start)
    finally:
        _kernel.release_threads()
    return float(np.median(durations)) * n_features / columns * (method.n_hops + 1) * len(method.r)
