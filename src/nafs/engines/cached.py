"""The memory engine's strategy for small graphs with many features: a few columns at a time, in the cache.

Only the distances need whole rows. A first pass over the columns measures what they contribute to the
distances; a second pass smooths them again with the resulting weights. That is twice the work, but the
states never leave the processor's cache, while the usual strategy waits for main memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from nafs.engines.base import Problem
from nafs.engines.progress import Report
from nafs.graph import Adjacency, Features
from nafs.smoothing import _kernel
from nafs.smoothing.distances import distance_named
from nafs.smoothing.ensembles import ensemble_named
from nafs.smoothing.hops import BLOCK_WORK, Layout, aligned_bytes, unit_of
from nafs.smoothing.method import Method
from nafs.smoothing.weightings import weighting_named

SLOTS = 8  # partial sums over panels, which fix the order of addition; also the most threads with own panels
LARGE = 32 << 20  # bytes of two states and a sum; smaller ones fit into the cache anyway
OWN = 8 << 20  # bytes of the two states and the features of a panel, if each core has its own panel
SHARED = 24 << 20  # the same, if all cores share one panel
WIDE = 8 * _kernel.COLUMNS  # columns from which on shared panels pay: they are padded, and read twice
_VALUES = 1 << 18  # distances that are computed at a time
_SMALL = 1e-12  # relative to the largest value; smaller rows need float64 products


def pays(problem: Problem) -> bool:
    """Whether this strategy supports the method, is faster, and needs no more memory than the usual one."""
    graph, method, n, f = problem.graph, problem.method, problem.graph.n_nodes, problem.size.n_columns
    return (
        3 * n * f * 4 > LARGE
        and _panel_bytes(n) <= SHARED
        and _work(graph, method.n_hops) <= 4 * BLOCK_WORK  # signals are handled between panels
        and problem.resources.state_dtype == "float32"
        and weighting_named(method.weighting).keeps_sum
        and (not method.uses_distance or distance_named(method.distance).in_cache)
        and _nbytes(problem, 1) <= _usual_nbytes(problem)
        and (f >= WIDE or not shares_panels(problem))
    )


def _work(graph: Adjacency, n_hops: int) -> int:
    """Number of values gathered for one panel."""
    return (graph.n_stored + graph.n_nodes) * _kernel.COLUMNS * (n_hops + 1)


def _panel_bytes(n: int) -> int:
    """Bytes of the two states and the features of a panel."""
    return 3 * n * _kernel.COLUMNS * 4


def shares_panels(problem: Problem) -> bool:
    """Whether all threads share one panel; otherwise each has its own.

    Threads that share a panel wait for each other after every hop, but need less of the cache, and less
    memory for the parts of distances. The answer must not depend on the number of threads, or bits would.
    """
    return _panel_bytes(problem.graph.n_nodes) > OWN or _nbytes(problem, SLOTS) > _usual_nbytes(problem)


def _nbytes(problem: Problem, slots: int) -> int:
    """Peak memory besides the result, in bytes, with this many panels in use."""
    n, values = problem.graph.n_nodes, (problem.method.n_hops + 1) * problem.graph.n_nodes
    copies = 32 * problem.graph.n_stored + 40 * n + (problem.size.nbytes if problem.size.sparse else 0)
    blocks = 80 * min(values, _VALUES + problem.method.n_hops)
    return slots * _panel_bytes(n) + copies + values * (8 * slots + 4) + blocks


def _usual_nbytes(problem: Problem) -> int:
    """Memory besides the result if whole rows are smoothed, one r at a time."""
    return Layout(problem.graph.n_nodes, problem.size.n_columns, 1).nbytes(problem.method)


def embed(
    graph: Adjacency,
    features: Features,
    method: Method,
    *,
    together: bool,
    n_threads: int,
    report: Report,
) -> NDArray[np.float32] | None:
    """The embedding, or ``None`` if a row is too small for float32 products.

    Parameters
    ----------
    graph : Adjacency
    features : Features
    method : Method
    together : bool
        Whether all threads share one panel.
    n_threads : int
    report : Report

    Returns
    -------
    ndarray of float32, shape (n, columns), or None
    """
    ensemble = ensemble_named(method.ensemble)
    f, unit = features.shape[1], unit_of(features.largest)
    norms = features.norms.astype(np.float64) / unit
    if method.uses_distance and (norms[norms > 0] < _SMALL).any():
        return None
    report.expect(len(method.r) * (2 if method.uses_distance else 1))
    panels = _Panels(graph, features, method.n_hops, n_threads, together=together)
    norms = norms[panels.order]
    degrees = graph.degrees[panels.order]
    out = np.empty((graph.n_nodes, method.n_columns(f)), np.float32)
    for i, r in enumerate(method.r):
        unscale = (degrees**-r).astype(np.float32)
        parts = None
        if method.uses_distance:
            parts = panels.measure(unscale, report.ticker(method.n_hops, (r,), "measure"))
        weights = _weights(method, parts, norms)
        if weights is None:
            return None
        panels.smooth(
            unscale,
            weights,
            (degrees**r * unit * ensemble.factor(len(method.r))).astype(np.float32),
            out[:, i * f : (i + 1) * f] if ensemble.side_by_side else out,
            ensemble=ensemble.code,
            fresh=i == 0,
            tick=report.ticker(method.n_hops, (r,)),
        )
    return out


def _weights(
    method: Method, parts: NDArray[np.float32] | None, norms: NDArray[np.float64]
) -> NDArray[np.float32] | None:
    """Weights of shape (hops + 1, n), computed for some nodes at a time; ``None`` if a row is too small."""
    n, n_hops = len(norms), method.n_hops
    weighting, distance = weighting_named(method.weighting), distance_named(method.distance)
    weights = np.empty((n_hops + 1, n), np.float32)
    step = max(1, _VALUES // (n_hops + 1))
    for begin in range(0, n, step):
        nodes = slice(begin, begin + step)
        if parts is None:
            distances = np.zeros((n_hops + 1, len(norms[nodes])))
        else:
            sums = parts[:, :, nodes].sum(axis=0, dtype=np.float64)
            dots, squares = sums[..., 0], sums[..., 1]
            if ((squares < _SMALL**2) & (norms[nodes] > 0)).any():
                return None
            distances = distance.formula(dots, squares, norms[nodes])
        weights[:, nodes] = weighting.weights(distances, distance, axis=0)
    return weights


class _Panels:
    """Graph and features for the kernel: nodes are renumbered so that neighbours lie close together."""

    def __init__(
        self, graph: Adjacency, features: Features, n_hops: int, n_threads: int, *, together: bool
    ) -> None:
        n, f = features.shape
        adjacency = graph.to_scipy()
        order = reverse_cuthill_mckee(adjacency, symmetric_mode=not graph.directed)
        self.order = np.ascontiguousarray(order, np.int32)
        number = np.empty(n, np.int32)
        number[self.order] = np.arange(n, dtype=np.int32)
        rows = adjacency[self.order]
        self._slots = 1 if together else SLOTS
        threads = n_threads if together else min(n_threads, SLOTS)
        self._n, self._hops, self._panels = n, n_hops, -(-f // _kernel.COLUMNS)
        self._step = max(1 if together else threads, BLOCK_WORK // _work(graph, n_hops))
        self._bound: dict[str, Any] = {
            "indptr": rows.indptr.astype(np.int64, copy=False),
            "indices": number[rows.indices],
            "weights": None if graph.weights is None else rows.data,
            "inverse_degree": (1 / graph.degrees[self.order]).astype(np.float32),
            "node": self.order,
            "features": f,
            "hops": n_hops,
            "unit": 1 / unit_of(features.largest),
            "buffers": aligned_bytes(_panel_bytes(n) * (1 if together else threads)).view(np.float32),
            "slots": self._slots,
            "together": together,
            "threads": threads,
            **features.by_column("x", number),
        }
        self._kernel = _kernel.ColumnKernel(**self._bound)

    def measure(self, unscale: NDArray[np.float32], tick: Any) -> NDArray[np.float32]:
        """Parts of dot products with the features and of squared norms; shape (slots, hops + 1, n, 2)."""
        parts = np.zeros((self._slots, self._hops + 1, self._n, 2), np.float32)
        for begin, end in self._steps(tick):
            self._kernel.measure(begin, end, unscale=unscale, parts=parts.reshape(-1))
        return parts

    def smooth(
        self,
        unscale: NDArray[np.float32],
        weights: NDArray[np.float32],
        share: NDArray[np.float32],
        out: NDArray[np.float32],
        *,
        ensemble: _kernel.Ensemble,
        fresh: bool,
        tick: Any,
    ) -> None:
        """Add the embedding of one r to ``out``, as the ensemble requires."""
        for begin, end in self._steps(tick):
            self._kernel.smooth(
                begin,
                end,
                unscale=unscale,
                weights=weights,
                share=share,
                out=out,
                ensemble=ensemble,
                fresh=fresh,
            )

    def _steps(self, tick: Any) -> Iterator[tuple[int, int]]:
        """Ranges of panels. Signals are handled, and progress is reported, between them."""
        rows = self._n * (self._hops + 1)
        for begin in range(0, self._panels, self._step):
            end = min(self._panels, begin + self._step)
            yield begin, end
            if tick is not None:
                tick(rows * end // self._panels - rows * begin // self._panels)
