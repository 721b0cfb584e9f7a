"""Hops in memory: the state of one or several r's, advanced one hop at a time by the kernel.

Every r shares P = D̃⁻¹Ã, so the state holds Z⁽ᵏ⁾ = Pᵏ D̃^(-r) X for each r of a group side by side in one
wide row, and a hop reads the neighbour list once for all of them. After hop k, ``sum / total`` is the
embedding for K = k; nothing older is kept.

Euclidean distances to the stationary state are taken on the features minus the component's centre: P leaves
the centre alone, so Pᵏ (D̃^(-r) X - c) is the difference to the stationary state itself, without the
cancellation that subtracting two nearly equal rows would bring.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nafs._support.scratch import Allocate
from nafs.graph import Adjacency, Features
from nafs.smoothing import _kernel
from nafs.smoothing.method import Method
from nafs.smoothing.stationary import component_centres

STATE_DTYPES = ("float32", "float16")
_DISTANCE = {"none": 0, "cosine": 1, "euclidean": 2, "stationary_cosine": 3}
_WEIGHTING = {"last": 0, "average": 1, "adaptive": 2, "linear": 3}
ENSEMBLE = {"concat": 0, "mean": 1, "max": 2}

BLOCK_WORK = 1 << 27  # values gathered in one call: about a tenth of a second between signals
_STREAM_BYTES = 48 << 20  # two states beyond this do not live in the cache: write past it
_PAD_FROM = 64  # columns; narrower rows are not padded, it would cost too much memory
_ROWS = 1 << 18  # nodes whose scales are computed in one go


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
        # d̃, 1/d̃, norms, row blocks; d̃^r, d̃^(-r), total, peak, pending for each r, two float64 on the way
        return states + sums + self.n_nodes * (4 * (8 + 6 * self.n_groups) + 16 * self.n_groups)


class Workspace:
    """Two states and a running sum, allocated once and used for one group of r's after another.

    Touching fresh memory costs as much as several hops; touching it again costs nothing.
    """

    def __init__(self, layout: Layout, method: Method, allocate: Allocate = np.empty) -> None:
        rows, stride = layout.n_nodes, layout.stride
        nbytes = rows * stride * np.dtype(layout.state_dtype).itemsize
        self._states = [aligned_bytes(nbytes) for _ in range(2)]
        self._sum = None if method.weighting == "last" else aligned_bytes(rows * stride * 4, allocate)

    def states(self, layout: Layout) -> list[NDArray[np.float32]]:
        """The two states, for a layout no larger than the one allocated for."""
        return [_as_rows(buffer, layout, layout.state_dtype) for buffer in self._states]

    def sum(self, layout: Layout) -> NDArray[np.float32] | None:
        """The running sum; ``None`` where the weighting needs none."""
        return None if self._sum is None else _as_rows(self._sum, layout, "float32")


@dataclass(frozen=True)
class Whole:
    """What a panel of columns has to know of the matrix that it is a part of."""

    largest: float
    norms: NDArray[np.float32] | None = None
    components: NDArray[np.int32] | None = None
    centre_norms: NDArray[np.float32] | None = None  # of shape (components, len(r))


class Hops:
    """Smooth features over a graph for the given r's, one hop at a time.

    Parameters
    ----------
    graph : Adjacency
    features : Features
    method : Method
        Its ``r`` and ``n_hops`` are the whole run's; ``r`` below is the part done here.
    r : tuple of floats
    state_dtype : {"float32", "float16"}
    n_threads : int
    workspace : Workspace, optional
        Memory to use; its contents are overwritten.
    keep_distances : bool
        Leave D_i(k) of the latest hop in ``distances``, of shape (n, len(r)).
    whole : Whole, optional
        The features are a panel of columns of a wider matrix: distances take two passes, the first of
        which measures their parts (``measure``) and the second is given their sums over all panels.
    measure : bool
        The first pass: nothing is weighed or summed up.
    allocate : callable
        Makes the arrays with one entry for each node; states are always ``numpy.empty``.
    """

    def __init__(
        self,
        graph: Adjacency,
        features: Features,
        method: Method,
        r: tuple[float, ...],
        *,
        state_dtype: str = "float32",
        n_threads: int = 1,
        workspace: Workspace | None = None,
        keep_distances: bool = False,
        whole: Whole | None = None,
        measure: bool = False,
        allocate: Allocate = np.empty,
    ) -> None:
        n, f = features.shape
        groups = len(r)
        whole = whole or Whole(features.largest)
        weighting = "last" if measure else method.weighting
        self.layout = Layout(n, f, groups, state_dtype)
        self.graph, self.features, self.method = graph, features, method
        self.n_threads = n_threads
        self.hop = -1
        self.blocks = _row_blocks(graph, self.layout.width)
        measures = keep_distances or method.uses_distance
        distance = method.distance if measures else "none"

        # The state holds values up to 2: float16 cannot overflow, nor can the sums of float32.
        unit = unit_of(whole.largest)
        self._scale = allocate((n, groups), np.float32)
        unscale = allocate((n, groups), np.float32)
        inverse_degree = allocate((n,), np.float32)
        powers = np.asarray(r)[None, :]
        for begin in range(0, n, _ROWS):
            end = min(n, begin + _ROWS)
            degrees = graph.degrees_of(begin, end)
            inverse_degree[begin:end] = 1.0 / degrees
            self._scale[begin:end] = degrees[:, None] ** powers * unit
            unscale[begin:end] = degrees[:, None] ** -powers / unit

        self._centres = centre_norms = component = None
        if distance in ("euclidean", "stationary_cosine"):
            component = whole.components
            if component is None:
                component = allocate((n,), np.int32)
                _kernel.components(graph.indptr, graph.indices, component)
            centres = component_centres(graph, features, r, component)
            centres /= np.float32(unit)
            centre_norms = whole.centre_norms
            if centre_norms is None:
                centre_norms = np.linalg.norm(centres.reshape(-1, groups, f), axis=2).astype(np.float32)
            self._centres = centres
        self._centred = distance == "euclidean"

        workspace = workspace or Workspace(self.layout, method)
        self._state, self._next = workspace.states(self.layout)
        self._sum = None if measure else workspace.sum(self.layout)
        self._total = None
        if self._sum is not None:
            self._total = allocate((n, groups), np.float32)
            self._total[:] = 0
        self._owing = False
        halves = self._sum is not None and state_dtype == "float32"
        self._pending = allocate((n, 2 * groups), np.float32) if halves else None
        unbounded = weighting == "adaptive" and distance == "euclidean"
        self.distances = np.empty((n, groups), np.float32) if keep_distances else None
        self._fixed = {
            "indptr": graph.indptr,
            "indices": graph.indices,
            "weights": graph.weights,
            "inverse_degree": inverse_degree,
            "features": f,
            "groups": groups,
            "scale": self._scale,
            "unscale": unscale,
            "centres": self._centres,
            "centre_norms": centre_norms,
            "component": component,
            "centred": self._centred,
            **features.for_kernel(whole.norms),
            "sum": self._sum,
            "total": self._total,
            "peak": allocate((n, groups), np.float32) if unbounded else None,
            "distances": self.distances,
            "distance": _DISTANCE[distance],
            "weighting": _WEIGHTING[weighting],
            "stream": 2 * self._state.nbytes > _STREAM_BYTES,
            "threads": n_threads,
        }

    def advance(
        self,
        *,
        keep_state: bool = True,
        postpone: bool = False,
        parts: NDArray[np.float64] | None = None,
        given: NDArray[np.float64] | None = None,
        tick: Callable[[int], None] | None = None,
    ) -> None:
        """Compute the next hop, the first one being hop 0.

        Parameters
        ----------
        postpone : bool
            Nobody wants the embedding at this hop: where that saves memory traffic, leave its share of
            the sum to the next hop. The bits are the same.
        keep_state : bool
            ``False`` for the last hop, whose state nobody will read, saves writing it.
        parts, given : ndarray of shape (n, 2 * len(r)), optional
            Of a panel, what its distances are made of: measured here in the first pass, given over all
            panels in the second.
        tick : callable, optional
            Called after each block of rows with the number of rows done.
        """
        state = self._state if self.hop >= 0 else None
        following = self._next if keep_state else None
        owing = self._owing
        postpone = postpone and not owing and self.hop >= 0 and self._pending is not None
        pending = self._pending if owing or postpone else None
        for begin, end in self.blocks:
            _kernel.hop(
                begin=begin,
                end=end,
                state=state,
                next=following,
                pending=pending,
                postpone=postpone,
                parts=parts,
                given=given,
                **self._fixed,
            )
            if tick is not None:
                tick(end - begin)
        if keep_state:
            self._state, self._next = self._next, self._state
        self.hop += 1
        self._owing = postpone

    @property
    def centre_squares(self) -> NDArray[np.float64]:
        """Squared length of each component's centre, of a single r."""
        assert self._centres is not None
        return np.asarray(np.einsum("ij,ij->i", self._centres, self._centres, dtype=np.float64))

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
                centres=self._centres if self._centred else None,
                component=self._fixed["component"],
                out=target,
                features=f,
                groups=self.layout.n_groups,
                out_group_stride=f if concat else 0,
                ensemble=ENSEMBLE[method.ensemble],
                fresh=first_r == 0,
                factor=1.0 / len(method.r) if method.ensemble == "mean" else 1.0,
                fallback=float(self.hop + 1),
                begin=begin,
                end=end,
                threads=self.n_threads,
            )


