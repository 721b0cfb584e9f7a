"""ARGA and ARVGA: GAE and VGAE whose embeddings a discriminator keeps close to a normal distribution.

In each iteration the encoder takes five steps on GAE's loss; then the discriminator learns to tell rows of
Z from draws of N(0, 1), and the encoder to fool it by -log D(z).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.rivals.contract import Problem, Progress, Rival, silent
from nafs.rivals.gae import encoder
from nafs.rivals.pairs import AllPairs
from nafs.rivals.tensors import convolution, features_tensor, seeded, sparse_tensor, to_numpy, train


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    variational: bool,
    hidden: int,
    width: int,
    discriminator: int,
    epochs: int,
    rebuilds: int,
    lr: float,
) -> NDArray[np.float32]:
    """The embedding Z, or the means μ."""
    import torch
    from torch.nn import Linear, ReLU, Sequential
    from torch_geometric.nn import ARGA, ARGVA

    adjacency = sparse_tensor(convolution(problem.graph.adjacency))
    X = features_tensor(problem)
    with seeded(seed):
        judge = Sequential(
            Linear(width, discriminator), ReLU(), Linear(discriminator, hidden), ReLU(), Linear(hidden, 1)
        )
        inner = encoder(X.shape[1], hidden, width, variational=variational)
        model = (ARGVA if variational else ARGA)(inner, judge)
        loss = AllPairs(problem.graph.adjacency)
        against = torch.optim.Adam(judge.parameters(), lr=lr)
        fooling = torch.optim.Adam(model.encoder.parameters(), lr=lr)
        rebuilding = torch.optim.Adam(model.encoder.parameters(), lr=lr)

        def rebuild() -> Any:
            rebuilt = loss(model.encode(X, adjacency))
            return rebuilt + model.kl_loss() / len(X) if variational else rebuilt

        def tell_apart() -> Any:
            return model.discriminator_loss(model.encode(X, adjacency))

        def fool() -> Any:
            return model.reg_loss(model.encode(X, adjacency))

        for epoch in range(epochs):
            train(rebuild, rebuilding, rebuilds, silent)
            train(tell_apart, against, 1, silent)
            train(fool, fooling, 1, silent)
            progress(epoch + 1, epochs)
        model.eval()
        return to_numpy(model.encode(X, adjacency))


_REFERENCE = "Pan et al., Adversarially regularized graph autoencoder, IJCAI 2018"
_SETTINGS = {"hidden": 32, "width": 32, "discriminator": 64, "epochs": 200, "rebuilds": 5, "lr": 1e-3}
ARGA = Rival(
    "ARGA",
    ("links", "clustering"),
    partial(fit, variational=False),
    _REFERENCE,
    cost=40,
    settings=_SETTINGS,
    extra="rivals",
)
ARVGA = Rival(
    "ARVGA",
    ("links", "clustering"),
    partial(fit, variational=True),
    _REFERENCE,
    cost=45,
    settings=_SETTINGS,
    extra="rivals",
)
