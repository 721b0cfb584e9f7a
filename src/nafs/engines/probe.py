"""How long a planned run will take, estimated from about a second of the same work on random numbers.

The probe runs the same loops as the plan: rows as wide as the run has them, nodes renumbered if they will be,
columns through the cache if they go that way, panels as wide as the disk engine's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nafs.engines import cached
from nafs.engines.base import Plan, Problem
from nafs.engines.panel_engine import count_passes
from nafs.engines.progress import Report
from nafs.graph import Adjacency, read_features
from nafs.smoothing import _kernel
from nafs.smoothing.hops import Hops
from nafs.smoothing.order import community_order

_MOST_VALUES = 1 << 24  # of a matrix of the probe, which holds about five: larger graphs are sampled
_START = 3.0  # seconds to start workers on this machine
_WARM = 3  # calls before the first one counts; memory is touched for the first time
_FILE = 2  # times as long as fresh memory: a page of a file is written, summed for its checksum and read


def guess_seconds(problem: Problem, plan: Plan, *, budget: float = 1.0) -> float:
    """Seconds that a planned run will take.

    Parameters
    ----------
    problem : Problem
    plan : Plan
        Of an engine, for this problem.
    budget : float
        Seconds to spend on hops; the smallest step is made in any case.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.engines.base import FeatureSize, Problem
    >>> from nafs.engines.memory import MemoryEngine
    >>> from nafs.engines.probe import guess_seconds
    >>> from nafs.graph import read_adjacency
    >>> from nafs.smoothing import Method
    >>> problem = Problem(read_adjacency(np.array([[0, 1], [1, 0]])), FeatureSize(4, 32), Method(2))
    >>> guess_seconds(problem, MemoryEngine().plan(problem), budget=0.01) < 1
    True
    """
    try:
        if plan.cached:
            return _in_cache(problem)
        if not plan.widths:
            return _by_rows(problem, plan, budget)
        return _by_panels(problem, plan, budget)
    finally:
        _kernel.release_threads()


def _by_rows(problem: Problem, plan: Plan, budget: float) -> float:
    """The memory engine: all columns of some r's at a time."""
    method = problem.method
    seconds, order = _one_hop(problem, plan, problem.size.n_columns, plan.group, budget)
    groups = -(-len(method.r) // plan.group)
    # Results and states are touched for the first time, and written: about four hops without neighbours.
    return order + seconds * groups * (method.n_hops + 1) + 4 * _touching(problem)


def _by_panels(problem: Problem, plan: Plan, budget: float) -> float:
    """Disk and Dask: panels of columns, twice where the weights are not known at first."""
    method, panels = problem.method, len(plan.widths)
    seconds, order = _one_hop(problem, plan, max(plan.widths), 1, budget)
    passes = count_passes(problem, plan.widths, plan.workers)
    hops = seconds * len(method.r) * (method.n_hops + 1) * panels * passes
    # Each panel of each r writes its result, and before that its share of the distances, which is added up.
    files = len(method.r) * _touching(problem)
    if method.uses_distance and panels > 1:
        distances = 16 * problem.graph.n_nodes * (method.n_hops + 1)
        files += 3 * len(method.r) * panels * _touching(problem, distances)
    if plan.workers > 1 and problem.client is None:  # workers on this machine share the threads of the probe
        return order + _START + hops + _FILE * files
    return order + (hops + _FILE * files) / plan.workers


def _one_hop(problem: Problem, plan: Plan, n_columns: int, group: int, budget: float) -> tuple[float, float]:
    """Seconds that one hop takes at this width, and seconds to renumber the nodes."""
    method, threads = problem.method, problem.resources.threads
    graph, times = _sample(problem.graph, _MOST_VALUES // (n_columns * group))
    features = read_features(_random(graph.n_nodes, n_columns))
    copied = round(plan.arranged / problem.graph.n_nodes * graph.n_nodes)
    order, ordering = None, 0.0
    if plan.ordered:
        start = time.perf_counter()
        order = community_order(graph, n_threads=threads)
        ordering = time.perf_counter() - start
    hops = Hops(
        graph,
        features,
        method,
        method.r[:group],
        state_dtype=problem.resources.state_dtype,
        n_threads=threads,
        order=order,
        arranged=features.take(order.nodes[:copied]) if order is not None and copied else None,
    )
    for _ in range(_WARM):
        hops.advance(postpone=True)

    def two() -> None:  # as a run has them: every other hop adds two to the sum
        hops.advance(postpone=True)
        hops.advance(postpone=True)

    return _median(two, budget) / 2 * times, ordering * times


def _sample(graph: Adjacency, n_rows: int) -> tuple[Adjacency, float]:
    """A graph of so many evenly spaced rows, and how much more the whole one has to gather.

    Neighbours are moved to the same place relative to all rows, which keeps near ones near and far ones far.
    """
    n = graph.n_nodes
    if n <= n_rows:
        return graph, 1.0
    n_rows = max(1, n_rows)
    rows = np.arange(n_rows) * n // n_rows
    starts = np.asarray(graph.indptr)[rows]
    counts = np.asarray(graph.indptr)[rows + 1] - starts
    indptr = np.zeros(n_rows + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    places = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], counts)
    indices = (graph.indices[places].astype(np.int64) * n_rows // n).astype(np.int32)
    weights = None if graph.weights is None else graph.weights[places]
    times = (len(graph.indices) + n) / (len(indices) + n_rows)
    return Adjacency(indptr, indices, weights, graph.directed), times


def _in_cache(problem: Problem) -> float:
    """A few columns through all hops of one r."""
    graph, method, threads = problem.graph, problem.method, problem.resources.threads
    n, f = graph.n_nodes, problem.size.n_columns
    columns = min(f, 4 * _kernel.COLUMNS * threads)  # few would count what is done once too often
    features = read_features(_random(n, columns))
    single = replace(method, r=method.r[:1])
    seconds = []
    for _ in range(2):  # the second time memory is warm
        start = time.perf_counter()
        cached.embed(
            graph,
            features,
            single,
            together=cached.shares_panels(problem),
            n_threads=threads,
            report=Report(None, n, method.n_hops, 1),
        )
        seconds.append(time.perf_counter() - start)
    return min(seconds) * f / columns * len(method.r) + _touching(problem)


def _touching(problem: Problem, nbytes: int | None = None) -> float:
    """Seconds to write this many bytes to fresh memory; by default the size of the result."""
    if nbytes is None:
        nbytes = 4 * problem.graph.n_nodes * problem.method.n_columns(problem.size.n_columns)
    part = min(nbytes, 1 << 24)
    start = time.perf_counter()
    np.empty(part, np.uint8).fill(0)
    return (time.perf_counter() - start) * nbytes / max(1, part)


def _random(n: int, columns: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(0).random((n, columns), dtype=np.float32)


def _median(call: Callable[[], None], budget: float) -> float:
    seconds: list[float] = []
    end = time.perf_counter() + budget
    while not seconds or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))
