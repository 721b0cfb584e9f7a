"""PPRGo: a network's logits, summed over the 32 nearest nodes by personalised PageRank.

π_i is approximated by pushes: while a residual exceeds ε times the node's degree, a share α of it settles and
the remainder goes to the neighbours. Residuals of a block of nodes are pushed together, so that no loop runs
over nodes; the invariant and the error bound are those of single pushes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs.graph import Adjacency
from nafs.rivals.classifier import Forward, classifier, decayed, two_layers
from nafs.rivals.contract import Problem, Rival, dense_bytes
from nafs.rivals.tensors import sparse_tensor

_BLOCK = 1024  # nodes whose PageRank is pushed together


def nearest_by_pagerank(adjacency: Adjacency, alpha: float, epsilon: float, keep: int) -> Any:
    """Approximate personalised PageRank: row i has the ``keep`` largest entries of π_i, a SciPy matrix."""
    edges = sp.csr_array(adjacency.to_scipy().astype(float) + sp.eye_array(adjacency.n_nodes))
    degrees = adjacency.degrees
    walk = sp.csr_array(sp.diags_array(1 / degrees) @ edges)
    n = adjacency.n_nodes
    blocks = []
    for top in range(0, n, _BLOCK):
        bottom = min(n, top + _BLOCK)
        residual = sp.csr_array(sp.eye_array(n, format="csr")[top:bottom])
        settled = sp.csr_array((bottom - top, n))
        while True:
            large = residual.data > epsilon * degrees[residual.indices]
            if not large.any():
                break
            pushed = residual.copy()
            pushed.data = np.where(large, residual.data, 0.0)
            pushed.eliminate_zeros()
            settled = settled + alpha * pushed
            residual.data = np.where(large, 0.0, residual.data)
            residual.eliminate_zeros()
            residual = sp.csr_array(residual + (1 - alpha) * (pushed @ walk))
        blocks.append(_largest(sp.csr_array(settled), keep))
    return sp.vstack(blocks, format="csr")


def _largest(matrix: Any, keep: int) -> Any:
    """The largest entries of each row."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    place = np.arange(len(order)) - matrix.indptr[rows[order]]
    kept = order[place < keep]
    return sp.csr_array((matrix.data[kept], (rows[kept], matrix.indices[kept])), shape=matrix.shape)


@classifier
def fit(
    problem: Problem,
    X: Any,
    *,
    hidden: int,
    alpha: float,
    epsilon: float,
    keep: int,
    dropout: float,
    decay: float,
) -> tuple[Forward, list[dict[str, Any]]]:
    """Two layers without biases, then the sum over the nearest nodes."""
    import torch
    from torch.nn import Linear

    nearest = sparse_tensor(nearest_by_pagerank(problem.graph.adjacency, alpha, epsilon, keep))
    first = Linear(X.shape[1], hidden, bias=False)
    second = Linear(hidden, problem.n_clusters, bias=False)
    logits = two_layers(X, first, second, dropout)
    return lambda training: torch.sparse.mm(nearest, logits(training)), decayed(decay, first, second)


PPRGO = Rival(
    "PPRGo",
    ("classification",),
    fit,
    "Bojchevski et al., Scaling graph neural networks with approximate PageRank, KDD 2020",
    cost=3,
    settings={
        "hidden": 32,
        "alpha": 0.25,
        "epsilon": 1e-4,
        "keep": 32,
        "dropout": 0.1,
        "decay": 1e-4,
        "epochs": 200,
        "lr": 0.005,
        "patience": 200,
    },
    extra="rivals",
    memory=lambda graph: dense_bytes(graph) + 1000 * graph.n_nodes + 400_000_000,
)
