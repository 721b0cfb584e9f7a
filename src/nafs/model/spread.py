"""How a change spreads: the differences of states, hop by hop.

Let Z be the states before a change and Z' those after it, with A' the new adjacency. The difference
ΔZ = Z' - Z of a node follows from the differences of its neighbours at the previous hop and, if its edges
changed, from old states:

    d̃'_i ΔZ_i⁽ᵏ⁾ = Σ_j Ã'_ij ΔZ_j⁽ᵏ⁻¹⁾ + Σ_j (A' - A)_ij Z_j⁽ᵏ⁻¹⁾ + (d̃_i - d̃'_i) Z_i⁽ᵏ⁾

Differences shrink with every hop, as each is averaged with neighbours that did not change. Those that would
not show in the embedding are dropped: neither by their values, nor because they turn the state and so shift
the weights of the hops (``Kept.effect``). The amount dropped at a node and hop is summed over all updates,
and that sum is bounded. A row of Z averages its neighbours, so bounds do not grow along the hops. At the last
hop, a node may also drop part of what its neighbours left of their bounds so far, one hop before; that part
is used up, or they would drop it once more in a later update. Single differences of neighbours that are far
smaller than what may be dropped are dropped too, and so is the rounding of small ones, which are read in 16
bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nafs.model import _updates
from nafs.model.cost import Work
from nafs.model.neighbors import LISTED, NeighborLists
from nafs.model.states import Kept, changed_nbytes
from nafs.smoothing.distances import distance_named
from nafs.smoothing.ensembles import ensemble_named
from nafs.smoothing.method import Method
from nafs.smoothing.weightings import weighting_named

_LAST = 0.58  # share of the tolerance that goes to the last hop
_EARLIER = 0.25  # of each hop before, as a share of the hop after it
_SPARE = 0.8  # of the bounds that neighbours left one hop before; they may drop the rest in later updates
PAIR = 32  # bytes of memory for each entry along which differences are pushed
_BUFFER = 1 << 23  # values of differences that are kept from one update to the next


@dataclass(frozen=True, eq=False)
class Change:
    """What differs, besides the lists and features themselves.

    Attributes
    ----------
    nodes : ndarray of int32
        Nodes whose edges or features differ, ascending, without removed ones.
    features : ndarray of shape (len(nodes), f)
        Before the change.
    scale : ndarray of shape (len(nodes), len(r))
        d̃^r before the change; 0 for new nodes.
    rewired : ndarray of int32
        Those whose edges differ, ascending.
    removed, removed_features, removed_scale : ndarray
        Removed nodes, ascending, with their features and d̃^r before the change.
    """

    nodes: NDArray[np.int32]
    features: NDArray[np.float32]
    scale: NDArray[np.float32]
    rewired: NDArray[np.int32]
    removed: NDArray[np.int32]
    removed_features: NDArray[np.float32]
    removed_scale: NDArray[np.float32]

    def z_before(self) -> NDArray[np.float32]:
        """Z⁽⁰⁾ of the nodes before the change."""
        return _z(self.features, self.scale)

    def all_before(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Nodes whose Z⁽⁰⁾ differed before the change, including removed ones, and its old values."""
        nodes = np.concatenate([self.nodes, self.removed])
        return nodes, np.concatenate([self.z_before(), _z(self.removed_features, self.removed_scale)])


