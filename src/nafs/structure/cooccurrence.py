"""How much more often than by chance a random walk visits landmark nodes.

For node i and landmark w, F_iw = ln(1 + vol / d̃_w · mean over k = 1..T of (P^k)_iw), with the random walk
P = D̃⁻¹Ã. These are columns of the matrix that DeepWalk factorises implicitly (Qiu et al., WSDM 2018), with
1 + x in place of max(x, 1). A few hundred columns suffice: landmarks see the whole graph. Each panel of
columns is the smoothing of its landmarks' indicators, so the cost is that of T hops per panel.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.scratch import Allocate
from nafs.graph import Adjacency, read_features
from nafs.smoothing.hops import Hops, Layout, Workspace
from nafs.smoothing.method import Method

LANDMARKS = 512
STEPS = 10  # T
_WALK = Method(STEPS, (0.0,), "mean", "average")
_ROWS = 1 << 14  # transformed in one go


def choose_landmarks(hashes: NDArray[np.uint64], count: int = LANDMARKS) -> NDArray[np.int64]:
    """The nodes with the smallest hashes: independent of the edges, and rarely changed by a new node."""
    first = np.argpartition(hashes, count)[:count] if len(hashes) > count else np.arange(len(hashes))
    return first[np.argsort(hashes[first], kind="stable")]


def cooccurrence_nbytes(n_nodes: int, panel: int) -> int:
    """Bytes of one panel's hops and its result."""
    return Layout(n_nodes, panel, 1).nbytes(_WALK) + 4 * n_nodes * panel


def cooccurrence(
    graph: Adjacency,
    landmarks: NDArray[np.int64],
    *,
    panel: int = 64,
    n_threads: int = 1,
    allocate: Allocate = np.empty,
) -> NDArray[np.float16]:
    """F in float16, of shape (n, landmarks).

    Parameters
    ----------
    graph : Adjacency
        Undirected.
    landmarks : ndarray of int
    panel : int
        Landmarks whose columns are computed together; the bits do not depend on it.
    n_threads : int
    allocate : callable
        Allocates the result, in memory or in a file.
    """
    n, count = graph.n_nodes, len(landmarks)
    table = allocate((n, count), np.float16)
    degrees = graph.degrees
    volume = degrees.sum()
    workspace = Workspace(Layout(n, min(panel, count), 1), _WALK)
    visits = np.empty((n, min(panel, count)), np.float32)
    for start in range(0, count, panel):
        nodes = landmarks[start : start + panel]
        columns = np.arange(len(nodes))
        indicator = sp.csr_array((np.ones(len(nodes), np.float32), (nodes, columns)), (n, len(nodes)))
        hops = Hops(graph, read_features(indicator), _WALK, (0.0,), n_threads=n_threads, workspace=workspace)
        for step in range(STEPS + 1):
            hops.advance(keep_state=step < STEPS, postpone=step < STEPS)
        share = visits[:, : len(nodes)]
        hops.write(share, 0)
        share[nodes, columns] -= np.float32(1 / (STEPS + 1))  # a walk is always at its start at step 0
        factor = ((STEPS + 1) / STEPS * volume / degrees[nodes]).astype(np.float32)
        for top in range(0, n, _ROWS):
            rows = slice(top, top + _ROWS)
            table[rows, start : start + len(nodes)] = np.log1p(np.maximum(share[rows], 0) * factor)
    return table
