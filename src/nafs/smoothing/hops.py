"""Hops in memory: the state of one or several r's, advanced one hop at a time by the kernel.

Every r shares P = D̃⁻¹Ã, so the state holds Z⁽ᵏ⁾ = Pᵏ D̃^(-r) X for each r of a group side by side in one
wide row, and a hop reads the neighbour list once for all of them. After hop k, ``sum / total`` is the
embedding for K = k; nothing older is kept.

Euclidean distances to the stationary state are computed on the features minus the component's centre: P does
not change the centre, so Pᵏ (D̃^(-r) X - c) is the difference to the stationary state itself, without the
cancellation that subtracting two nearly equal rows would bring.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs._support.scratch import Allocate
from nafs.graph import Adjacency, Features
from nafs.graph.features import LARGEST
from nafs.smoothing import _kernel
from nafs.smoothing.distances import distance_named
from nafs.smoothing.ensembles import ensemble_named
from nafs.smoothing.method import Method
from nafs.smoothing.order import Order
from nafs.smoothing.stationary import component_centres
from nafs.smoothing.weightings import weighting_named

STATE_DTYPES = ("float32", "float16")

BLOCK_WORK = 1 << 27  # values gathered in one call: about a tenth of a second between signals
_STREAM_BYTES = 48 << 20  # two larger states do not fit into the cache: write past it
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
        sums = 0 if not weighting_named(method.weighting).keeps_sum else self.n_nodes * self.stride * 4
        # d̃, 1/d̃, norms, row blocks; d̃^r, d̃^(-r), total, peak for each r, two float64 on the way
        return states + sums + self.n_nodes * (4 * (8 + 4 * self.n_groups) + 16 * self.n_groups)


class Workspace:
    """Two states and a running sum, allocated once and used for one group of r's after another.

    Touching fresh memory costs as much as several hops; touching it again costs nothing.
    """

    def __init__(self, layout: Layout, method: Method, allocate: Allocate = np.empty) -> None:
        rows, stride = layout.n_nodes, layout.stride
        nbytes = rows * stride * np.dtype(layout.state_dtype).itemsize
        self._states = [aligned_bytes(nbytes) for _ in range(2)]
        keeps_sum = weighting_named(method.weighting).keeps_sum
        self._sum = aligned_bytes(rows * stride * 4, allocate) if keeps_sum else None

    @property
    def buffers(self) -> list[NDArray[np.uint8]]:
        """Its memory, not touched yet."""
        return self._states if self._sum is None else [*self._states, self._sum]

    def states(self, layout: Layout) -> list[NDArray[np.float32]]:
        """The two states, for a layout no larger than the one allocated for."""
        return [_as_rows(buffer, layout, layout.state_dtype) for buffer in self._states]

    def sum(self, layout: Layout) -> NDArray[np.float32] | None:
        """The running sum; ``None`` where the weighting needs none."""
        return None if self._sum is None else _as_rows(self._sum, layout, "float32")


@dataclass(frozen=True)
class Whole:
    """The facts about the whole matrix that a panel of columns needs."""

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
        Set if the features are a panel of columns of a wider matrix. Distances then take two passes: the
        first one measures each panel's parts, the second one is given their sums over all panels.
    measure : bool
        This is the first pass: distances are measured, nothing is weighted or summed up.
    order : Order, optional
        Hops run over the renumbered graph. Features and embeddings stay in the order of ``graph``; ``parts``,
        ``sums`` and ``distances`` are in that of the renumbered one.
    arranged : Features, optional
        A copy of the features in the order of the renumbered graph, which hops read faster: of all nodes or,
        if the features are dense, of the first ones.
    allocate : callable
        Allocates the arrays that have one entry per node; states always come from ``numpy.empty``.
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
        order: Order | None = None,
        arranged: Features | None = None,
        allocate: Allocate = np.empty,
    ) -> None:
        n, f = features.shape
        groups = len(r)
        whole = whole or Whole(features.largest)
        norms = features.norms if whole.norms is None else whole.norms
        if order is not None:
            norms = np.take(norms, order.nodes, out=allocate((n,), np.float32))
        self.layout = Layout(n, f, groups, state_dtype)
        self.graph, self.features, self.method = graph, features, method
        self.hop = -1
        rows = graph if order is None else order.graph
        self.blocks = _row_blocks(rows, self.layout.width)
        distance = distance_named(method.distance) if keep_distances or method.uses_distance else None
        weighting = weighting_named("last" if measure else method.weighting)

        # The state holds values up to 2: float16 cannot overflow, nor can the sums of float32.
        unit = unit_of(whole.largest)
        scale, unscale, inverse_degree = _scales(rows, r, unit, allocate)

        self._centres = centre_norms = component = None
        if distance is not None and distance.stationary:
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
            if order is not None:
                component = np.take(component, order.nodes, out=allocate((n,), np.int32))

        workspace = workspace or Workspace(self.layout, method)
        self._state, self._next = workspace.states(self.layout)
        running = workspace.sum(self.layout) if weighting.keeps_sum else None
        total = peak = None
        if weighting.keeps_sum:
            total = allocate((n, groups), np.float32)
            total[:] = 0
            if weighting.uses_distance and distance is not None and not distance.bounded:
                peak = allocate((n, groups), np.float32)
        self._can_postpone = state_dtype == "float32" and not keep_distances
        self._can_postpone &= weighting.keeps_sum or measure
        self._owed: dict[str, Any] | None = None
        # Hop 0 is the features themselves, which the hop that weighs it reads anyway.
        centred = distance is not None and distance.centred
        self._can_open_later = self._can_postpone and weighting.keeps_sum and not features.is_sparse
        self._can_open_later &= not centred
        self._unopened = False
        self.distances = np.empty((n, groups), np.float32) if keep_distances else None
        self._bound: dict[str, Any] = {
            "indptr": rows.indptr,
            "indices": rows.indices,
            "weights": rows.weights,
            "inverse_degree": inverse_degree,
            "features": f,
            "groups": groups,
            "node": None if order is None else order.nodes,
            "scale": scale,
            "unscale": unscale,
            "centres": self._centres,
            "centre_norms": centre_norms,
            "component": component,
            "centred": centred,
            **_feature_arrays(features, arranged),
            "x_norms": norms,
            "sum": running,
            "total": total,
            "peak": peak,
            "distances": self.distances,
            "distance": _kernel.Distance.none if distance is None else distance.code,
            "weighting": weighting.code,
            "floor": 0.0 if distance is None else distance.floor,
            "stream": 2 * self._state.nbytes > _STREAM_BYTES,
            "threads": n_threads,
        }
        self._kernel = _kernel.HopKernel(**self._bound)

    def advance(
        self,
        *,
        keep_state: bool = True,
        postpone: bool = False,
        parts: NDArray[np.float64] | None = None,
        sums: NDArray[np.float64] | None = None,
        tick: Callable[[int], None] | None = None,
    ) -> None:
        """Compute the next hop, the first one being hop 0.

        Parameters
        ----------
        postpone : bool
            The embedding at this hop is not needed. Its distances and its share of the sum may then be left
            to the next hop, which reads the features and the sum once for both: ``parts`` are filled, and
            ``sums`` read, by the next hop. Those of hop 0 may be left to the first hop that is not postponed.
            The bits are the same.
        keep_state : bool
            ``False`` for the last hop, whose state is not needed, saves writing it.
        parts, sums : ndarray of shape (n, 2 * len(r)), optional
            The dot products and squares that distances are made of. With ``parts``, those of this panel are
            measured and nothing is weighed. With ``sums``, which are the parts of all panels added up, the
            hop is weighed by them.
        tick : callable, optional
            Called after each block of rows with the number of rows done.
        """
        state = self._state if self.hop >= 0 else None
        following = self._next if keep_state else None
        owed, self._owed = self._owed, None
        call: dict[str, Any] = {"parts": parts, "sums": sums, **(owed or {})}
        if self.hop < 0:
            postpone = postpone and self._can_open_later and parts is None and sums is None
            self._unopened = postpone
        else:
            postpone = postpone and self._can_postpone and owed is None
        opening = self._unopened and not postpone
        if opening:
            self._unopened = False
        if postpone:
            call = {}
            if self.hop >= 0:
                self._owed = {"parts_before": parts, "sums_before": sums}
        for begin, end in self.blocks:
            self._kernel.run(
                begin,
                end,
                state=state,
                following=following,
                owing=owed is not None,
                opening=opening,
                postpone=postpone,
                **call,
            )
            if tick is not None:
                tick(end - begin)
        if keep_state:
            self._state, self._next = self._next, self._state
        self.hop += 1

    def weigh(self, sums: NDArray[np.float64]) -> None:
        """Add the latest hops, whose parts were measured, to the sum.

        Parameters
        ----------
        sums : ndarray of shape (1, n, 2 * len(r)) or (2, n, 2 * len(r))
            For the latest hop, or for the latest two, of which the first one was postponed: their parts,
            added up over all panels.
        """
        for begin, end in self.blocks:
            self._kernel.run(
                begin,
                end,
                state=self._next if self.hop else None,
                following=self._state,
                owing=len(sums) == 2,
                sums=sums[-1],
                sums_before=sums[0] if len(sums) == 2 else None,
                computed=True,
            )

    @property
    def state(self) -> NDArray[np.float32]:
        """Z of the latest hop, divided by :func:`unit_of` the largest feature; the next hop overwrites it."""
        return self._state

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
        assert self._owed is None, "the sum lacks the hop before"
        assert not self._unopened, "the sum lacks hop 0"
        ensemble, f = ensemble_named(self.method.ensemble), self.layout.n_features
        apart = ensemble.side_by_side
        target = out[:, first_r * f : (first_r + self.layout.n_groups) * f] if apart else out
        for begin, end in self.blocks:
            self._kernel.write(
                begin,
                end,
                state=self._state,
                out=target,
                ensemble=ensemble.code,
                apart=apart,
                fresh=first_r == 0,
                factor=ensemble.factor(len(self.method.r)),
                fallback=float(self.hop + 1),
            )


def _feature_arrays(features: Features, arranged: Features | None) -> dict[str, Any]:
    """The features as the kernel takes them: as they are, copied, or copied in part."""
    if arranged is None:
        return features.arrays("x")
    if arranged.shape[0] == features.shape[0]:
        return {**arranged.arrays("x"), "arranged": True}
    return {**features.arrays("x"), **arranged.arrays("x_copy")}


def _scales(
    graph: Adjacency, r: tuple[float, ...], unit: float, allocate: Allocate
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """d̃^r times the unit, its inverse, and 1/d̃."""
    n, powers = graph.n_nodes, np.asarray(r)[None, :]
    scale = allocate((n, len(r)), np.float32)
    unscale = allocate((n, len(r)), np.float32)
    inverse_degree = allocate((n,), np.float32)
    for begin in range(0, n, _ROWS):
        end = min(n, begin + _ROWS)
        degrees = graph.degrees_of(begin, end)
        inverse_degree[begin:end] = 1.0 / degrees
        scales = degrees[:, None] ** powers * unit
        if scales.max() > np.finfo(np.float32).max:
            raise InputError(
                f"weights that add up to {degrees.max():.3g} at a node and features up to {unit:.3g} are "
                "together too large for float32; rescale one of them"
            )
        scale[begin:end] = scales
        unscale[begin:end] = 1.0 / scales
    return scale, unscale, inverse_degree


def unit_of(largest: float) -> float:
    """The power of two that brings features to at most 1."""
    if not largest <= LARGEST:
        raise InputError(f"features reach {largest:.3g}; values must be finite and at most {LARGEST:.0e}")
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
