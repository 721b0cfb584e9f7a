"""The loss of an inner-product decoder over all pairs of nodes, without an n × n matrix.

With logits s_ij = z_i · z_j, targets y_ij (the edges and the diagonal) and weight w of a positive pair, the
weighted cross-entropy of all pairs is

    Σ_ij softplus(s_ij) + Σ_{y_ij = 1} (w softplus(-s_ij) - softplus(s_ij)).

Its gradient is 2 σ(ZZᵀ)Z, summed here over blocks of rows, plus terms of the positive pairs alone. Beyond
10,000 nodes the first sum is estimated from random pairs, as many as there are positive ones, drawn again
each time.
"""

from __future__ import annotations

from typing import Any

from nafs.graph import Adjacency
from nafs.rivals.tensors import edge_index

_BLOCK = 1 << 22  # logits at a time
EXACT = 10_000  # nodes; an epoch over all pairs of more takes seconds


class AllPairs:
    """The decoder's loss for one graph: Σ over all pairs, divided as GAE does.

    Parameters
    ----------
    adjacency : Adjacency
    weighted : bool
        Whether positive pairs weigh as much as all others together (GAE), or all pairs have the same weight
        (DAEGC).
    exact : int
        Up to this many nodes the sum is exact.
    """

    def __init__(self, adjacency: Adjacency, *, weighted: bool = True, exact: int = EXACT) -> None:
        import torch

        n = adjacency.n_nodes
        self.exact = n <= exact
        pairs = edge_index(adjacency)
        pairs = pairs[:, pairs[0] != pairs[1]]
        self.pairs = torch.cat([pairs, torch.arange(n).repeat(2, 1)], dim=1)
        edges = max(1, pairs.shape[1])
        self.weight = (n * n - edges) / edges if weighted else 1.0
        scale = n * n / (2 * (n * n - edges)) if weighted else 1.0
        self.scale = scale / (n * n)

    def gradient(self, z: Any) -> Any:
        """The gradient of the loss with respect to the embedding."""
        import torch

        with torch.no_grad():
            z = z.detach()
            total = _over_all(z) if self.exact else _over_some(z, self.pairs.shape[1])
            first, second = self.pairs
            chance = torch.sigmoid((z[first] * z[second]).sum(dim=1))
            pull = (self.weight * (chance - 1) - chance)[:, None]
            total.index_add_(0, first, pull * z[second])
            total.index_add_(0, second, pull * z[first])
            return total * self.scale

    def __call__(self, z: Any) -> Any:
        """A scalar whose gradient is that of the loss (its value is not)."""
        return (z * self.gradient(z)).sum()


def _over_all(z: Any) -> Any:
    """The gradient of Σ softplus(z_i · z_j) over all pairs."""
    import torch

    n, total = len(z), torch.zeros_like(z)
    step = max(1, _BLOCK // n)
    for top in range(0, n, step):
        rows = z[top : top + step]
        # Only blocks from the diagonal on: those below it are the same by symmetry.
        chance = torch.sigmoid_(rows @ z[top:].T)
        total[top : top + step] += chance @ z[top:]
        total[top + step :] += chance[:, len(rows) :].T @ rows
    return 2 * total


def _over_some(z: Any, count: int) -> Any:
    """An estimate of the same gradient from random pairs."""
    import torch

    n, total = len(z), torch.zeros_like(z)
    first, second = torch.randint(n, (2, count))
    chance = torch.sigmoid((z[first] * z[second]).sum(dim=1, keepdim=True)) * (n * n / count)
    total.index_add_(0, first, chance * z[second])
    return total.index_add_(0, second, chance * z[first])
