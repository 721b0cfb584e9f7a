"""The memory engine: everything in RAM, several r's side by side where the memory limit allows.

One r at a time holds two states, the running sum and the result: for the mean, four matrices of the
features' size. Side by side the neighbour list is read once for all and rows are longer, which is
faster for narrow features whose states come from main memory, at the price of three matrices for each
further r. The bits are the same either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import show_bytes
from nafs.engines import cached
from nafs.engines.progress import ProgressCallback, Report
from nafs.graph import Adjacency, Features
from nafs.smoothing import _kernel
from nafs.smoothing.hops import Hops, Layout, Workspace
from nafs.smoothing.method import Method
from nafs.smoothing.stationary import BLOCK as CENTRE_BLOCK

CACHED_STATE = 16 << 20  # bytes; a state that lives in the cache is smoothed faster alone
WIDE_ENOUGH = 128  # columns; longer rows gain less than fresh memory for them costs


@dataclass(frozen=True)
class Plan:
    """How many r's go side by side, and the bytes that count towards the limit."""

    group: int
    nbytes: int


def plan(
    graph: Adjacency,
    n_features: int,
    method: Method,
    *,
    state_dtype: str = "float32",
    memory_limit: int | None = None,
    together: bool = False,
    held: int = 0,
) -> Plan:
    """Choose how many r's to carry at once, before anything is allocated.

    Parameters
    ----------
    graph : Adjacency
    n_features : int
    method : Method
    state_dtype : {"float32", "float16"}
    memory_limit : int, optional
        Bytes for states, sums, results and ``held``. Without a limit one r at a time is carried, the
        smallest footprint.
    together : bool
        All r's at once and two results, as a sweep needs them.
    held : int
        Bytes that copies of the inputs hold already; they count towards the limit.

    Returns
    -------
    Plan

    Raises
    ------
    MemoryError
        If the least that works exceeds the limit.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.engines.memory import plan
    >>> from nafs.graph import read_adjacency
    >>> from nafs.smoothing import Method
    >>> plan(read_adjacency(np.zeros((1000, 1000))), 64, Method()).group
    1
    """

    def needed(group: int) -> int:
        layout = Layout(graph.n_nodes, n_features, group, state_dtype)
        results = 2 if together else 1  # a sweep fills one while the caller still holds the last
        nbytes = held + layout.nbytes(method)
        nbytes += results * graph.n_nodes * method.n_columns(n_features) * 4
        if method.needs_stationary_state:
            components = _kernel.components(graph.indptr, graph.indices, np.empty(graph.n_nodes, np.int32))
            # centres, summed in float64, and the rows that are added to them in one go
            nbytes += components * n_features * group * 12
            nbytes += graph.n_nodes * 4 + 24 * min(CENTRE_BLOCK, graph.n_nodes * n_features)
        return nbytes

    smallest = len(method.r) if together else 1
    best = Plan(smallest, needed(smallest))
    if memory_limit is None:
        return best
    if best.nbytes > memory_limit:
        raise MemoryError(
            f"this embedding needs {show_bytes(best.nbytes)} besides its inputs, more than the "
            f"memory_limit of {show_bytes(memory_limit)}; raise the limit, use "
            "state_dtype='float16', ensemble='mean' instead of 'concat', or fewer features"
        )
    state = graph.n_nodes * n_features * np.dtype(state_dtype).itemsize
    if state > CACHED_STATE:
        for group in range(smallest + 1, len(method.r) + 1):
            if group * n_features <= WIDE_ENOUGH and needed(group) <= memory_limit:
                best = Plan(group, needed(group))
    return best


