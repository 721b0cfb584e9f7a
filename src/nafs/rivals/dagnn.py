"""DAGNN: a network on the features of each node, then a learned mixture of 0 to K hops of its logits.

Z = MLP(X), H_k = Âᵏ Z; the weight of hop k for node i is σ(H_k,i · s) with one vector s for all.
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
    hops: int,
    dropout: float,
    decay: float,
    **training: Any,
) -> NDArray[np.int64]:
    """Classes of all nodes."""
    import torch
    from torch.nn import Linear
    from torch.nn.functional import relu

    A = sparse_tensor(convolution(problem.graph.adjacency))
    X = features_tensor(problem, rows_to_one=True)
    with seeded(seed):
        first, second = Linear(X.shape[1], hidden), Linear(hidden, problem.n_clusters)
        gate = Linear(problem.n_clusters, 1)

        def forward(training: bool) -> Any:
            H = relu(first(drop(X, dropout, training)))
            H = second(drop(H, dropout, training))
            total = gate(H).sigmoid() * H
            for _ in range(hops):
                H = torch.sparse.mm(A, H)
                total = total + gate(H).sigmoid() * H
            return total

        modules = (first, second, gate)
        groups = [{"params": [p for module in modules for p in module.parameters()], "weight_decay": decay}]
        logits = classify(problem, groups, forward, progress, **training)
        return np.asarray(logits.argmax(axis=1))


DAGNN = Rival(
    "DAGNN",
    ("classification",),
    fit,
    "Liu et al., Towards deeper graph neural networks, KDD 2020",
    cost=48,
    settings={
        "hidden": 64,
        "hops": 10,
        "dropout": 0.8,
        "decay": 5e-3,
        "epochs": 1000,
        "lr": 0.01,
        "patience": 100,
    },
    tuned={"citeseer": {"decay": 0.02, "dropout": 0.5}, "pubmed": {"hops": 20}},
    extra="rivals",
)
