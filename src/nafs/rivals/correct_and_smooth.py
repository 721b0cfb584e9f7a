"""C&S: a network that sees features alone; its errors, then its predictions, spread over the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.rivals.contract import Problem, Progress, Rival
from nafs.rivals.tensors import classify, drop, edge_index, features_tensor, seeded


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    hidden: int,
    dropout: float,
    decay: float,
    steps: int,
    correct: float,
    smooth: float,
    **training: Any,
) -> NDArray[np.int64]:
    """Classes of all nodes."""
    import torch
    from torch.nn import Linear
    from torch.nn.functional import relu
    from torch_geometric.nn import CorrectAndSmooth

    X = features_tensor(problem, rows_to_one=True)
    with seeded(seed):
        first, second = Linear(X.shape[1], hidden), Linear(hidden, problem.n_clusters)

        def forward(training: bool) -> Any:
            H = relu(first(drop(X, dropout, training)))
            return second(drop(H, dropout, training))

        groups = [{"params": [*first.parameters(), *second.parameters()], "weight_decay": decay}]
        logits = torch.from_numpy(classify(problem, groups, forward, progress, **training))
        spread = CorrectAndSmooth(steps, correct, steps, smooth, autoscale=True)
        edges = edge_index(problem.graph.adjacency)
        fitted = torch.from_numpy(problem.train)
        truth = torch.from_numpy(problem.codes)[fitted]
        chance = spread.correct(logits.softmax(dim=1), truth, fitted, edges)
        return np.asarray(spread.smooth(chance, truth, fitted, edges).argmax(dim=1).numpy())


CORRECT_AND_SMOOTH = Rival(
    "C&S",
    ("classification",),
    fit,
    "Huang et al., Combining label propagation and simple models out-performs graph neural networks, "
    "ICLR 2021",
    cost=8,
    settings={
        "hidden": 64,
        "dropout": 0.5,
        "decay": 5e-4,
        "steps": 50,
        "correct": 0.8,
        "smooth": 0.8,
        "epochs": 300,
        "lr": 0.01,
        "patience": 100,
    },
    extra="rivals",
)
