"""GCN: softmax(Â relu(Â X W₀) W₁), trained on the labels of the training nodes."""

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
    dropout: float,
    decay: float,
    **training: Any,
) -> NDArray[np.int64]:
    """Classes of all nodes."""
    from torch.nn.functional import relu
    from torch_geometric.nn import GCNConv

    A = sparse_tensor(convolution(problem.graph.adjacency))
    X = features_tensor(problem, rows_to_one=True)
    with seeded(seed):
        first = GCNConv(X.shape[1], hidden, normalize=False)
        second = GCNConv(hidden, problem.n_clusters, normalize=False)

        def forward(training: bool) -> Any:
            H = relu(first(drop(X, dropout, training), A))
            return second(drop(H, dropout, training), A)

        groups = [
            {"params": list(first.parameters()), "weight_decay": decay},
            {"params": list(second.parameters())},
        ]
        logits = classify(problem, groups, forward, progress, **training)
        return np.asarray(logits.argmax(axis=1))


GCN = Rival(
    "GCN",
    ("classification",),
    fit,
    "Kipf and Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017",
    cost=8,
    settings={"hidden": 16, "dropout": 0.5, "decay": 5e-4, "epochs": 200, "lr": 0.01, "patience": 200},
    extra="rivals",
)
