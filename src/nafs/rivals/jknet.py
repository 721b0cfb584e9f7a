"""JK-Net: graph convolutions whose layers all reach the classifier, side by side."""

from __future__ import annotations

from itertools import pairwise
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
    layers: int,
    dropout: float,
    decay: float,
    **training: Any,
) -> NDArray[np.int64]:
    """Classes of all nodes."""
    from torch.nn import Linear, ModuleList
    from torch.nn.functional import relu
    from torch_geometric.nn import GCNConv, JumpingKnowledge

    A = sparse_tensor(convolution(problem.graph.adjacency))
    X = features_tensor(problem, rows_to_one=True)
    with seeded(seed):
        sizes = [X.shape[1], *[hidden] * layers]
        hops = ModuleList(GCNConv(before, after, normalize=False) for before, after in pairwise(sizes))
        jump, last = JumpingKnowledge("cat"), Linear(hidden * layers, problem.n_clusters)

        def forward(training: bool) -> Any:
            H, states = X, []
            for hop in hops:
                H = relu(hop(drop(H, dropout, training), A))
                states.append(H)
            return last(drop(jump(states), dropout, training))

        groups = [{"params": [*hops.parameters(), *last.parameters()], "weight_decay": decay}]
        logits = classify(problem, groups, forward, progress, **training)
        return np.asarray(logits.argmax(axis=1))


JKNET = Rival(
    "JK-Net",
    ("classification",),
    fit,
    "Xu et al., Representation learning on graphs with jumping knowledge networks, ICML 2018",
    cost=25,
    # The paper tries 1 to 6 layers of 16 or 32 units; 4 layers of 32 side by side are our choice.
    settings={
        "hidden": 32,
        "layers": 4,
        "dropout": 0.5,
        "decay": 5e-4,
        "epochs": 400,
        "lr": 0.005,
        "patience": 100,
    },
    extra="rivals",
)
