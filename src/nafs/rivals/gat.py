"""GAT: two layers of attention over neighbours, eight heads of eight units in the first.

The published settings train up to some thousand epochs and stop after 100 without progress on validation.
"""

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
    heads: int,
    last_heads: int,
    dropout: float,
    decay: float,
    **training: Any,
) -> NDArray[np.int64]:
    """Classes of all nodes."""
    from torch.nn.functional import elu
    from torch_geometric.nn import GATConv

    edges = edge_index(problem.graph.adjacency)
    X = features_tensor(problem, rows_to_one=True)
    with seeded(seed):
        first = GATConv(X.shape[1], hidden, heads=heads, dropout=dropout)
        last = GATConv(hidden * heads, problem.n_clusters, heads=last_heads, concat=False, dropout=dropout)

        def forward(training: bool) -> Any:
            first.train(training)
            last.train(training)
            H = elu(first(drop(X, dropout, training), edges))
            return last(drop(H, dropout, training), edges)

        groups = [{"params": [*first.parameters(), *last.parameters()], "weight_decay": decay}]
        logits = classify(problem, groups, forward, progress, **training)
        return np.asarray(logits.argmax(axis=1))


GAT = Rival(
    "GAT",
    ("classification",),
    fit,
    "Veličković et al., Graph attention networks, ICLR 2018",
    cost=40,
    settings={
        "hidden": 8,
        "heads": 8,
        "last_heads": 1,
        "dropout": 0.6,
        "decay": 5e-4,
        "epochs": 1000,
        "lr": 0.005,
        "patience": 100,
    },
    tuned={"pubmed": {"last_heads": 8, "lr": 0.01, "decay": 1e-3}},
    extra="rivals",
    memory=lambda graph: 60 * 64 * graph.adjacency.n_stored + 40 * graph.nbytes,
)
