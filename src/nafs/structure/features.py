"""Features from the edges alone: the leading directions of co-occurrence with landmark nodes.

The features are stable. Landmarks and the orientation of the directions come from hashes of node ids, so the
order of nodes and edges does not matter, and a small change of the graph changes them only a little. For
that, the leading directions are used as a subspace, rotated to be as close as possible to fixed pseudo-random
columns, and the last ones fade out instead of being cut off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.blas import one_blas_thread
from nafs._support.budget import check_limit, left_now
from nafs._support.errors import InputError, MemoryLimitError
from nafs._support.scratch import scratch_in
from nafs.graph import Adjacency, Graph, read_adjacency
from nafs.structure.cooccurrence import LANDMARKS, choose_landmarks, cooccurrence, cooccurrence_nbytes
from nafs.structure.hashing import hash_ids, uniform

DEFAULT_COLUMNS = 128
_PANELS = (128, 64, 32, 16)  # landmarks at a time: wide panels are faster, narrow ones need less memory
_SAMPLE = 1 << 15  # rows that the directions are found from
_ROWS = 1 << 12  # handled in one go
_KEPT = 0.75  # directions per column; with just one, the rotation would be ill-conditioned
_FAINT = 1e-3  # a row shorter than this share of the mean length carries no information


def structural_features(
    graph: Graph | Adjacency,
    n_columns: int = DEFAULT_COLUMNS,
    seed: int = 0,
    *,
    ids: Any = None,
    n_threads: int | None = None,
    memory_limit: int | None = None,
) -> NDArray[np.float32]:
    """Features from the graph alone; rows have length 1.

    The same node ids, edges and seed give the same features in any order of nodes and edges.

    Parameters
    ----------
    graph : Graph or Adjacency
        Edges count in both directions.
    n_columns : int
    seed : int
    ids : Arrow array, optional
        Ids of the nodes of an Adjacency; without them, the id of node i is i.
    n_threads : int, optional
    memory_limit : int, optional
        Bytes. The intermediate table goes into a temporary file if memory is short.

    Returns
    -------
    ndarray of float32, shape (n, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import Graph, structural_features
    >>> two_pairs = Graph(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> X = structural_features(two_pairs, 8)
    >>> (X @ X.T).round(3) + 0.0
    array([[ 1.,  1., -1., -1.],
           [ 1.,  1., -1., -1.],
           [-1., -1.,  1.,  1.],
           [-1., -1.,  1.,  1.]], dtype=float32)
    """
    from nafs.smoothing.threads import check_threads

    if n_columns < 1:
        raise InputError(f"structural features need at least 1 column; got {n_columns}")
    if isinstance(graph, Graph):
        ids = graph.id_array if graph.has_ids else None
        edges = graph.adjacency
    else:
        edges = graph
    if edges.directed:
        edges = read_adjacency(edges.to_scipy(), directed=False, self_loops=True)
    hashes = hash_ids(np.arange(edges.n_nodes) if ids is None else ids, seed)
    panel, in_file = _plan(edges.n_nodes, n_columns, memory_limit)
    room = left_now(memory_limit)
    if room is not None and room != memory_limit:  # a command's limit: leave some for what is not counted
        try:
            panel, in_file = _plan(edges.n_nodes, n_columns, room - room // 16)
        except MemoryLimitError:
            panel, in_file = _PANELS[-1], True
    landmarks = choose_landmarks(hashes)
    table = cooccurrence(
        edges,
        landmarks,
        panel=panel,
        n_threads=check_threads(n_threads),
        allocate=scratch_in(None) if in_file else np.empty,
    )
    features = _project(table, hashes, uniform(hashes[landmarks], n_columns))
    del table
    _fill_faint_rows(features, edges, hashes)
    return features


def structural_nbytes(n_nodes: int, n_columns: int, memory_limit: int | None = None) -> int:
    """Memory in bytes for computing structural features within a limit, including the result.

    Raises MemoryLimitError if even the smallest amount exceeds the limit.
    """
    panel, in_file = _plan(n_nodes, n_columns, memory_limit)
    return _needed(n_nodes, n_columns, panel, in_file)


def _needed(n_nodes: int, n_columns: int, panel: int, in_file: bool) -> int:
    count = min(n_nodes, LANDMARKS)
    table = 0 if in_file else 2 * n_nodes * count
    fixed = 8 * 4 * count * count + 4 * min(n_nodes, _ROWS) * (count + n_columns)
    # Per node: hash, degree, and scratch for choosing landmarks.
    during = cooccurrence_nbytes(n_nodes, min(panel, count)) + 40 * n_nodes
    return table + max(during, 4 * n_nodes * n_columns + 24 * n_nodes + fixed)


def _plan(n_nodes: int, n_columns: int, memory_limit: int | None) -> tuple[int, bool]:
    """Width of a panel, and whether the table goes into a file."""
    if memory_limit is None:
        return _PANELS[0], False
    for in_file in (False, True):
        for panel in _PANELS:
            if _needed(n_nodes, n_columns, panel, in_file) <= memory_limit:
                return panel, in_file
    check_limit(
        _needed(n_nodes, n_columns, _PANELS[-1], True),
        memory_limit,
        f"making {n_columns} structural features takes",
        "give features, or fewer columns",
    )
    raise AssertionError("unreachable")


def _project(
    table: NDArray[np.float16], hashes: NDArray[np.uint64], fixed: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Rows along the leading directions of the centred table."""
    n = len(table)
    features = np.empty((n, fixed.shape[1]), np.float32)
    with one_blas_thread():
        mean, directions = _leading_directions(table, hashes, fixed)
        for top in range(0, n, _ROWS):
            rows = table[top : top + _ROWS].astype(np.float32)
            block = features[top : top + _ROWS]
            np.matmul(rows - mean, directions, out=block)
            block[~rows.any(axis=1)] = 0  # no landmark is near: the mean row says nothing about such a node
    return features


def _leading_directions(
    table: NDArray[np.float16], hashes: NDArray[np.uint64], fixed: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The mean row, and the leading directions rotated towards the fixed columns."""
    n, count = table.shape
    width = fixed.shape[1]
    sample = np.arange(n) if n <= _SAMPLE else np.sort(np.argpartition(hashes, _SAMPLE)[:_SAMPLE])
    blocks = [sample[top : top + _ROWS] for top in range(0, len(sample), _ROWS)]
    mean = sum(table[rows].sum(axis=0, dtype=np.float64) for rows in blocks) / len(sample)
    products = np.zeros((count, count))
    for rows in blocks:
        block = table[rows].astype(np.float32) - mean.astype(np.float32)
        products += block.T @ block
    values, vectors = np.linalg.eigh(products)
    values, vectors = values[::-1], vectors[:, ::-1]
    most = max(1, int(width * _KEPT))
    kept = max(1, int((values[:most] > 1e-9 * max(values[0], 0.0)).sum()))
    # A direction at the cut-off has weight 0, so that crossing the cut-off changes nothing.
    cut = max(values[most], 0.0) if most < count else 0.0
    weights = np.sqrt(np.maximum(1 - cut / np.maximum(values[:kept], 1e-300), 0.0))
    left, _, right = np.linalg.svd(vectors[:, :kept].T @ fixed.astype(np.float64), full_matrices=False)
    directions = (vectors[:, :kept] * weights) @ (left @ right)
    return mean.astype(np.float32), directions.astype(np.float32)


def _fill_faint_rows(features: NDArray[np.float32], graph: Adjacency, hashes: NDArray[np.uint64]) -> None:
    """Scale rows to length 1.

    A node that no landmark distinguishes gets the mean of pseudo-random rows over its closed neighbourhood.
    """
    n, width = features.shape
    blocks = [slice(top, min(n, top + _ROWS)) for top in range(0, n, _ROWS)]
    sizes = np.concatenate([np.linalg.norm(features[rows], axis=1) for rows in blocks])
    faint = sizes <= _FAINT * sizes.mean()
    sizes[faint] = 1
    for rows in blocks:
        features[rows] /= sizes[rows, None]
    faint_nodes = np.flatnonzero(faint)
    if not len(faint_nodes):
        return
    with_loops = sp.csr_array(graph.to_scipy() + sp.eye_array(n, dtype=np.float32, format="csr"))
    for top in range(0, len(faint_nodes), _ROWS):
        around = sp.csr_array(with_loops[faint_nodes[top : top + _ROWS]])
        neighbors, places = np.unique(around.indices, return_inverse=True)
        weights = sp.csr_array((around.data, places, around.indptr), (around.shape[0], len(neighbors)))
        means = weights @ uniform(hashes[neighbors], width)
        features[faint_nodes[top : top + _ROWS]] = means / np.linalg.norm(means, axis=1, keepdims=True)
