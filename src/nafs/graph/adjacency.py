"""A validated adjacency in compressed sparse rows: the one form of a graph that hops run on.

Input is validated once, by these rules, and trusted afterwards:

* stored zeros are not edges; a graph whose stored values are all 1 is unweighted;
* duplicate edges are merged; in a weighted graph their weights are added;
* self-loops are dropped by default (the method adds one of weight 1 to every node);
* a directed graph is made undirected by max(A, Aᵀ), with a warning unless ``directed`` was set.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs.graph.features import LARGEST
from nafs.graph.indices import check_indices, refuse_masked

MAX_NODES = 2**31 - 1
SMALLEST = float(np.finfo(np.float32).tiny)  # of a weight; float32 loses digits below it
_ROWS = 1 << 18  # per block


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Neighbour lists of n nodes: row i holds ``indices[indptr[i]:indptr[i + 1]]``.

    Built by :func:`read_adjacency`; the arrays are not checked again. ``order`` lists the nodes by community
    if that is known, so that it need not be computed again.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None = None
    directed: bool = False
    order: NDArray[np.int32] | None = None

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weights = "unweighted" if self.weights is None else "weighted"
        return f"Adjacency({self.n_nodes} nodes, {self.n_stored} stored edges, {kind}, {weights})"

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def n_stored(self) -> int:
        """Number of stored entries: twice the number of edges of an undirected graph."""
        return int(self.indptr[-1])

    @property
    def nbytes(self) -> int:
        """Size of the neighbour lists in bytes."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.indptr.nbytes + self.indices.nbytes + weights

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """d̃: the sum of each row of A + I."""
        degrees = np.empty(self.n_nodes)
        for begin in range(0, self.n_nodes, _ROWS):
            end = min(self.n_nodes, begin + _ROWS)
            degrees[begin:end] = self.degrees_of(begin, end)
        return degrees

    def degrees_of(self, begin: int, end: int) -> NDArray[np.float64]:
        """d̃ of the nodes ``begin`` to ``end``."""
        offsets = self.indptr[begin : end + 1]
        counts = np.diff(offsets)
        if self.weights is None:
            return 1.0 + counts
        degrees = np.ones(end - begin)
        nonempty = counts > 0  # for an empty row, reduceat would return the next row's weight
        if nonempty.any():
            weights = self.weights[offsets[0] : offsets[-1]]
            degrees[nonempty] += np.add.reduceat(
                weights, offsets[:-1][nonempty] - offsets[0], dtype=np.float64
            )
        return degrees

    def transposed(self) -> Adjacency:
        """The graph with all edges reversed."""
        matrix = sp.csr_array(self.to_scipy().T)
        matrix.sort_indices()
        weights = None if self.weights is None else matrix.data.astype(np.float32)
        indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        return Adjacency(indptr, indices, weights, self.directed)

    @property
    def rows(self) -> NDArray[np.int32]:
        """Row index of every stored entry."""
        return np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.indptr))

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Connected component of each node, numbered from 0."""
        from scipy.sparse.csgraph import connected_components

        if self.directed:
            labels = connected_components(self.to_scipy(), directed=False)[1]
            return np.ascontiguousarray(labels, dtype=np.int32)
        # Every edge is stored in both directions, so strong components are the same, and take no transpose.
        ones = np.broadcast_to(np.float64(1), self.n_stored)
        offsets = (
            self.indptr.astype(np.int32) if self.n_stored < 2**31 else self.indptr
        )  # or indices are copied
        matrix = sp.csr_array((ones, self.indices, offsets), shape=(self.n_nodes,) * 2)
        count, labels = connected_components(matrix, connection="strong")
        firsts = np.full(count, self.n_nodes, np.int32)
        np.minimum.at(firsts, labels, np.arange(self.n_nodes, dtype=np.int32))
        ranks = np.empty(count, np.int32)
        ranks[np.argsort(firsts)] = np.arange(count, dtype=np.int32)
        return np.asarray(ranks[labels])

    def has_edges_of(self, other: Adjacency) -> bool:
        """Whether both have the same edges and weights."""
        pairs = zip(
            (self.indptr, self.indices, self.weights),
            (other.indptr, other.indices, other.weights),
            strict=True,
        )
        return all(np.array_equal(a, b) for a, b in pairs)  # type: ignore[arg-type]

    def to_scipy(self) -> Any:
        """The adjacency A as a SciPy CSR array (without the self-loops that the method adds)."""
        values = np.ones(self.n_stored, np.float32) if self.weights is None else self.weights
        return sp.csr_array((values, self.indices, self.indptr), shape=(self.n_nodes,) * 2)


@dataclass(frozen=True)
class Merging:
    """Counts of the edges that were merged or dropped while reading an adjacency."""

    listed: int
    zeros: int  # entries of weight 0, which are not edges
    repeated: int  # merged with an earlier entry for the same edge
    loops: int  # self-loops that were dropped
    both_ways: int  # listed in both directions and merged into one edge
    edges: int


def read_adjacency(
    adjacency: Any,
    n_nodes: int | None = None,
    *,
    directed: bool | None = None,
    self_loops: bool = False,
) -> Adjacency:
    """Validate a SciPy sparse matrix (or a square NumPy array) and bring it into canonical form.

    Parameters
    ----------
    adjacency : sparse matrix, sparse array or ndarray of shape (n, n)
        Entry (i, j) is the weight of the edge from i to j. Not modified.
    n_nodes : int, optional
        Expected number of nodes, usually the number of feature rows.
    directed : bool, optional
        ``False`` makes the graph undirected by ``max(A, A.T)``; ``None`` does the same and warns if
        that changed anything; ``True`` keeps the direction: a node is smoothed over the nodes that
        it points to.
    self_loops : bool
        Keep stored self-loops, in addition to the one that the method adds to every node.

    Returns
    -------
    Adjacency

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.graph import read_adjacency
    >>> graph = read_adjacency(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> graph.n_nodes, graph.n_stored
    (3, 4)
    >>> graph.degrees
    array([2., 3., 2.])
    """
    if isinstance(adjacency, Adjacency):
        matches_nodes(adjacency.n_nodes, n_nodes)
        if directed is not None and directed != adjacency.directed:
            raise InputError(
                Parameter("directed", directed),
                " requested, but the graph was read with ",
                Parameter("directed", adjacency.directed),
            )
        return adjacency
    return merge_edges(adjacency, n_nodes, directed=directed, self_loops=self_loops)[0]


def merge_edges(
    adjacency: Any,
    n_nodes: int | None = None,
    *,
    directed: bool | None = None,
    self_loops: bool = False,
) -> tuple[Adjacency, Merging]:
    """Like :func:`read_adjacency`, but also counts the edges that were merged or dropped."""
    if not (directed is None or isinstance(directed, bool)):
        raise InputTypeError(Parameter("directed"), f" must be True, False or None; got {directed!r}")
    if not isinstance(self_loops, bool):
        raise InputTypeError(Parameter("self_loops"), f" must be True or False; got {self_loops!r}")
    matrix = _checked(adjacency, n_nodes)
    listed = int(adjacency.nnz) if sp.issparse(adjacency) else int(matrix.nnz)
    nonzero = int(matrix.nnz)
    weighted = bool((matrix.data != 1).any())
    # Booleans count a repeated edge once; sums of weights must not overflow.
    if not weighted:
        matrix = matrix.astype(bool)
    elif matrix.dtype != np.float64 and not (matrix.format == "csr" and matrix.has_canonical_format):
        matrix = matrix.astype(np.float64)
    matrix = _merged(matrix)
    distinct = int(matrix.nnz)
    if not self_loops:
        matrix = _without_self_loops(matrix)
    without_loops = int(matrix.nnz)
    loops = int(np.count_nonzero(matrix.diagonal())) if self_loops else 0
    if not directed:
        matrix = _undirected(matrix, weighted, warn=directed is None)
    weights = None
    if weighted:
        weights = np.ascontiguousarray(matrix.data, dtype=np.float32)
    edges = without_loops if directed else (int(matrix.nnz) + loops) // 2
    merging = Merging(
        listed, listed - nonzero, nonzero - distinct, distinct - without_loops, without_loops - edges, edges
    )
    adjacency = Adjacency(
        indptr=np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        indices=np.ascontiguousarray(matrix.indices, dtype=np.int32),
        weights=weights,
        directed=bool(directed),
    )
    return adjacency, merging


def reading_nbytes(adjacency: Any) -> int:
    """Peak memory of :func:`read_adjacency` in bytes, result included; measured and rounded up."""
    if isinstance(adjacency, Adjacency) or not sp.issparse(adjacency):
        return 0
    canonical = adjacency.format == "csr" and adjacency.has_canonical_format
    weighted = adjacency.dtype != bool and bool((adjacency.data != 1).any())
    each = (50 if canonical else 76) if weighted else 40
    return int(each * adjacency.nnz + 32 * adjacency.shape[0])


def matches_nodes(n_nodes: int, expected: int | None) -> None:
    """Raise if the number of nodes differs from the number of feature rows."""
    if expected is not None and n_nodes != expected:
        raise InputError(
            f"adjacency has {n_nodes} nodes but the features have {expected} rows; both must describe "
            "the same nodes in the same order"
        )


def _checked(adjacency: Any, n_nodes: int | None) -> Any:
    """The adjacency as COO, CSR or CSC with finite, positive values; duplicates are not merged yet."""
    if not (isinstance(adjacency, np.ndarray) or sp.issparse(adjacency)):
        raise InputTypeError(
            "adjacency must be a SciPy sparse matrix or a square NumPy array; got "
            f"{type(adjacency).__module__}.{type(adjacency).__qualname__}. From edges: "
            "scipy.sparse.coo_array((weights, (sources, targets)), shape=(n, n)); from NetworkX: "
            "networkx.to_scipy_sparse_array(graph)"
        )
    refuse_masked(adjacency, "adjacency")
    _check_shape(adjacency.shape, n_nodes)
    if adjacency.dtype.kind not in "biuf":
        raise InputTypeError(f"adjacency must hold booleans, integers or floats; got dtype {adjacency.dtype}")
    if isinstance(adjacency, np.ndarray):
        half = adjacency.dtype == np.float16  # not supported by SciPy
        matrix = sp.coo_array(adjacency.astype(np.float32) if half else adjacency)
    else:
        check_indices(adjacency, "adjacency")
        matrix = adjacency if adjacency.format in ("coo", "csr", "csc") else adjacency.tocoo()
    values = matrix.data
    if matrix.dtype.kind == "f":
        _refuse(matrix, ~np.isfinite(values), "is NaN or infinite: remove or replace it")
        _refuse(matrix, values > LARGEST, f"is beyond {LARGEST:.0e}, too large for sums in float32: rescale")
        small = (values != 0) & (np.abs(values) < SMALLEST)
        _refuse(matrix, small, f"is below {SMALLEST:.0e}, too small for float32: rescale")
    if matrix.dtype.kind in "if":
        _refuse(matrix, values < 0, "is negative: smoothing needs non-negative weights")
    if not values.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    if matrix.dtype.kind == "f" and matrix.dtype.itemsize not in (4, 8):
        matrix = matrix.astype(np.float64)
    return matrix


def _check_shape(shape: tuple[int, ...], n_nodes: int | None) -> None:
    if len(shape) != 2:
        raise InputError(f"adjacency must be a square matrix; got shape {shape}")
    rows, columns = shape
    if rows != columns:
        raise InputError(f"adjacency must be square; got {rows} rows and {columns} columns")
    if rows == 0:
        raise InputError("adjacency is empty: a graph needs at least one node")
    if rows > MAX_NODES:
        raise InputError(f"at most {MAX_NODES} nodes are supported; adjacency has {rows}")
    matches_nodes(rows, n_nodes)


def _refuse(matrix: Any, bad: NDArray[np.bool_], why: str) -> None:
    if not bad.any():
        return
    first, edges = int(np.flatnonzero(bad)[0]), matrix.tocoo(copy=False)
    raise InputError(
        f"the weight {edges.data[first]} of edge ({edges.row[first]}, {edges.col[first]}) in adjacency {why}"
        + (f" ({int(bad.sum())} edges in all)" if bad.sum() > 1 else "")
    )


def _merged(matrix: Any) -> Any:
    """CSR with sorted, unique columns; the caller's matrix is not modified."""
    merged = sp.csr_array(matrix)
    if not merged.has_canonical_format:
        merged = merged.copy()
        merged.sum_duplicates()
    return merged


def _without_self_loops(matrix: Any) -> Any:
    n = matrix.shape[0]
    counts = np.diff(matrix.indptr)
    rows = np.repeat(np.arange(n, dtype=matrix.indices.dtype), counts)
    keep = matrix.indices != rows
    if keep.all():
        return matrix
    loops = np.bincount(rows[~keep], minlength=n)
    indptr = np.concatenate([[0], np.cumsum(counts - loops)])
    return sp.csr_array((matrix.data[keep], matrix.indices[keep], indptr), shape=matrix.shape)


def _undirected(matrix: Any, weighted: bool, *, warn: bool) -> Any:
    reverse = sp.csr_array(matrix.T)
    reverse.sort_indices()
    same_edges = np.array_equal(matrix.indptr, reverse.indptr) and np.array_equal(
        matrix.indices, reverse.indices
    )
    if same_edges and (not weighted or np.allclose(matrix.data, reverse.data, rtol=1e-6, atol=0)):
        return matrix
    both = sp.csr_array(matrix.maximum(reverse))
    both.sort_indices()
    if warn:
        added = both.nnz - matrix.nnz
        difference = f"{added} edges have no reverse" if added else "edges differ in weight by direction"
        warnings.warn(
            f"adjacency is not symmetric: {difference}; smoothing over max(A, A.T). Pass directed=False to "
            "accept this silently, or directed=True to keep the direction",
            UserWarning,
            stacklevel=find_stack_level(),
        )
    return both


def warn_user(text: str) -> None:
    """Issue a warning that points to the user's line."""
    warnings.warn(text, UserWarning, stacklevel=find_stack_level())


def find_stack_level() -> int:
    """Stack level of the first frame outside the package, so that a warning points to the user's line."""
    import sys

    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("nafs", "sklearn"):
        level += 1
        frame = frame.f_back  # type: ignore[assignment]
    return level
