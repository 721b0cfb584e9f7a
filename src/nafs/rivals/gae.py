"""GAE and VGAE: a graph convolution of two layers whose inner products rebuild the edges.

Z = Â relu(Â X W₀) W₁ and P(edge ij) = σ(z_i · z_j), trained with the weighted cross-entropy of all pairs.
The variational form draws z from N(μ, σ²), both of that shape, and adds the divergence from N(0, 1); its
embedding is μ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.rivals.contract import Problem, Progress, Rival
from nafs.rivals.pairs import EXACT, AllPairs
from nafs.rivals.tensors import features_tensor, hop_tensor, seeded, to_numpy, train


def encoder(columns: int, hidden: int, width: int, *, variational: bool) -> Any:
    """Two graph convolutions; the variational one returns means and logarithms of deviations."""
    from torch.nn import ReLU
    from torch_geometric.nn import GCNConv, Sequential

    def layer(before: int, after: int) -> Any:
        return GCNConv(before, after, bias=False, normalize=False)

    layers: list[Any] = [
        (layer(columns, hidden), "x, a -> h"),
        ReLU(),
        (layer(hidden, width), "h, a -> mean"),
    ]
    if variational:
        layers += [(layer(hidden, width), "h, a -> log"), (lambda mean, log: (mean, log), "mean, log -> z")]
    return Sequential("x, a", layers)


def autoencoder(
    problem: Problem, kind: Any, hidden: int, width: int, *, variational: bool, exact: int = EXACT
) -> tuple[Any, Callable[[], Any], Callable[[], Any]]:
    """A model, its embedding of all nodes, and its loss.

    ``kind`` takes an encoder and returns one of PyG's autoencoders.
    """
    A, X = hop_tensor(problem.graph.adjacency), features_tensor(problem)
    model = kind(encoder(X.shape[1], hidden, width, variational=variational))
    loss = AllPairs(problem.graph.adjacency, exact=exact)

    def embed() -> Any:
        return model.encode(X, A)

    def rebuild() -> Any:
        rebuilt = loss(embed())
        return rebuilt + model.kl_loss() / len(X) if variational else rebuilt

    return model, embed, rebuild


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
    exact: int = EXACT,
) -> NDArray[np.float32]:
    """The embedding Z, or the means μ; up to ``exact`` nodes the loss has all pairs."""
    import torch
    from torch_geometric.nn import GAE, VGAE

    with seeded(seed):
        kind = VGAE if variational else GAE
        model, embed, rebuild = autoencoder(
            problem, kind, hidden, width, variational=variational, exact=exact
        )
        train(rebuild, torch.optim.Adam(model.parameters(), lr=lr), epochs, progress)
        model.eval()
        return to_numpy(embed())


_REFERENCE = "Kipf and Welling, Variational graph auto-encoders, 2016"
_SETTINGS = {"hidden": 32, "width": 16, "epochs": 200, "lr": 0.01}
GAE = Rival(
    "GAE",
    ("links", "clustering"),
    partial(fit, variational=False),
    _REFERENCE,
    cost=6,
    settings=_SETTINGS,
    extra="rivals",
)
VGAE = Rival(
    "VGAE",
    ("links", "clustering"),
    partial(fit, variational=True),
    _REFERENCE,
    cost=6,
    settings=_SETTINGS,
    extra="rivals",
)