def _z(features: NDArray[np.float32], scale: NDArray[np.float32]) -> NDArray[np.float32]:
    """D̃^(-r) X, or 0 for new nodes."""
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    return np.asarray(features[:, None, :] * inverse[:, :, None])


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences of Z at one hop, and the largest absolute value of each node and r.

    ``places`` are the rows of ``nodes`` in ``values``, which may hold other rows too; ``peaks`` are the
    largest values of the nodes. ``halves`` are the values in 16 bits, divided by ``units``, one per row.
    """

    nodes: NDArray[np.int32]
    places: NDArray[np.int32]
    values: NDArray[np.float32]
    sizes: NDArray[np.float32]
    peaks: NDArray[np.float32]
    halves: NDArray[np.uint16] | None = None
    units: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))


@dataclass
class Spread:
    """The state before the last hop: the differences of all earlier hops, hop 0 first.

    ``reached`` are the nodes that the last hop reaches, those with changed edges first, and ``from_edges``
    what changed edges add to these.
    """

    hops: list[Differences]
    reached: _updates.Reached
    from_edges: NDArray[np.float32]


class Spreading:
    """Follows changes through the hops of one model; its arrays are reused by all updates."""

    def __init__(self, kept: Kept, method: Method, n_threads: int = 1) -> None:
        self.method, self.n_threads = method, n_threads
        self._position = np.full(kept.capacity, -1, np.int32)
        self._forced = np.zeros(kept.capacity, np.uint8)
        self._buffers: dict[int, tuple[NDArray[np.float32], NDArray[np.uint16]]] = {}

    def follow(
        self,
        change: Change,
        kept: Kept,
        lists: NeighborLists,
        readers: NeighborLists,
        *,
        tolerance: float,
        work: Work,
    ) -> Spread:
        """Follow a change through all hops but the last.

        Parameters
        ----------
        change : Change
        kept : Kept
            Features and degrees are the new ones, states those before the change.
        lists, readers : NeighborLists
            The new edges: the nodes that a node reads, and those that read it; the same object if undirected.
        tolerance : float
            Share of the largest value of a node's embedding that may be dropped.
        work : Work
            Sums up the time of the update, and stops it if a full run would take less.

        Raises
        ------
        TooMuchError
        """
        hops, groups, f = kept.states.shape[1:]
        limits = self._limits(kept)
        own_lists = lists.for_kernel()
        who_reads = own_lists if readers is lists else readers.for_kernel()
        rewired = change.rewired
        row = 4 * groups * f  # bytes
        entries = int(lists.counts[rewired].sum()) + len(rewired)
        around = LISTED * entries + row * (2 * min(entries, kept.capacity) + 3 * len(rewired))
        work.hold(len(change.nodes) * row, for_now=3 * len(change.nodes) * row)
        latest = _first(change, kept)
        result = Spread([latest], _updates.Reached(), np.zeros((0, groups * f), np.float32))
        self._forced[rewired] = 1
        try:
            bounds, later = tolerances(self.method, tolerance), _later(self.method)
            for k, bound in enumerate(bounds):
                last = k == hops - 1
                ratio = later[k - 1] / later[k] if last and k else 0.0
                pushed = int(readers.counts[latest.nodes].sum()) + len(latest.nodes)
                work.push(pushed)
                work.hold(0, for_now=PAIR * pushed)
                reach = _updates.reach(
                    who_reads,
                    own_lists,
                    latest.nodes,
                    latest.sizes,
                    kept.inverse_degree,
                    rewired,
                    self._forced,
                    limits,
                    k,
                    bound,
                    _SPARE * ratio * bounds[k - 1],
                    max(0.0, ratio - 1),
                    self.n_threads,
                )
                reached = reach.rows
                work.follow(len(reached), hops - k)
                changed = sum(len(hop.nodes) for hop in result.hops) + len(reached)
                held = len(reached) * row * 2  # differences, and again in 16 bits, with some room
                if last:
                    held = changed_nbytes(kept.arrays().values(), changed)
                work.hold(held, for_now=around)
                from_edges = self._from_changed_edges(change, kept, own_lists, k)
                if last:
                    result.reached, result.from_edges = reach, from_edges
                    break
                values, halves = self._buffers_of(k, len(reached), groups * f)
                units = np.empty(len(reached), np.float32)
                sizes = np.empty((len(reached), groups), np.float32)
                peaks = np.empty(len(reached), np.float32)
                followed = np.empty(len(reached), np.uint8)
                _updates.differences(
                    reach,
                    len(rewired),
                    _for_kernel(latest),
                    kept.inverse_degree,
                    from_edges,
                    limits,
                    k,
                    bound,
                    values,
                    halves,
                    units,
                    sizes,
                    peaks,
                    followed,
                    self.n_threads,
                )
                places = np.flatnonzero(followed).astype(np.int32)
                latest = Differences(
                    reached[places], places, values, sizes[places], peaks[places], halves, units
                )
                result.hops.append(latest)
        except BaseException:
            self._position[:] = -1
            raise
        finally:
            self._forced[rewired] = 0
        return result

    def apply(self, result: Spread, change: Change, kept: Kept, *, tolerance: float) -> NDArray[np.int32]:
        """Follow the last hop, and add all differences to states and embedding; returns the changed nodes."""
        method, hops = self.method, kept.states.shape[1]
        chosen = np.zeros(kept.capacity, bool)
        for part in (*(hop.nodes for hop in result.hops), result.reached.rows):
            chosen[part] = True
        rows = np.flatnonzero(chosen).astype(np.int32)
        at = self._position  # of a node in rows
        at[rows] = np.arange(len(rows), dtype=np.int32)
        where = np.full((len(rows), max(0, hops - 1)), -1, np.int32)
        earlier_hops = result.hops[1:]
        for k, hop in enumerate(earlier_hops):
            where[at[hop.nodes], k] = hop.places
        reached = np.full(len(rows), -1, np.int32)
        reached[at[result.reached.rows]] = np.arange(len(result.reached.rows), dtype=np.int32)
        extra, renewed = np.full(len(rows), -1, np.int32), np.zeros(len(rows), np.uint8)
        if hops:
            extra[at[change.rewired]] = np.arange(len(change.rewired), dtype=np.int32)
        renewed[at[change.nodes]] = 1
        at[rows] = -1
        touched = np.empty(len(rows), np.uint8)
        latest = result.hops[-1]
        _updates.apply(
            rows,
            where,
            [hop.values for hop in earlier_hops],
            result.reached,
            _for_kernel(latest),
            kept.inverse_degree,
            reached,
            extra,
            result.from_edges,
            self._limits(kept),
            tolerances(method, tolerance)[-1] if hops else 0.0,
            renewed,
            kept.features,
            kept.scale,
            weighting_named(method.weighting).code,
            distance_named(method.distance).floor,
            method.ensemble == "max",
            kept.states,
            kept.weights,
            kept.embedding,
            kept.largest,
            kept.effect,
            touched,
            self.n_threads,
        )
        return rows[touched > 0]

    def _buffers_of(
        self, hop: int, n_rows: int, n_columns: int
    ) -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
        """Arrays for the differences of a hop; reused memory is faster than new memory."""
        shape, size = (n_rows, n_columns), n_rows * n_columns
        if size > _BUFFER:
            return np.empty(shape, np.float32), np.empty(shape, np.uint16)
        if hop not in self._buffers:
            self._buffers[hop] = np.empty(_BUFFER, np.float32), np.empty(_BUFFER, np.uint16)
        values, halves = self._buffers[hop]
        return values[:size].reshape(shape), halves[:size].reshape(shape)

    def _from_changed_edges(
        self, change: Change, kept: Kept, lists: _updates.Lists, k: int
    ) -> NDArray[np.float32]:
        """What changed edges add to the differences at hop k + 1, for nodes that have some."""
        groups, f = kept.states.shape[2:]
        out = np.empty((len(change.rewired), groups * f), np.float32)
        before = np.zeros((0, groups * f), np.float32)
        nodes = change.nodes[:0]
        if k == 0:  # features and degrees are the new ones already
            nodes, values = change.all_before()
            before = np.ascontiguousarray(values.reshape(len(nodes), groups * f))
            self._position[nodes] = np.arange(len(nodes), dtype=np.int32)
        _updates.rewired(
            lists,
            change.rewired,
            k,
            kept.states,
            kept.features,
            kept.scale,
            kept.inverse_degree,
            self._position,
            before,
            out,
            self.n_threads,
        )
        self._position[nodes] = -1
        return out

    def _limits(self, kept: Kept) -> _updates.Limits:
        average = ensemble_named(self.method.ensemble).averages
        return _updates.Limits(kept.effect, kept.largest, kept.dropped, average)


def _for_kernel(latest: Differences) -> _updates.Latest:
    return _updates.Latest(latest.places, latest.values, latest.peaks, latest.halves, latest.units)


def _first(change: Change, kept: Kept) -> Differences:
    """The differences at hop 0."""
    groups, f = kept.states.shape[2:]
    count = len(change.nodes)
    values = kept.z(change.nodes, 0) - change.z_before()
    sizes = np.abs(values).max(axis=2, initial=0)
    places = np.arange(count, dtype=np.int32)
    flat = np.ascontiguousarray(values.reshape(count, groups * f))
    return Differences(change.nodes, places, flat, sizes, sizes.max(axis=1, initial=0))


def tolerances(method: Method, total: float) -> NDArray[np.float64]:
    """What may be dropped at each hop 1..K, so that at most ``total`` shows in the embedding.

    A difference at hop k shows with the weights of the hops from k on, which are similar for most nodes. Most
    of the total goes to the last hop, which reaches most nodes.
    """
    hops = method.n_hops
    if not hops:
        return np.zeros(0)
    # Few nodes are reached by the first hops, so little is gained by dropping there.
    shares = np.append((1 - _LAST) * _EARLIER ** np.arange(hops - 2, -1, -1), _LAST)
    return np.asarray(total * shares / shares.sum() / _later(method))


def _later(method: Method) -> NDArray[np.float64]:
    """How much of a difference at each hop 1..K shows: the weights of this and all later hops."""
    hops = method.n_hops
    return np.ones(hops) if method.weighting == "last" else np.arange(hops, 0, -1) / (hops + 1)
