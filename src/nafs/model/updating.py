"""One update: change edges and features, then follow the differences or recompute everything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nafs.model.cost import TooMuchError, Work, full_time
from nafs.model.neighbors import LISTED
from nafs.model.request import Request
from nafs.model.spread import Change, Spread
from nafs.model.states import changed_nbytes
from nafs.model.store import Store
from nafs.model.undo import Undo, uninterrupted
from nafs.smoothing import _kernel

# An update rounds float32 values once per hop, by about 1e-8 of a row's largest value; in the worst case all
# updates of a node move it in the same direction. So the sum stays well below 1e-5.
MOST_ROUNDINGS = 300  # hops of all updates since the last full run


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an update did.

    Attributes
    ----------
    rows : ndarray of places
        Nodes whose embedding was recomputed.
    changed : int
        Old nodes whose edges or features changed.
    full : bool
        Whether everything was computed.
    why : str
        The reason for a full run, or why one is due that the memory limit does not allow.
    """

    rows: NDArray[np.int32]
    changed: int
    full: bool
    why: str


def carry_out(store: Store, request: Request, tolerance: float) -> Outcome:
    """Change the graph and update all states and embeddings.

    After an error or Ctrl-C everything is as before.
    """
    store.grow(len(request.nodes.ids))
    _check_room(store, request)
    undo = Undo()
    try:
        change = _stage(store, request, undo)
        spread, why = _follow(store, change, request, tolerance)
        fresh = None if spread is not None else store.full_run(request.nodes.alive)
    except BaseException:
        undo.take_back()
        raise
    finally:
        _kernel.release_threads()
    with uninterrupted():
        try:
            if spread is None:
                assert fresh is not None
                store.replace(*fresh, request.nodes)
                rows = np.arange(len(store.nodes.ids), dtype=np.int32)
            else:
                rows = _apply(store, spread, change, request, tolerance)
                store.nodes = request.nodes
                store.n_updates += len(rows) > 0
        except BaseException:
            undo.take_back()
            store.recover()
            raise
    changed = len(np.setdiff1d(change.nodes, request.fresh))
    return Outcome(rows, changed, spread is None, why)


def _check_room(store: Store, request: Request) -> None:
    """Raise if changing edges and features alone would take more memory than the limit leaves."""
    kept = store.kept
    rows = np.unique(
        np.concatenate([request.pairs.readers, request.fresh, request.refeatured, request.removed])
    )
    entries = int(store.lists.counts[rows].sum()) + len(request.pairs)
    needed = 2 * LISTED * entries * (1 if store.readers is store.lists else 2)
    arrays = (kept.features, kept.degrees, kept.scale, kept.inverse_degree)
    needed += changed_nbytes(arrays, len(rows)) + 3 * len(rows) * 4 * kept.features.shape[1]
    store.check_room(needed, "these changes need", "raise it, or update in smaller steps")


def _stage(store: Store, request: Request, undo: Undo) -> Change:
    """Write new edges, degrees and features; states and embeddings do not change yet."""
    kept, lists = store.kept, store.lists
    rewritten = lists.rewritten(request.pairs)
    both = [(lists, rewritten)]
    if store.readers is not lists:
        both.append((store.readers, store.readers.rewritten(request.pairs.transposed())))
    for part, rows in both:
        undo.remember(part.starts, rows.rows)
        undo.remember(part.counts, rows.rows)
        part.write(rows)
    rewired = rewritten.rows
    touched = np.unique(np.concatenate([rewired, request.fresh, request.refeatured, request.removed]))
    features, scale = kept.features[touched], kept.scale[touched]
    scale[np.isin(touched, request.fresh)] = 0  # new nodes were not part of the old embedding
    undo.remember(kept.features, touched)
    for array in (kept.degrees, kept.scale, kept.inverse_degree):
        undo.remember(array, rewired)
    kept.features[request.removed] = 0
    kept.features[request.refeatured] = request.rows
    kept.set_degrees(rewired, rewritten.degrees, store.method)
    differs = (kept.features[touched] != features).any(axis=1) | ~(scale > 0).all(axis=1)
    differs |= np.isin(touched, rewired)
    leaves = np.isin(touched, request.leaving)
    differs &= ~leaves
    stays = ~np.isin(rewired, request.leaving)
    return Change(
        touched[differs].astype(np.int32),
        features[differs],
        scale[differs],
        rewired[stays].astype(np.int32),
        touched[leaves].astype(np.int32),
        features[leaves],
        scale[leaves],
    )


def _follow(store: Store, change: Change, request: Request, tolerance: float) -> tuple[Spread | None, str]:
    """The differences that follow from a change, or the reason for a full run.

    Where a full run is due but does not fit within the memory limit, the differences and the reason.
    """
    method, kept, lists = store.method, store.kept, store.lists
    if method.needs_stationary_state:
        return None, f"any change moves the stationary state, which the distance {method.distance!r} uses"
    overdue = ""
    if store.n_updates and store.n_updates * method.n_hops >= MOST_ROUNDINGS:
        overdue = f"rounding adds up, and the last full run was {store.n_updates:,} updates ago"
        if store.full_run_fits(request.nodes.alive):
            return None, overdue
    n_values = kept.states[0, :1].size
    full = full_time(len(store.nodes.ids), lists.n_stored, n_values, method.n_hops)
    room = store.room()
    work = Work(n_values, method.n_hops, full, room=float("inf") if room is None else room)
    try:
        spread = store.spreading.follow(change, kept, lists, store.readers, tolerance=tolerance, work=work)
        return spread, overdue
    except TooMuchError:
        if work.held > work.room:
            return None, "following the changes would take more memory than the limit leaves"
        return None, "it is faster when this much changes"


def _apply(
    store: Store, spread: Spread, change: Change, request: Request, tolerance: float
) -> NDArray[np.int32]:
    """Add the differences to the states and the embedding; returns the nodes that changed."""
    kept = store.kept
    rows = store.spreading.apply(spread, change, kept, tolerance=tolerance)
    for array in (kept.states, kept.weights, kept.embedding, kept.largest, kept.dropped):
        array[request.leaving] = 0
    kept.effect[request.leaving] = 1
    if store.journal is not None:
        store.journal.add(np.concatenate([rows, change.nodes, request.leaving]), request.pairs)
    return rows
