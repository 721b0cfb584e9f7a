"""ARGA and ARVGA: GAE and VGAE whose embeddings a discriminator keeps close to a normal distribution.

In each iteration the encoder takes five steps on GAE's loss; then the discriminator learns to tell rows of
Z from draws of N(0, 1), and the encoder to fool it by -log D(z).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from nafs.rivals.contract import Problem, Progress, Rival, silent
from nafs.rivals.gae import autoencoder
from nafs.rivals.tensors import seeded, to_numpy, train


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

    with seeded(seed):
        judge = Sequential(
            Linear(width, discriminator), ReLU(), Linear(discriminator, hidden), ReLU(), Linear(hidden, 1)
        )
        kind = partial(ARGVA if variational else ARGA, discriminator=judge)
        model, embed, rebuild = autoencoder(problem, kind, hidden, width, variational=variational)
        against = torch.optim.Adam(judge.parameters(), lr=lr)
        fooling = torch.optim.Adam(model.encoder.parameters(), lr=lr)
        rebuilding = torch.optim.Adam(model.encoder.parameters(), lr=lr)
        for epoch in range(epochs):
            train(rebuild, rebuilding, rebuilds, silent)
            train(lambda: model.discriminator_loss(embed()), against, 1, silent)
            train(lambda: model.reg_loss(embed()), fooling, 1, silent)
            progress(epoch + 1, epochs)
        model.eval()
        return to_numpy(embed())


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
    cost=48,
    settings=_SETTINGS,
    extra="rivals",
)
