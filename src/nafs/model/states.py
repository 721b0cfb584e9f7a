"""What a model keeps for each node, and the full run that computes it.

``states[i, k - 1, g]`` is row i of Z⁽ᵏ⁾ = Pᵏ D̃^(-r) X for the g-th r and hop k = 1..K. States are
float32: 16 bits are too coarse for updates that equal a full run to 1e-5, even with a factor for each row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from mmap import PAGESIZE
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.scratch import Allocate
from nafs.graph import Adjacency, Features, read_features
from nafs.model import _updates
from nafs.smoothing import _kernel
from nafs.smoothing.distances import distance_named
from nafs.smoothing.ensembles import ensemble_named
from nafs.smoothing.hops import Hops, Layout, Workspace, unit_of
from nafs.smoothing.method import Method
from nafs.smoothing.weightings import weighting_named

Tick = Callable[[int], None]
_VALUES = 1 << 22  # handled in one go
_MOST = 1e30  # effect of a difference where there is no state yet


def with_spare(n_nodes: int) -> int:
    """Rows to allocate for this many nodes, with room for new ones."""
    return n_nodes + max(64, n_nodes // 20)


def kept_columns(n_columns: int, method: Method) -> int:
    """Columns of the stored embedding: one block per r if the ensemble is their maximum."""
    ensemble = ensemble_named(method.ensemble)
    return n_columns * (1 if ensemble.averages else len(method.r))


def kept_nbytes(n_nodes: int, n_columns: int, method: Method) -> int:
    """Bytes that a model keeps besides the graph, with room for new nodes.

    Examples
    --------
    >>> from nafs.model.states import kept_nbytes
    >>> from nafs.smoothing import Method
    >>> kept_nbytes(169_343, 64, Method(3, (0.0, 0.5)))
    380513400
    """
    shapes = Kept.shapes(with_spare(n_nodes), n_columns, method).values()
    return sum(math.prod(shape) * dtype.itemsize for shape, dtype in shapes)


@dataclass(eq=False)
class Kept:
    """Arrays with a row for each node, and spare rows for new ones.

    Attributes
    ----------
    features : ndarray of float32, shape (n, f)
        As they go into smoothing.
    states : ndarray of float32, shape (n, K, len(r), f)
    weights : ndarray of float32, shape (n, K + 1, len(r))
        Weights of the hops before normalisation; empty if they do not depend on the node.
    embedding : ndarray of float32
        Combined over the r's; side by side if the ensemble is their maximum.
    largest : ndarray of float32, shape (n,)
        Largest absolute value of each node's embedding.
    dropped : ndarray of float32, shape (n, K)
        The differences that updates dropped at each node and hop since the last full run, in units of the
        embedding.
    effect : ndarray of float32, shape (n, K, len(r))
        How much a difference of a state at a hop may show in the embedding: by its values, and because it
        changes the weights of the hops. Differences that are smaller than the tolerance are dropped.
    scale : ndarray of float32, shape (n, len(r))
        d̃^r.
    degrees, inverse_degree : ndarray of shape (n,)
        d̃ and 1 / d̃.
    """

    features: NDArray[np.float32]
    states: NDArray[np.float32]
    weights: NDArray[np.float32]
    embedding: NDArray[np.float32]
    largest: NDArray[np.float32]
    dropped: NDArray[np.float32]
    effect: NDArray[np.float32]
    scale: NDArray[np.float32]
    degrees: NDArray[np.float64]
    inverse_degree: NDArray[np.float32]

    @classmethod
    def empty(cls, capacity: int, n_columns: int, method: Method, allocate: Allocate = np.zeros) -> Kept:
        """Arrays without any node, from ``allocate``, which fills them with zeros."""
        shapes = cls.shapes(capacity, n_columns, method)
        kept = cls(**{name: allocate(shape, dtype) for name, (shape, dtype) in shapes.items()})
        kept.clear_spare(0)
        return kept

    def clear_spare(self, n_nodes: int) -> None:
        """Set rows without a node to those of a node without edges."""
        for array in (self.effect, self.scale, self.degrees, self.inverse_degree):
            array[n_nodes:] = 1

    @classmethod
    def shapes(
        cls, capacity: int, n_columns: int, method: Method
    ) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and type of each array."""
        hops = 0 if method.needs_stationary_state else method.n_hops
        groups = len(method.r)
        single, double = np.dtype(np.float32), np.dtype(np.float64)
        return {
            "features": ((capacity, n_columns), single),
            "states": ((capacity, hops, groups, n_columns), single),
            "weights": ((capacity, hops + 1 if method.uses_distance else 0, groups), single),
            "embedding": ((capacity, kept_columns(n_columns, method)), single),
            "largest": ((capacity,), single),
            "dropped": ((capacity, hops), single),
            "effect": ((capacity, hops, groups), single),
            "scale": ((capacity, groups), single),
            "degrees": ((capacity,), double),
            "inverse_degree": ((capacity,), single),
        }

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of the arrays."""
        return tuple(entry.name for entry in fields(cls))

    @property
    def capacity(self) -> int:
        """Number of rows, including spare ones."""
        return len(self.largest)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def grown(self, capacity: int, method: Method, allocate: Allocate) -> Kept:
        """A copy with more rows."""
        larger = Kept.empty(capacity, self.features.shape[1], method, allocate)
        for name, array in larger.arrays().items():
            for top, bottom in blocks(self.capacity, array[:1].size):
                array[top:bottom] = getattr(self, name)[top:bottom]
        return larger

    def set_degrees(self, rows: Any, degrees: NDArray[np.float64], method: Method) -> None:
        """Compute what depends on the degrees of some nodes."""
        self.degrees[rows] = degrees
        self.inverse_degree[rows] = 1.0 / degrees
        self.scale[rows] = degrees[:, None] ** np.asarray(method.r)

    def z(self, nodes: NDArray[Any], hop: int) -> NDArray[np.float32]:
        """Z⁽ᵏ⁾ of some nodes, of shape (len(nodes), len(r), f)."""
        if hop == 0:
            return np.asarray(self.features[nodes][:, None, :] / self.scale[nodes][:, :, None])
        return np.asarray(self.states[nodes, hop - 1])

    def pack(self, hops: Hops, hop: int, first: int, n_threads: int) -> None:
        """Store the state of the latest hop of a full run for some r's, the one at ``first`` and on."""
        method = hops.method
        weighting, distance = weighting_named(method.weighting), distance_named(method.distance)
        for top, bottom in hops.blocks:
            _updates.pack(
                hops.state,
                hops.distances,
                top,
                bottom,
                hops.layout.n_groups,
                unit_of(hops.features.largest),
                hop,
                first,
                weighting.code,
                distance.floor,
                self.states,
                self.weights,
                self.effect,
                n_threads,
            )

    def measure(self, n_nodes: int, method: Method) -> None:
        """Find the largest value of each embedding, and the effects from the norms that :meth:`pack` left."""
        softmax = weighting_named(method.weighting).code == _kernel.Weighting.softmax
        for top, bottom in blocks(n_nodes, self.embedding.shape[1]):
            rows = slice(top, bottom)
            self.largest[rows] = np.abs(combined(self.embedding[rows], method)).max(axis=1, initial=0)
            self.effect[rows] = self.scale[rows, None] + self._effect_of_weights(rows, softmax=softmax)

    def _effect_of_weights(self, rows: slice, *, softmax: bool) -> Any:
        """How much the embedding changes with the direction of a state, as that changes weights.

        The gradient of the cosine with respect to z is at most sin / |z|.
        """
        if not self.weights.size:
            return 0.0
        weights = self.weights[rows]
        of_hops = weights[:, 1:]
        cosine = np.log(of_hops) if softmax else of_hops
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (of_hops if softmax else 1.0) / weights.mean(axis=1, keepdims=True)
            sine = np.sqrt(np.maximum(0, 1 - cosine * cosine))
            effect = slope * sine * self.largest[rows, None, None] / self.effect[rows]
        return np.nan_to_num(np.minimum(effect, _MOST), nan=_MOST)


