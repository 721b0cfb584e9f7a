"""Hops in memory: the state of one or several r's, advanced one hop at a time by the kernel.

Every r shares P = D̃⁻¹Ã, so the state holds Z⁽ᵏ⁾ = Pᵏ D̃^(-r) X for each r of a group side by side in one
wide row, and a hop reads the neighbour list once for all of them. After hop k, ``sum / total`` is the
embedding for K = k; nothing older is kept.

Distances to the stationary state are taken on the features minus the component's centre: P leaves the
centre alone, so Pᵏ (D̃^(-r) X - c) is the difference to the stationary state itself, without the
cancellation that subtracting two nearly equal rows would bring.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency
from nafs.graph.features import largest_magnitude
from nafs.smoothing import _kernel
from nafs.smoothing.method import Method
from nafs.smoothing.stationary import component_centres

STATE_DTYPES = ("float32", "float16")
_DISTANCE = {"none": 0, "cosine": 1, "euclidean": 2, "stationary_cosine": 3}
_WEIGHTING = {"last": 0, "average": 1, "adaptive": 2, "linear": 3}
_ENSEMBLE = {"concat": 0, "mean": 1, "max": 2}

_BLOCK_WORK = 1 << 27  # values gathered in one call: about a tenth of a second between signals
_STREAM_BYTES = 48 << 20  # two states beyond this do not live in the cache: write past it
_PAD_FROM = 64  # columns; narrower rows are not padded, it would cost too much memory


@dataclass(frozen=True)
class Layout:
    """How the state of a group of r's lies in memory."""

    n_nodes: int
    n_features: int
    n_groups: int
    state_dtype: str = "float32"

    @property
    def width(self) -> int:
        """Columns of a state row."""
        return self.n_features * self.n_groups

    @property
    def stride(self) -> int:
        """Columns from one row to the next: whole vectors of eight where rows are long."""
        return -(-self.width // 8) * 8 if self.width >= _PAD_FROM else self.width

    def nbytes(self, method: Method) -> int:
        """Bytes that :class:`Hops` holds besides features and centres."""
        size = np.dtype(self.state_dtype).itemsize
        states = 2 * self.n_nodes * self.stride * size
        sums = 0 if method.weighting == "last" else self.n_nodes * self.stride * 4
        # 1/d̃, norms of X, and d̃^r, d̃^(-r), total, peak for each r
        return states + sums + self.n_nodes * 4 * (2 + 4 * self.n_groups)


class Hops:
    """Smooth features over a graph for the given r's, one hop at a time.

    Parameters
    ----------
    graph : Adjacency
    features : ndarray of float32, C-ordered
    method : Method
        Its ``r`` and ``n_hops`` are the whole run's; ``r`` below is the part done here.
    r : tuple of floats
    state_dtype : {"float32", "float16"}
    n_threads : int
    keep_distances : bool
        Leave D_i(k) of the latest hop in ``distances``, of shape (n, len(r)).
    """

    def __init__(
        self,
        graph: Adjacency,
        features: NDArray[np.float32],
        method: Method,
        r: tuple[float, ...],
        *,
        state_dtype: str = "float32",
        n_threads: int = 1,
        keep_distances: bool = False,
    ) -> None:
        n, f = features.shape
        groups = len(r)
        self.layout = Layout(n, f, groups, state_dtype)
        self.graph, self.features, self.method = graph, features, method
        self.n_threads = n_threads
        self.hop = -1
        self.blocks = _row_blocks(graph, self.layout.width)
        measures = keep_distances or method.uses_distance
        distance = method.distance if measures else "none"

        # The state holds values up to 2: float16 cannot overflow, nor can the sums of float32.
        largest = largest_magnitude(features)
        unit = 2.0 ** math.ceil(math.log2(largest)) if largest > 0 else 1.0
        degrees = graph.degrees[:, None]
        powers = np.asarray(r)[None, :]
        self._scale = np.ascontiguousarray(degrees**powers * unit, dtype=np.float32)
        self._unscale = np.ascontiguousarray(degrees**-powers / unit, dtype=np.float32)

        self._centre = self._component = reference = norms = None
        if distance in ("euclidean", "stationary_cosine"):
            centres = component_centres(graph, features, r)
            centres /= np.float32(unit)
            self._component = graph.components
            if distance == "euclidean":
                self._centre = centres
            else:
                reference, norms = centres, _norms(centres.reshape(-1, f)).reshape(-1, groups)
        elif distance == "cosine":
            reference, norms = features, _norms(features)[:, None]

        self._state = self._new_state()
        self._next = self._new_state()
        sums = method.weighting != "last"
        self._sum = _aligned((n, self.layout.stride), np.dtype(np.float32)) if sums else None
        self._total = np.zeros((n, groups), np.float32) if sums else None
        unbounded = method.weighting == "adaptive" and distance == "euclidean"
        self.distances = np.empty((n, groups), np.float32) if keep_distances else None
        self._fixed = {
            "indptr": graph.indptr,
            "indices": graph.indices,
            "weights": graph.weights,
            "inverse_degree": (1.0 / graph.degrees).astype(np.float32),
            "features": f,
            "groups": groups,
            "scale": self._scale,
            "component": self._component,
            "reference": reference,
            "reference_norms": norms,
            "sum": self._sum,
            "total": self._total,
            "peak": np.empty((n, groups), np.float32) if unbounded else None,
            "distances": self.distances,
            "distance": _DISTANCE[distance],
            "weighting": _WEIGHTING[method.weighting],
            "stream": 2 * self._state.nbytes > _STREAM_BYTES,
            "threads": n_threads,
        }

    def _new_state(self) -> NDArray[np.float32]:
        shape = (self.layout.n_nodes, self.layout.stride)
        return _aligned(shape, np.dtype(self.layout.state_dtype))

    def advance(self, *, keep_state: bool = True, tick: Callable[[int], None] | None = None) -> None:
        """Compute the next hop, the first one being hop 0.

        Parameters
        ----------
        keep_state : bool
            ``False`` for the last hop, whose state nobody will read, saves writing it.
        tick : callable, optional
            Called after each block of rows with the number of rows done.
        """
        start: dict[str, object] = {"state": self._state}
        if self.hop < 0:
            start = {"x": self.features, "unscale": self._unscale, "centre": self._centre}
        following = self._next if keep_state else None
        for begin, end in self.blocks:
            _kernel.hop(begin=begin, end=end, next=following, **start, **self._fixed)
            if tick is not None:
                tick(end - begin)
        if keep_state:
            self._state, self._next = self._next, self._state
        self.hop += 1

    def write(self, out: NDArray[np.float32], first_r: int) -> None:
        """Combine the embedding for K = the current hop into ``out``.

        Parameters
        ----------
        out : ndarray of float32
            The whole run's embedding.
        first_r : int
            Position of this group's first r among the method's: 0 overwrites ``out``.
        """
        method, f = self.method, self.layout.n_features
        concat = method.ensemble == "concat"
        target = out[:, first_r * f : (first_r + self.layout.n_groups) * f] if concat else out
        source = self._state if self._sum is None else self._sum
        for begin, end in self.blocks:
            _kernel.finish(
                source=source,
                total=self._total,
                scale=self._scale,
                centre=self._centre,
                component=self._component if self._centre is not None else None,
                out=target,
                features=f,
                groups=self.layout.n_groups,
                out_group_stride=f if concat else 0,
                ensemble=_ENSEMBLE[method.ensemble],
                fresh=first_r == 0,
                factor=1.0 / len(method.r) if method.ensemble == "mean" else 1.0,
                fallback=float(self.hop + 1),
                begin=begin,
                end=end,
                threads=self.n_threads,
            )


def _aligned(shape: tuple[int, int], dtype: np.dtype[np.generic]) -> NDArray[np.float32]:
    """An uninitialised matrix that starts on a cache line, as streaming stores require."""
    nbytes = shape[0] * shape[1] * dtype.itemsize
    raw = np.empty(nbytes + 64, dtype=np.uint8)
    offset = -raw.ctypes.data % 64
    return raw[offset : offset + nbytes].view(dtype).reshape(shape)


def _norms(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Euclidean norm of each row, summed in float64 by blocks of rows."""
    norms = np.empty(len(rows), np.float32)
    step = max(1, (1 << 20) // rows.shape[1])
    for top in range(0, len(rows), step):
        block = rows[top : top + step].astype(np.float64)
        norms[top : top + step] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return norms


def _row_blocks(graph: Adjacency, width: int) -> list[tuple[int, int]]:
    """Split the rows so that one call gathers a bounded number of values."""
    n = graph.n_nodes
    work = graph.indptr + np.arange(n + 1)
    parts = max(1, math.ceil(int(work[-1]) * width / _BLOCK_WORK))
    cuts = np.searchsorted(work, np.linspace(0, int(work[-1]), parts + 1)[1:-1])
    edges = [0, *np.unique(cuts).tolist(), n]
    return [(a, b) for a, b in itertools.pairwise(edges) if a < b]
