"""How long an embedding takes, and how a table shows it."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.budget import show_bytes
from nafs.graph import Graph
from nafs.reproduce.store import Values, seconds
from nafs.rivals import OutOfMemoryError, Problem, Rival
from nafs.smoothing import normalized_adjacency
from nafs.smoothing.method import DEFAULT_R

PATIENCE = 60.0  # seconds; a fit that takes longer is stopped
LONG = 10.0  # seconds; a fit that takes longer is not repeated


class _TooLongError(Exception):
    """Stops a fit that takes too long."""


def fit_times(
    rival: Rival, problem: Problem, *, repeats: int = 3, patience: float = PATIENCE, long: float = LONG
) -> Values:
    """How long a rival takes.

    Parameters
    ----------
    rival : Rival
    problem : Problem
    repeats : int
        Number of runs.
    patience : float
        Seconds after which a run is stopped.
    long : float
        Seconds; a run that takes longer is not repeated.

    Returns
    -------
    dict
        "seconds" of each run. If a run was stopped: an "estimate" of its seconds, in proportion to the
        "share" of its steps that were done. If there is not enough memory: the bytes that it "needs".
    """
    times: list[float] = []
    share = 0.0
    for _ in range(repeats):
        start = time.perf_counter()

        def watch(done: int, total: int, start: float = start) -> None:
            nonlocal share
            share = done / total
            if share < 1 and time.perf_counter() - start > patience:
                raise _TooLongError

        try:
            rival(problem, progress=watch)
        except OutOfMemoryError as error:
            return {"needs": [float(error.needs)]}
        except _TooLongError:
            return {"estimate": [(time.perf_counter() - start) / share], "share": [share]}
        times.append(time.perf_counter() - start)
        if times[-1] > long:
            break
    return {"seconds": times}


def show_time(cell: Values | None) -> str:
    """A cell of :func:`fit_times` for a table.

    Examples
    --------
    >>> from nafs.reproduce.timing import show_time
    >>> show_time({"seconds": [2.0, 2.2, 2.4]}), show_time({"estimate": [900.0], "share": [0.25]})
    ('2.2 s', '≈ 900 s (25 % done)')
    >>> show_time({"needs": [40e9]}), show_time(None)
    ('out of memory (needs 40 GB)', '')
    """
    if cell is None:
        return ""
    if "needs" in cell:
        return f"out of memory (needs {show_bytes(int(cell['needs'][0]))})"
    if "estimate" in cell:
        return f"≈ {cell['estimate'][0]:,.0f} s ({100 * cell['share'][0]:.2g} % done)"
    return seconds(cell["seconds"])


def about_estimates() -> str:
    """A remark for tables of estimated times."""
    return (
        f"A fit that takes more than {PATIENCE:.0f} seconds is stopped, and its time is estimated (≈) in "
        "proportion to the share of its steps that were done."
    )


def middle(cell: Values | None) -> float:
    """The median, or the estimate, in seconds; NaN if there is none."""
    times = [] if cell is None else cell.get("seconds", cell.get("estimate", []))
    return float(np.median(times)) if times else float("nan")


def plain_nafs(graph: Graph, hops: int, r: tuple[float, ...] = DEFAULT_R) -> NDArray[np.float32]:
    """NAFS-mean as one would write it with SciPy, for comparison with the speed of the kernel."""
    assert graph.features is not None
    X = graph.features.toarray()
    norms = np.linalg.norm(X, axis=1)
    result = np.zeros_like(X)
    for value in r:
        operator = sp.csr_array(normalized_adjacency(graph.adjacency, value).astype(np.float32))
        state, total, weighted = X, np.zeros(len(X), np.float32), np.zeros_like(X)
        for hop in range(hops + 1):
            state = operator @ state if hop else state
            size = np.maximum(np.linalg.norm(state, axis=1) * norms, 1e-30)
            weight = np.exp(np.einsum("ij,ij->i", state, X) / size)
            weighted += weight[:, None] * state
            total += weight
        result += weighted / total[:, None]
    return np.asarray(result / np.float32(len(r)))