def combined(embedding: NDArray[np.float32], method: Method) -> NDArray[np.float32]:
    """The embedding for users, from what is kept."""
    if method.ensemble != "max":
        return embedding
    return np.asarray(embedding.reshape(len(embedding), len(method.r), -1).max(axis=1))


def blocks(n_rows: int, n_columns: int) -> list[tuple[int, int]]:
    """Blocks of rows that hold a bounded number of values."""
    step = max(1, _VALUES // max(1, n_columns))
    return [(top, min(n_rows, top + step)) for top in range(0, n_rows, step)]


def run_nbytes(n_nodes: int, n_columns: int, method: Method, groups: int) -> int:
    """Bytes that a full run needs besides what is kept, with this many r's at a time."""
    block = min(_VALUES, n_nodes * kept_columns(n_columns, method))
    return Layout(n_nodes, n_columns, groups).nbytes(method) + 8 * block + 8 * n_nodes * len(method.r)


def changed_nbytes(arrays: Iterable[NDArray[Any]], n_rows: int) -> int:
    """Bytes of memory that changing some rows takes where the arrays are mapped from files: whole pages."""
    sizes = [(array.nbytes, array.nbytes // max(1, len(array))) for array in arrays]
    return sum(min(nbytes, n_rows * (row + 2 * PAGESIZE)) for nbytes, row in sizes)


def run_in_full(
    kept: Kept,
    graph: Adjacency,
    method: Method,
    *,
    n_threads: int = 1,
    limit: int | None = None,
    tick: Tick | None = None,
) -> None:
    """Embed a graph with the stored features, and store the states of all hops."""
    n, f = graph.n_nodes, kept.features.shape[1]
    features = read_features(kept.features[:n]) if n else Features(kept.features[:0])
    group = group_size(n, f, method, limit)
    workspace = Workspace(Layout(n, f, group), method)
    out = kept.embedding[:n]
    whole = replace(method, ensemble="concat") if method.ensemble == "max" else method
    keeps_states = kept.states.shape[1] == method.n_hops
    keep_distances = keeps_states and method.uses_distance
    try:
        for first in range(0, len(method.r), group):
            r = method.r[first : first + group]
            hops = Hops(
                graph,
                features,
                whole,
                r,
                n_threads=n_threads,
                workspace=workspace,
                keep_distances=keep_distances,
            )
            for k in range(method.n_hops + 1):
                hops.advance(postpone=k < method.n_hops, tick=tick)
                if keeps_states:
                    kept.pack(hops, k, first, n_threads)
            hops.write(out, first)
    finally:
        _kernel.release_threads()
    kept.set_degrees(slice(0, n), graph.degrees, method)
    kept.dropped[:n] = 0
    kept.measure(n, method)


def group_size(n_nodes: int, n_columns: int, method: Method, limit: int | None) -> int:
    """How many r's fit side by side into a limit; at least one."""
    for group in range(len(method.r), 1, -1):
        if limit is None or run_nbytes(n_nodes, n_columns, method, group) <= limit:
            return group
    return 1
