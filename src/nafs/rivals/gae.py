"""GAE and VGAE: a graph convolution of two layers whose inner products rebuild the edges.

Z = Â relu(Â X W₀) W₁ and P(edge ij) = σ(z_i · z_j), trained with the weighted cross-entropy of all pairs.
The variational form draws z from N(μ, σ²), both of that shape, and adds the divergence from N(0, 1); its
embedding is μ.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.rivals.contract import Problem, Progress, Rival
from nafs.rivals.pairs import AllPairs
from nafs.rivals.tensors import convolution, features_tensor, seeded, sparse_tensor, to_numpy, train


def encoder(columns: int, hidden: int, width: int, *, variational: bool) -> Any:
    """Two graph convolutions; the variational one returns means and logarithms of deviations."""
    from torch.nn import ReLU
    from torch_geometric.nn import GCNConv, Sequential

    def layer(before: int, after: int) -> Any:
        return GCNConv(before, after, bias=False, normalize=False)

    both: list[Any] = [(layer(columns, hidden), "x, a -> h"), ReLU(), (layer(hidden, width), "h, a -> mean")]
    if variational:
        both += [(layer(hidden, width), "h, a -> log"), (lambda mean, log: (mean, log), "mean, log -> z")]
    return Sequential("x, a", both)


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    variational: bool,
    hidden: int,
    width: int,
    epochs: int,
    lr: float,
) -> NDArray[np.float32]:
    """The embedding Z, or the means μ."""
    import torch
    from torch_geometric.nn import GAE, VGAE

    adjacency = sparse_tensor(convolution(problem.graph.adjacency))
    X = features_tensor(problem)
    with seeded(seed):
        inner = encoder(X.shape[1], hidden, width, variational=variational)
        model = (VGAE if variational else GAE)(inner)
        loss = AllPairs(problem.graph.adjacency)

        def step() -> Any:
            rebuilt = loss(model.encode(X, adjacency))
            return rebuilt + model.kl_loss() / len(X) if variational else rebuilt

        train(step, torch.optim.Adam(model.parameters(), lr=lr), epochs, progress)
        model.eval()
        return to_numpy(model.encode(X, adjacency))


_REFERENCE = "Kipf and Welling, Variational graph auto-encoders, 2016"
_SETTINGS = {"hidden": 32, "width": 16, "epochs": 200, "lr": 0.01}
GAE = Rival(
    "GAE",
    ("links", "clustering"),
    partial(fit, variational=False),
    _REFERENCE,
    cost=10,
    settings=_SETTINGS,
    extra="rivals",
)
VGAE = Rival(
    "VGAE",
    ("links", "clustering"),
    partial(fit, variational=True),
    _REFERENCE,
    cost=12,
    settings=_SETTINGS,
    extra="rivals",
)
