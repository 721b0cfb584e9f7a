"""The memory engine: everything in RAM, several r's side by side where the memory limit allows.

One r at a time holds two states, the running sum and the result: for the mean, four matrices of the
features' size. Side by side the neighbour list is read once for all and rows are longer, which is
faster for narrow features whose states come from main memory, at the price of three matrices for each
further r. The bits are the same either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.engines.budget import show_bytes
from nafs.graph import Adjacency, Features
from nafs.smoothing import _kernel
from nafs.smoothing.hops import Hops, Layout, Workspace
from nafs.smoothing.method import Method

CACHED_STATE = 16 << 20  # bytes; a state that lives in the cache is smoothed faster alone
WIDE_ENOUGH = 128  # columns; longer rows gain less than fresh memory for them costs


class Progress(NamedTuple):
    """Where a run stands. ``done`` and ``total`` count rows computed, over all hops and r's."""

    done: int
    total: int
    hop: int
    n_hops: int
    r: tuple[float, ...]


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True)
class Plan:
    """How many r's go side by side, and the bytes that takes besides graph and features."""

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
) -> Plan:
    """Choose how many r's to carry at once, before anything is allocated.

    Parameters
    ----------
    graph : Adjacency
    n_features : int
    method : Method
    state_dtype : {"float32", "float16"}
    memory_limit : int, optional
        Bytes for everything besides the inputs. Without a limit one r at a time is carried, the
        smallest footprint.
    together : bool
        All r's at once and two results, as a sweep needs them.

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
        nbytes = layout.nbytes(method) + results * graph.n_nodes * method.n_columns(n_features) * 4
        if method.needs_stationary_state:
            components = int(graph.components.max()) + 1
            nbytes += components * n_features * group * 4 + graph.n_nodes * (4 + 8 * 64)
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
    memory_limit : int, optional
        As in :func:`plan`.
    progress : callable, optional
        Called with a :class:`Progress` several times per hop; what it raises stops the run.

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
    group = plan(graph, features.shape[1], method, state_dtype=state_dtype, memory_limit=memory_limit).group
    report = _Report(progress, graph.n_nodes, method.n_hops, len(method.r))
    try:
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
    state_dtype, n_threads, memory_limit, progress
        As in :func:`embed`. All r's are carried at once, whatever the limit: every K needs them all.

    Yields
    ------
    tuple of int and ndarray
    """
    top = wanted[-1]
    plan(
        graph,
        features.shape[1],
        method,
        state_dtype=state_dtype,
        memory_limit=memory_limit,
        together=True,
    )
    report = _Report(progress, graph.n_nodes, top, len(method.r))
    due = set(wanted)
    spare: list[NDArray[np.float32]] = []
    try:
        hops = Hops(graph, features, method, method.r, state_dtype=state_dtype, n_threads=n_threads)
        for k in range(top + 1):
            last = k == top and method.weighting != "last"
            hops.advance(keep_state=not last, postpone=k not in due, tick=report.ticker(k, method.r))
            if k in due:
                out = _leased(spare, (graph.n_nodes, method.n_columns(features.shape[1])))
                hops.write(out, 0)
                yield k, out
                del out
    finally:
        _kernel.release_threads()


class _Lease:
    """Lends an array's memory and takes it back when the last array that uses it is gone."""

    def __init__(self, raw: NDArray[np.float32], spare: list[NDArray[np.float32]]) -> None:
        self.raw, self.spare = raw, spare
        self.__array_interface__ = raw.__array_interface__

    def __del__(self) -> None:
        self.spare.append(self.raw)


def _leased(spare: list[NDArray[np.float32]], shape: tuple[int, int]) -> NDArray[np.float32]:
    """An uninitialised array, in memory that an earlier one has left: fresh memory is slow to touch."""
    raw = spare.pop() if spare else np.empty(shape, np.float32)
    return np.asarray(_Lease(raw, spare))


class _Report:
    """Counts rows and tells the user's callback."""

    def __init__(self, progress: ProgressCallback | None, n_nodes: int, n_hops: int, n_r: int) -> None:
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be callable, such as print; got {progress!r}")
        self.progress, self.n_hops = progress, n_hops
        self.done, self.total = 0, n_nodes * (n_hops + 1) * n_r

    def ticker(self, hop: int, r: tuple[float, ...]) -> Callable[[int], None] | None:
        if self.progress is None:
            return None
        callback = self.progress

        def tick(rows: int) -> None:
            self.done += rows * len(r)
            callback(Progress(self.done, self.total, hop, self.n_hops, r))

        return tick
