"""The memory engine: everything in RAM.

The plan selects one of three strategies:

* one r at a time: two states, the running sum and the result, so for the mean four matrices of the features'
  size;
* several r's side by side: neighbour lists are read once for all of them and rows are longer, which is
  faster for narrow features in main memory; each further r needs three more matrices;
* a few columns at a time in the cache, for small graphs with many features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import show_bytes
from nafs._support.errors import MemoryLimitError, Parameter, Part
from nafs.engines import cached
from nafs.engines.base import Plan, Problem, Result
from nafs.engines.meanwhile import meanwhile, touch
from nafs.engines.progress import ProgressCallback, Report
from nafs.graph import Features
from nafs.smoothing import _kernel
from nafs.smoothing.ensembles import ensemble_named
from nafs.smoothing.hops import Hops, Layout, Whole, Workspace
from nafs.smoothing.order import CACHED_STATE, Order, community_order, order_nbytes, order_pays
from nafs.smoothing.stationary import BLOCK as CENTRE_BLOCK
from nafs.smoothing.weightings import weighting_named

COPIED_SHARE = 0.6  # of dense features that a run without a limit copies: the mean stays below five matrices
WIDE_ENOUGH = 128  # columns; longer rows gain less than the first touch of their memory costs


class MemoryEngine:
    """Everything in RAM.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.engines.base import FeatureSize, Problem
    >>> from nafs.engines.memory import MemoryEngine
    >>> from nafs.graph import read_adjacency, read_features
    >>> from nafs.smoothing import Method
    >>> pair, features = read_adjacency(np.array([[0, 1], [1, 0]])), read_features([[0.0], [4.0]])
    >>> problem = Problem(pair, FeatureSize.of(features), Method(1, r=(0.0,), weighting="average"))
    >>> engine = MemoryEngine()
    >>> engine.run(problem, engine.plan(problem), features).matrix
    array([[1.],
           [3.]], dtype=float32)
    """

    name = "memory"

    def plan(self, problem: Problem) -> Plan:
        """Choose between r's side by side, one at a time, or columns in the cache."""
        r, limit = problem.method.r, problem.resources.limit
        least = _needed(problem, 1)
        _check(least, problem)
        if cached.pays(problem):
            return Plan(self.name, least, strategy="a few columns at a time through the cache", cached=True)
        group, large = 1, _is_large(problem)
        ordered = large and _orders(problem, 1)
        if limit is not None and large:
            fitting = (
                g
                for g in range(2, len(r) + 1)
                if g * problem.size.n_columns <= WIDE_ENOUGH and _needed(problem, g, ordered=ordered) <= limit
            )
            group = max(fitting, default=1)
        arranged = _arranged_rows(problem, group) if ordered else 0
        strategy = "one r at a time" if group == 1 else f"{group} r's side by side"
        if ordered:
            strategy += ", nodes in community order"
        return Plan(
            self.name,
            _needed(problem, group, ordered=ordered, arranged=arranged),
            strategy=strategy,
            group=group,
            ordered=ordered,
            arranged=arranged,
        )

    def run(
        self, problem: Problem, plan: Plan, features: Features, progress: ProgressCallback | None = None
    ) -> Result:
        """Compute the embedding; ``progress`` is called at least once per hop, or per pass in the cache."""
        method, n = problem.method, problem.graph.n_nodes
        keeps_sum = weighting_named(method.weighting).keeps_sum
        report = Report(progress, n, method.n_hops, len(method.r))
        try:
            if plan.cached:
                matrix = cached.embed(
                    problem.graph,
                    features,
                    method,
                    together=cached.shares_panels(problem),
                    n_threads=problem.resources.threads,
                    report=report,
                )
                if matrix is not None:
                    return Result(matrix.astype(problem.dtype, copy=False))
                report.expect(len(method.r))
            out = np.empty((n, method.n_columns(features.shape[1])), np.float32)
            layout = Layout(n, features.shape[1], plan.group, problem.resources.state_dtype)
            workspace = Workspace(layout, method)
            order = arranged = None
            if plan.ordered:
                with meanwhile(*_preparations(problem, plan, features, out, workspace)):
                    order = _order(problem)
                if plan.arranged:
                    arranged = features.take(order.nodes[: plan.arranged])
            for first in range(0, len(method.r), plan.group):
                r = method.r[first : first + plan.group]
                hops = _hops(problem, features, r, workspace, order, arranged)
                for k in range(method.n_hops + 1):
                    left = method.n_hops - k
                    hops.advance(
                        keep_state=left > 0 or not keeps_sum,
                        postpone=k == 0 < left or left % 2 == 1,  # hops are weighed two at a time
                        tick=report.ticker(k, r),
                    )
                hops.write(out, first)
                del hops  # frees its memory before the next one is built
            del workspace, arranged  # before the result is copied to half precision
            return Result(out.astype(problem.dtype, copy=False))
        finally:
            _kernel.release_threads()


