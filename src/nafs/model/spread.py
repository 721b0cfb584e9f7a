"""How a change spreads: hop by hop, the differences of states to what they were.

Let C be the nodes whose edges changed. Their rows are computed anew from all their neighbours. For any other
node i the neighbours are the same, so the difference at hop k is a sum over changed neighbours j alone:

    ΔX_i⁽ᵏ⁾ = d̃_i^(r-1) Σ_j Ã_ij Δ(d̃_j^(-r) X_j⁽ᵏ⁻¹⁾)

Differences shrink with every hop, as each is averaged with neighbours that did not change. One below the
tolerance is dropped. A row averages its neighbours, so dropped differences do not add up along the hops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.model.neighbors import NeighborLists
from nafs.smoothing.method import Method


class TooManyError(Exception):
    """So much changes that a full run is cheaper."""


@dataclass(frozen=True, eq=False)
class Change:
    """A graph before and after.

    ``X`` are the features after; ``changed`` are the nodes whose edges or features differ (new ones among
    them), with their features ``before``; ``rewired`` are those of them whose edges differ.
    """

    before: NeighborLists
    after: NeighborLists
    X: NDArray[np.float32]
    rewired: NDArray[np.int64]
    changed: NDArray[np.int64]
    X_before: NDArray[np.float32]


@dataclass
class Spread:
    """Differences of the states at each hop: ``rows[k]`` and ``differences[k]`` for hop k + 1."""

    rows: list[NDArray[np.int64]] = field(default_factory=list)
    differences: list[NDArray[np.float32]] = field(default_factory=list)
    touched: int = 0  # entries of neighbour lists that were read


def spread(
    change: Change,
    states: NDArray[Any],
    method: Method,
    floors: NDArray[np.float64],
    most: float = np.inf,
) -> Spread:
    """Follow a change through all hops.

    Parameters
    ----------
    change : Change
    states : ndarray of shape (n, len(r), K, f)
        Before the change; rows of new nodes hold zeros.
    method : Method
    floors : ndarray of shape (len(r),)
        Lengths of differences that may be dropped.
    most : float
        Entries of neighbour lists that may be read.

    Raises
    ------
    TooManyError
        When more would have to be read.
    """
    n, groups, hops, _ = states.shape
    r = np.asarray(method.r)[None, :]
    after, rewired = change.after, change.rewired
    d_before = np.concatenate([change.before.degrees, np.ones(n - change.before.n_nodes)])
    d_after = after.degrees
    is_rewired = np.zeros(n, bool)
    is_rewired[rewired] = True
    position = np.full(n, -1, np.int64)

    rows = change.changed
    own = change.X[rows, None, :]
    sources = own * _power(d_after[rows], -r) - change.X_before[:, None, :] * _power(d_before[rows], -r)
    differences = np.zeros(
        (0, groups, states.shape[3]), np.float32
    )  # at hop 0 the features themselves are new
    result = Spread()
    for k in range(hops):
        result.touched += int(after.counts[rewired].sum() + after.counts[rows].sum())
        if result.touched > most:
            raise TooManyError
        position[rows[: len(differences)]] = np.arange(len(differences))
        fresh = _averages(change, states, k, position, differences, r) * _power(d_after[rewired], r - 1)
        position[rows] = -1
        # The last hop reaches nobody else, and counts in the embedding as one among all hops.
        floor = floors if k < hops - 1 or method.weighting == "last" else floors * (hops + 1)
        others, theirs = _differences(after, rows, sources, is_rewired, floor, r)
        old = states[rewired, :, k].astype(np.float32)
        rows = np.concatenate([rewired, others])
        differences = np.concatenate([fresh - old, theirs])
        sources = differences * _power(d_after[rows], -r)
        # Of a rewired node, the degree that its row is divided by differs too.
        sources[: len(rewired)] += old * (_power(d_after[rewired], -r) - _power(d_before[rewired], -r))
        result.rows.append(rows)
        result.differences.append(differences)
    return result


def _power(degrees: NDArray[np.float64], exponents: NDArray[np.float64]) -> NDArray[np.float32]:
    """d̃^e for each node and r, to be multiplied with rows of all r's."""
    return np.asarray(degrees[:, None] ** exponents, np.float32)[:, :, None]


def _averages(
    change: Change,
    states: NDArray[Any],
    k: int,
    position: NDArray[np.int64],
    differences: NDArray[np.float32],
    r: NDArray[np.float64],
) -> NDArray[np.float32]:
    """Σ_j Ã_ij d̃_j^(-r) X_j⁽ᵏ⁾ of rewired nodes i, from the rows of their neighbours after the change.

    ``position`` tells where the difference of a node at hop k is, -1 where there is none.
    """
    rewired, after = change.rewired, change.after
    owners, neighbors, weights = after.entries(rewired)
    owners = np.concatenate([owners, np.arange(len(rewired))])
    unique, places = np.unique(np.concatenate([neighbors, rewired]), return_inverse=True)
    data = np.ones(len(owners), np.float32)
    if weights is not None:
        data[: len(weights)] = weights
    groups, f = states.shape[1], states.shape[3]
    if k == 0:
        values = np.repeat(change.X[unique, None, :], groups, axis=1)
    else:
        values = states[unique, :, k - 1].astype(np.float32)
        known = position[unique]
        values[known >= 0] += differences[known[known >= 0]]
    values *= _power(after.degrees[unique], -r)
    matrix = sp.csr_array((data, (owners, places)), (len(rewired), len(unique)))
    return np.asarray(matrix @ values.reshape(len(unique), groups * f)).reshape(len(rewired), groups, f)


def _differences(
    after: NeighborLists,
    rows: NDArray[np.int64],
    sources: NDArray[np.float32],
    is_rewired: NDArray[np.bool_],
    floors: NDArray[np.float64],
    r: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Nodes whose edges are the same but whose neighbours differ, and their differences."""
    owners, targets, weights = after.entries(rows)
    n, (count, groups, f) = len(is_rewired), sources.shape
    offsets = np.concatenate([[0], np.cumsum(after.counts[rows])])
    data = np.ones(len(targets), np.float32) if weights is None else weights
    outgoing = sp.csr_array((data, targets, offsets), (count, n))
    # Lengths bound what a sum can be: most nodes are dropped before any row is added.
    lengths = np.sqrt(np.einsum("igf,igf->ig", sources, sources))
    bounds = outgoing.T @ lengths
    bounds[rows] += lengths  # a node is in its own neighbourhood
    reached = np.flatnonzero((bounds > 0).any(axis=1))
    reached = reached[~is_rewired[reached]]
    scale = after.degrees[reached][:, None] ** (r - 1)
    matter = np.asarray((bounds[reached] * scale > floors).any(axis=1))
    nodes, scale = reached[matter], scale[matter].astype(np.float32)
    rank = np.full(n, -1, np.int64)
    rank[nodes] = np.arange(len(nodes))
    kept = np.flatnonzero(rank[targets] >= 0)
    own = np.flatnonzero(rank[rows] >= 0)
    entries = np.concatenate([rank[targets[kept]], rank[rows[own]]]), np.concatenate([owners[kept], own])
    values = np.concatenate([data[kept], np.ones(len(own), np.float32)])
    matrix = sp.csr_array((values, entries), (len(nodes), count))
    differences = np.asarray(matrix @ sources.reshape(count, groups * f)).reshape(len(nodes), groups, f)
    differences *= scale[:, :, None]
    large = (np.sqrt(np.einsum("igf,igf->ig", differences, differences)) > floors).any(axis=1)
    return nodes[large], differences[large]
