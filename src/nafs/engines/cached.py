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

SLOTS = 8  # partial sums over panels, which fix the order of addition; also the most threads used
LARGE = 32 << 20  # bytes of two states and a sum; smaller ones fit into the cache anyway
CACHE = 8 << 20  # bytes of the two states and the features of a panel, one panel per core
_SMALL = 1e-12  # relative to the largest value; smaller rows need float64 products


def pays(problem: Problem) -> bool:
    """Whether this strategy supports the method, is faster, and needs no more memory than the usual one."""
    graph, method, n, f = problem.graph, problem.method, problem.graph.n_nodes, problem.size.n_columns
    return (
        3 * n * f * 4 > LARGE
        and 3 * n * _kernel.COLUMNS * 4 <= CACHE
        and _work(graph, method.n_hops) <= 4 * BLOCK_WORK  # signals are handled between panels
        and problem.resources.state_dtype == "float32"
        and weighting_named(method.weighting).keeps_sum
        and (not method.uses_distance or distance_named(method.distance).in_cache)
        and _nbytes(problem) <= Layout(n, f, 1).nbytes(method)
    )


def _work(graph: Adjacency, n_hops: int) -> int:
    """Number of values gathered for one panel."""
    return (graph.n_stored + graph.n_nodes) * _kernel.COLUMNS * (n_hops + 1)


def _nbytes(problem: Problem) -> int:
    """Peak memory besides the result, in bytes."""
    n = problem.graph.n_nodes
    panels = 3 * n * _kernel.COLUMNS * 4 * SLOTS
    copies = 32 * problem.graph.n_stored + 40 * n + (problem.size.nbytes if problem.size.sparse else 0)
    return panels + copies + (problem.method.n_hops + 1) * n * (8 * SLOTS + 48)


def embed(
    graph: Adjacency, features: Features, method: Method, *, n_threads: int, report: Report
) -> NDArray[np.float32] | None:
    """The embedding, or ``None`` if a row is too small for float32 products.

    Parameters
    ----------
    graph : Adjacency
    features : Features
    method : Method
    n_threads : int
    report : Report

    Returns
    -------
    ndarray of float32, shape (n, columns), or None
    """
    distance, ensemble = distance_named(method.distance), ensemble_named(method.ensemble)
    f, unit = features.shape[1], unit_of(features.largest)
    norms = features.norms.astype(np.float64) / unit
    if method.uses_distance and (norms[norms > 0] < _SMALL).any():
        return None
    report.expect(len(method.r) * (2 if method.uses_distance else 1))
    panels = _Panels(graph, features, method.n_hops, n_threads)
    norms = norms[panels.order]
    degrees = graph.degrees[panels.order]
    out = np.empty((graph.n_nodes, method.n_columns(f)), np.float32)
    for i, r in enumerate(method.r):
        unscale = (degrees**-r).astype(np.float32)
        if method.uses_distance:
            measured = panels.measure(unscale, report.ticker(method.n_hops, (r,), "measure"))
            if ((measured[..., 1] < _SMALL**2) & (norms > 0)).any():
                return None
            distances = distance.formula(measured[..., 0], measured[..., 1], norms)
        else:
            distances = np.zeros((method.n_hops + 1, graph.n_nodes))
        panels.smooth(
            unscale,
            weighting_named(method.weighting).weights(distances, distance, axis=0),
            (degrees**r * unit * ensemble.factor(len(method.r))).astype(np.float32),
            out[:, i * f : (i + 1) * f] if ensemble.side_by_side else out,
            ensemble=ensemble.code,
            fresh=i == 0,
            tick=report.ticker(method.n_hops, (r,)),
        )
    return out


class _Panels:
    """Graph and features for the kernel: nodes are renumbered so that neighbours lie close together."""

    def __init__(self, graph: Adjacency, features: Features, n_hops: int, n_threads: int) -> None:
        n, f = features.shape
        adjacency = graph.to_scipy()
        order = reverse_cuthill_mckee(adjacency, symmetric_mode=not graph.directed)
        self.order = np.ascontiguousarray(order, np.int32)
        number = np.empty(n, np.int32)
        number[self.order] = np.arange(n, dtype=np.int32)
        rows = adjacency[self.order]
        threads = min(n_threads, SLOTS)
        panel = 3 * n * _kernel.COLUMNS
        self._n, self._hops, self._panels = n, n_hops, -(-f // _kernel.COLUMNS)
        self._step = max(threads, BLOCK_WORK // _work(graph, n_hops))
        self._bound: dict[str, Any] = {
            "indptr": rows.indptr.astype(np.int64, copy=False),
            "indices": number[rows.indices],
            "weights": None if graph.weights is None else rows.data,
            "inverse_degree": (1 / graph.degrees[self.order]).astype(np.float32),
            "node": self.order,
            "features": f,
            "hops": n_hops,
            "unit": 1 / unit_of(features.largest),
            "buffers": aligned_bytes(4 * panel * threads).view(np.float32),
            "slots": SLOTS,
            "threads": threads,
            **features.by_column("x", number),
        }
        self._kernel = _kernel.ColumnKernel(**self._bound)

    def measure(self, unscale: NDArray[np.float32], tick: Any) -> NDArray[np.float64]:
        """Dot products with the features, and squared norms; shape (hops + 1, n, 2)."""
        parts = np.zeros((SLOTS, self._hops + 1, self._n, 2), np.float32)
        for begin, end in self._steps(tick):
            self._kernel.measure(begin, end, unscale=unscale, parts=parts.reshape(-1))
        return np.asarray(parts.sum(axis=0, dtype=np.float64))

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