def sweep(
    problem: Problem, features: Features, wanted: Sequence[int], progress: ProgressCallback | None = None
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield (K, embedding) for each wanted K, at the cost of the largest K alone.

    All r's are computed side by side, since every K needs them all. Two results are held: one is written
    while the caller still uses the previous one.

    Parameters
    ----------
    problem : Problem
        The ``n_hops`` of its method is not used.
    features : Features
    wanted : sequence of ints
        Ascending numbers of hops.
    progress : callable, optional

    Returns
    -------
    iterator of (int, ndarray)

    Raises
    ------
    MemoryLimitError
        Immediately, if that exceeds the limit.
    """
    method = problem.method
    _check(sweep_nbytes(problem), problem)
    report = Report(progress, problem.graph.n_nodes, wanted[-1], len(method.r))
    ordered = _is_large(problem) and _orders(problem, len(method.r), n_hops=wanted[-1], results=2)
    order = _order(problem) if ordered else None
    return _sweep(_hops(problem, features, method.r, order=order), wanted, report)


def _hops(
    problem: Problem,
    features: Features,
    r: tuple[float, ...],
    workspace: Workspace | None = None,
    order: Order | None = None,
    arranged: Features | None = None,
) -> Hops:
    labels = problem.components.labels if problem.method.needs_stationary_state else None
    return Hops(
        problem.graph,
        features,
        problem.method,
        r,
        state_dtype=problem.resources.state_dtype,
        n_threads=problem.resources.threads,
        workspace=workspace,
        whole=Whole(features.largest, components=labels),
        order=order,
        arranged=arranged,
    )


def _is_large(problem: Problem) -> bool:
    """Whether a state does not fit into the cache, so that hops wait for main memory."""
    size = np.dtype(problem.resources.state_dtype).itemsize
    return problem.graph.n_nodes * problem.size.n_columns * size > CACHED_STATE


def _orders(problem: Problem, group: int, *, n_hops: int | None = None, results: int = 1) -> bool:
    """Whether renumbered nodes save time, and the memory is there."""
    method, resources = problem.method, problem.resources
    hops = method.n_hops if n_hops is None else n_hops
    if not order_pays(problem.size.n_columns * len(method.r), hops, resources.threads):
        return False
    if resources.limit is None:  # the usual peak is not to grow for the order's sake
        return order_nbytes(problem.graph)[0] <= _needed(problem, group, results)
    return _needed(problem, group, results, ordered=True) <= resources.limit


def _arranged_rows(problem: Problem, group: int) -> int:
    """Rows of the features that are copied in the order of nodes: as many as there is memory for.

    Sparse features, which are small, are copied as a whole or not at all.
    """
    n, limit = problem.graph.n_nodes, problem.resources.limit
    if limit is None:
        return n if problem.size.sparse else int(COPIED_SHARE * n)
    if _needed(problem, group, ordered=True, arranged=n) <= limit:
        return n
    if problem.size.sparse:
        return 0
    return max(0, limit - _needed(problem, group, ordered=True)) * n // problem.size.nbytes


def _preparations(
    problem: Problem, plan: Plan, features: Features, out: NDArray[np.float32], workspace: Workspace
) -> list[Callable[[], object]]:
    """What a second thread can do while the order is found, within the memory of the plan."""
    if problem.resources.threads == 1:
        return []
    fresh = [out.reshape(-1).view(np.uint8), *workspace.buffers]
    norms = 4 * problem.graph.n_nodes
    nbytes = _ordering_nbytes(problem, plan.arranged)[0] + sum(array.nbytes for array in fresh) + norms
    if problem.held + nbytes > plan.nbytes:
        return []
    return [*(partial(touch, array) for array in fresh), lambda: features.norms]


def sweep_nbytes(problem: Problem) -> int:
    """Bytes of a sweep that count towards the limit."""
    return _needed(problem, len(problem.method.r), results=2)


def _order(problem: Problem) -> Order:
    return community_order(problem.graph, n_threads=problem.resources.threads)


def _needed(
    problem: Problem, group: int, results: int = 1, *, ordered: bool = False, arranged: int = 0
) -> int:
    """Bytes that count towards the limit, with this many r's side by side."""
    n, columns = problem.graph.n_nodes, problem.size.n_columns
    layout = Layout(n, columns, group, problem.resources.state_dtype)
    nbytes = layout.nbytes(problem.method) + results * n * problem.method.n_columns(columns) * 4
    if problem.method.needs_stationary_state:
        # centres, their sums in float64, and the rows added in one go
        nbytes += problem.n_centres * columns * group * 12
        nbytes += n * 4 + 24 * min(CENTRE_BLOCK, n * columns)
    if ordered:
        at_first, kept = _ordering_nbytes(problem, arranged)
        nbytes = max(at_first, kept + 8 * n + nbytes)
    return problem.held + nbytes


def _ordering_nbytes(problem: Problem, arranged: int) -> tuple[int, int]:
    """Bytes that the order and the copied features take at most before the first hop, and bytes kept."""
    at_first, kept = order_nbytes(problem.graph)
    if arranged:  # copying sparse rows needs their positions
        kept += -(-problem.size.nbytes * arranged // problem.graph.n_nodes)
        at_first = max(at_first, kept + (2 * problem.size.nbytes if problem.size.sparse else 0))
    return at_first, kept


def _check(needed: int, problem: Problem) -> None:
    limit = problem.resources.limit
    if limit is None or needed <= limit:
        return
    advice: list[Part] = []
    if problem.resources.state_dtype != "float16":
        advice += ["use ", Parameter("state_dtype", "float16"), ", "]
    if ensemble_named(problem.method.ensemble).side_by_side:
        advice += ["use ", Parameter("ensemble", "mean"), ", "]
    raise MemoryLimitError(
        f"this embedding needs {show_bytes(needed, at_least=True)} besides its inputs, more than the ",
        Parameter("memory_limit"),
        f" of {show_bytes(limit)}; raise the limit, ",
        *advice,
        "or take fewer features",
    )


def _sweep(hops: Hops, wanted: Sequence[int], report: Report) -> Iterator[tuple[int, NDArray[np.float32]]]:
    method, due = hops.method, set(wanted)
    keeps_sum = weighting_named(method.weighting).keeps_sum
    pool = _Pool((hops.layout.n_nodes, method.n_columns(hops.layout.n_features)))
    try:
        for k in range(wanted[-1] + 1):
            last = k == wanted[-1] and keeps_sum
            hops.advance(keep_state=not last, postpone=k not in due, tick=report.ticker(k, method.r))
            if k in due:
                out = pool.lend()
                hops.write(out, 0)
                _kernel.release_threads()  # the caller may fork
                yield k, out
                del out
    finally:
        pool.close()
        _kernel.release_threads()


class _Pool:
    """Reuses the memory of a sweep's results once no array refers to it."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape, self.open = shape, True
        self.spare: list[NDArray[np.float32]] = []

    def lend(self) -> NDArray[np.float32]:
        """An uninitialised array. Spare memory is preferred: the first touch of new memory is slow."""
        raw = self.spare.pop() if self.spare else np.empty(self.shape, np.float32)
        return np.asarray(_Lease(raw, self))

    def close(self) -> None:
        """Stop keeping spare memory."""
        self.open = False
        self.spare.clear()


class _Lease:
    """Owner of one lent array: NumPy keeps it alive as the base of the array and of all its views."""

    def __init__(self, raw: NDArray[np.float32], pool: _Pool) -> None:
        self.raw, self.pool = raw, pool
        self.__array_interface__ = raw.__array_interface__

    def __del__(self) -> None:
        if self.pool.open:
            self.pool.spare.append(self.raw)
