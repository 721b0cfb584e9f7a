"""APPNP: a network on the features of each node, then ten steps of personalised PageRank over its logits.

H⁰ = MLP(X); Hᵏ⁺¹ = (1 - α) Â Hᵏ + α H⁰. PyG's layer would draw the dropout of edges anew on top of the last
step's, so that it compounds over the steps: features are dropped instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.rivals.contract import Problem, Progress, Rival
from nafs.rivals.tensors import classify, convolution, drop, features_tensor, seeded, sparse_tensor


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    hidden: int,
    steps: int,
    alpha: float,
    dropout: float,
    decay: float,
    **training: Any,
) -> NDArray[np.int64]:
    """Classes of all nodes."""
    from torch.nn import Linear
    from torch.nn.functional import relu
    from torch_geometric.nn import APPNP

    A = sparse_tensor(convolution(problem.graph.adjacency))
    X = features_tensor(problem, rows_to_one=True)
    with seeded(seed):
        first, second = Linear(X.shape[1], hidden), Linear(hidden, problem.n_clusters)
        walk = APPNP(steps, alpha, dropout=0.0, normalize=False)

        def forward(training: bool) -> Any:
            H = relu(first(drop(X, dropout, training)))
            return walk(second(drop(H, dropout, training)), A)

        groups = [
            {"params": list(first.parameters()), "weight_decay": decay},
            {"params": list(second.parameters())},
        ]
        logits = classify(problem, groups, forward, progress, **training)
        return np.asarray(logits.argmax(axis=1))


APPNP = Rival(
    "APPNP",
    ("classification",),
    fit,
    "Gasteiger et al., Predict then propagate: Graph neural networks meet personalized PageRank, ICLR 2019",
    cost=25,
    settings={
        "hidden": 64,
        "steps": 10,
        "alpha": 0.1,
        "dropout": 0.5,
        "decay": 5e-3,
        "epochs": 1000,
        "lr": 0.01,
        "patience": 100,
    },
    extra="rivals",
)
