"""C&S: a network on the features alone; its errors, then its predictions, are spread over the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.rivals.classifier import Forward, decayed, train_classifier, two_layers
from nafs.rivals.contract import Problem, Progress, Rival
from nafs.rivals.tensors import edge_index


def network(
    problem: Problem, X: Any, *, hidden: int, dropout: float, decay: float
) -> tuple[Forward, list[dict[str, Any]]]:
    """Two layers on the features of each node."""
    from torch.nn import Linear

    first, second = Linear(X.shape[1], hidden), Linear(hidden, problem.n_clusters)
    return two_layers(X, first, second, dropout), decayed(decay, first, second)


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    steps: int,
    correct: float,
    smooth: float,
    **settings: Any,
) -> NDArray[np.int64]:
    """Classes of all nodes."""
    import torch
    from torch_geometric.nn import CorrectAndSmooth

    chance = train_classifier(network, problem, seed, progress, **settings).softmax(dim=1)
    spread = CorrectAndSmooth(steps, correct, steps, smooth, autoscale=True)
    edges = edge_index(problem.graph.adjacency)
    train = torch.from_numpy(problem.train)
    truth = torch.from_numpy(problem.codes)[train]
    chance = spread.correct(chance, truth, train, edges)
    return np.asarray(spread.smooth(chance, truth, train, edges).argmax(dim=1).numpy())


CORRECT_AND_SMOOTH = Rival(
    "C&S",
    ("classification",),
    fit,
    "Huang et al., Combining label propagation and simple models out-performs graph neural networks, "
    "ICLR 2021",
    cost=3,
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
