"""The normalised adjacency Â_r = D̃^(r-1) Ã D̃^(-r), as a matrix to look at.

The hops themselves never build it: Â_r^k X = D̃^r P^k (D̃^(-r) X) with P = D̃^(-1) Ã, so that one operator
P serves every r, and an unweighted P needs no stored values.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from nafs.graph import read_adjacency
from nafs.smoothing.method import check_one_r


def normalized_adjacency(
    adjacency: Any, r: float = 0.5, *, directed: bool | None = None, self_loops: bool = False
) -> Any:
    """Â_r as a float64 SciPy CSR array.

    Parameters
    ----------
    adjacency : sparse matrix of shape (n, n)
    r : float in [0, 1]
        0 gives the random walk D̃⁻¹Ã, 0.5 the symmetric form, 1 the reverse walk ÃD̃⁻¹.
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import normalized_adjacency
    >>> normalized_adjacency(np.array([[0, 1], [1, 0]]), r=0.0).toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    r = check_one_r(r)
    graph = read_adjacency(adjacency, directed=directed, self_loops=self_loops)
    degrees = graph.degrees
    with_loops = graph.to_scipy().astype(float) + sp.eye_array(graph.n_nodes)
    left, right = sp.diags_array(degrees ** (r - 1)), sp.diags_array(degrees**-r)
    return sp.csr_array(left @ with_loops @ right)