def unit_of(largest: float) -> float:
    """The power of two that brings features to at most 1."""
    if not math.isfinite(largest):
        raise ValueError("features contain NaN or inf; fill or drop them")
    return float(2.0 ** math.ceil(math.log2(max(largest, 2.0**-100))))  # below that 1/unit would overflow


def aligned_bytes(nbytes: int, allocate: Allocate = np.empty) -> NDArray[np.uint8]:
    """Uninitialised bytes that start on a cache line, as streaming stores require."""
    raw = allocate((nbytes + 64,), np.uint8)
    offset = -raw.ctypes.data % 64
    return raw[offset : offset + nbytes]


def _as_rows(buffer: NDArray[np.uint8], layout: Layout, dtype: str) -> NDArray[np.float32]:
    nbytes = layout.n_nodes * layout.stride * np.dtype(dtype).itemsize
    return buffer[:nbytes].view(dtype).reshape(layout.n_nodes, layout.stride)


def _row_blocks(graph: Adjacency, width: int) -> list[tuple[int, int]]:
    """Split the rows so that one call gathers a bounded number of values."""
    n = graph.n_nodes
    work = int(graph.indptr[-1]) + n  # indptr[i] + i of it lie before row i
    parts = max(1, math.ceil(work * width / BLOCK_WORK))
    cuts = [
        bisect_left(range(n), work * p / parts, key=lambda i: int(graph.indptr[i]) + i) for p in range(parts)
    ]
    edges = [*sorted(set(cuts)), n]
    return [(a, b) for a, b in itertools.pairwise(edges) if a < b]