def embed(
    graph: Adjacency,
    features: Features,
    method: Method,
    *,
    state_dtype: str = "float32",
    n_threads: int = 1,
    memory_limit: int | None = None,
    held: int = 0,
    progress: ProgressCallback | None = None,
) -> NDArray[np.float32]:
    """The embedding of ``features`` over ``graph``.

    Parameters
    ----------
    graph : Adjacency
    features : Features
    method : Method
    state_dtype : {"float32", "float16"}
    n_threads : int
    memory_limit, held
        As in :func:`plan`.
    progress : callable, optional
        Called with a :class:`Progress` at least once per hop, or per pass where columns take all hops at
        once; what it raises stops the run.

    Returns
    -------
    ndarray of float32, shape (n, columns)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.engines.memory import embed
    >>> from nafs.graph import read_adjacency, read_features
    >>> from nafs.smoothing import Method
    >>> pair = read_adjacency(np.array([[0, 1], [1, 0]]))
    >>> embed(pair, read_features([[0.0], [4.0]]), Method(1, r=(0.0,), weighting="average"))
    array([[1.],
           [3.]], dtype=float32)
    """
    group = plan(
        graph, features.shape[1], method, state_dtype=state_dtype, memory_limit=memory_limit, held=held
    ).group
    report = Report(progress, graph.n_nodes, method.n_hops, len(method.r))
    try:
        if cached.pays(graph, features, method, state_dtype):
            found = cached.embed(graph, features, method, n_threads=n_threads, report=report)
            if found is not None:
                return found
            report.expect(len(method.r))
        out = np.empty((graph.n_nodes, method.n_columns(features.shape[1])), np.float32)
        workspace = Workspace(Layout(graph.n_nodes, features.shape[1], group, state_dtype), method)
        for first in range(0, len(method.r), group):
            r = method.r[first : first + group]
            hops = Hops(
                graph,
                features,
                method,
                r,
                state_dtype=state_dtype,
                n_threads=n_threads,
                workspace=workspace,
            )
            for k in range(method.n_hops + 1):
                last = k == method.n_hops and method.weighting != "last"
                hops.advance(keep_state=not last, postpone=k < method.n_hops, tick=report.ticker(k, r))
            hops.write(out, first)
            del hops  # before the next one is built
        return out
    finally:
        _kernel.release_threads()


def sweep(
    graph: Adjacency,
    features: Features,
    method: Method,
    wanted: Sequence[int],
    *,
    state_dtype: str = "float32",
    n_threads: int = 1,
    memory_limit: int | None = None,
    held: int = 0,
    progress: ProgressCallback | None = None,
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield (K, embedding) for each K wanted, ascending, at the price of the largest alone.

    Parameters
    ----------
    graph : Adjacency
    features : Features
    method : Method
        Its ``n_hops`` is not used.
    wanted : sequence of ints
        Ascending numbers of hops.
    state_dtype, n_threads, memory_limit, held, progress
        As in :func:`embed`. All r's are carried at once, whatever the limit: every K needs them all.

    Returns
    -------
    iterator of (int, ndarray)
    """
    plan(
        graph,
        features.shape[1],
        method,
        state_dtype=state_dtype,
        memory_limit=memory_limit,
        together=True,
        held=held,
    )
    report = Report(progress, graph.n_nodes, wanted[-1], len(method.r))
    hops = Hops(graph, features, method, method.r, state_dtype=state_dtype, n_threads=n_threads)
    return _sweep(hops, wanted, report)


def _sweep(hops: Hops, wanted: Sequence[int], report: Report) -> Iterator[tuple[int, NDArray[np.float32]]]:
    method, due = hops.method, set(wanted)
    pool = _Pool((hops.layout.n_nodes, method.n_columns(hops.layout.n_features)))
    try:
        for k in range(wanted[-1] + 1):
            last = k == wanted[-1] and method.weighting != "last"
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
    """Results whose memory is used again once the last array on it is gone, while the sweep runs."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape, self.open = shape, True
        self.spare: list[NDArray[np.float32]] = []

    def lend(self) -> NDArray[np.float32]:
        """An uninitialised array; fresh memory is slow to touch, so a spare one comes first."""
        raw = self.spare.pop() if self.spare else np.empty(self.shape, np.float32)
        return np.asarray(_Lease(raw, self))

    def close(self) -> None:
        """Keep nothing from now on."""
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
