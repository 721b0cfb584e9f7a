"""Features for graphs that have none: a random projection of each node's neighbourhood.

Row i is the mean over i's closed neighbourhood of random vectors, one for each node, damped by the node's
degree so that hubs do not make everything alike, and brought to length 1. Nodes with the same neighbours get
the same features; smoothing then carries them further. After FastRP (Chen et al., CIKM 2019).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs.graph.adjacency import Adjacency

if TYPE_CHECKING:
    from nafs.graph.graph import Graph

DEFAULT_COLUMNS = 128
_BLOCK = 16  # columns drawn and projected at a time


def structural_features(
    graph: Graph | Adjacency, n_columns: int = DEFAULT_COLUMNS, seed: int = 0
) -> NDArray[np.float32]:
    """Features from the graph alone; the same seed gives the same bits.

    Parameters
    ----------
    graph : Graph or Adjacency
    n_columns : int
    seed : int

    Returns
    -------
    ndarray of float32, shape (n, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.graph import read_adjacency, structural_features
    >>> two_pairs = read_adjacency(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> X = structural_features(two_pairs, 64)
    >>> (X @ X.T).round(1) + 0.0
    array([[1., 1., 0., 0.],
           [1., 1., 0., 0.],
           [0., 0., 1., 1.],
           [0., 0., 1., 1.]], dtype=float32)
    """
    if n_columns < 1:
        raise InputError(Parameter("n_columns"), f" must be at least 1; got {n_columns}")
    graph = graph if isinstance(graph, Adjacency) else graph.adjacency
    n = graph.n_nodes
    rng = np.random.default_rng(seed)
    matrix = graph.to_scipy()
    damping = (1.0 / np.sqrt(graph.degrees)).astype(np.float32)[:, None]
    features = np.empty((n, n_columns), np.float32)
    squares = np.zeros(n)
    for left in range(0, n_columns, _BLOCK):
        right = min(n_columns, left + _BLOCK)
        signs = rng.integers(0, 2, (n, right - left), dtype=np.int8)
        random = (2 * signs.astype(np.float32) - 1) * damping
        block = random + matrix @ random
        squares += np.einsum("ij,ij->i", block, block, dtype=np.float64)
        features[:, left:right] = block
    # A row is zero only where signs happen to cancel: leave it so.
    features /= np.sqrt(np.where(squares > 0, squares, 1.0)).astype(np.float32)[:, None]
    return features
