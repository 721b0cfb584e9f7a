"""DAGNN: a network on the features of each node, then a learned mixture of 0 to K hops of its logits.

Z = MLP(X), H_k = Âᵏ Z; the weight of hop k for node i is σ(H_k,i · s) with one vector s for all.
"""

from __future__ import annotations

from typing import Any

from nafs.rivals.classifier import Forward, classifier, decayed, two_layers
from nafs.rivals.contract import Problem, Rival
from nafs.rivals.tensors import hop_tensor


@classifier
def fit(
    problem: Problem, X: Any, *, hidden: int, hops: int, dropout: float, decay: float
) -> tuple[Forward, list[dict[str, Any]]]:
    """Two layers, then hops with a learned gate."""
    import torch
    from torch.nn import Linear

    A = hop_tensor(problem.graph.adjacency)
    first, second = Linear(X.shape[1], hidden), Linear(hidden, problem.n_clusters)
    gate = Linear(problem.n_clusters, 1)
    logits = two_layers(X, first, second, dropout)

    def forward(training: bool) -> Any:
        H = logits(training)
        total = gate(H).sigmoid() * H
        for _ in range(hops):
            H = torch.sparse.mm(A, H)
            total = total + gate(H).sigmoid() * H
        return total

    return forward, decayed(decay, first, second, gate)


DAGNN = Rival(
    "DAGNN",
    ("classification",),
    fit,
    "Liu et al., Towards deeper graph neural networks, KDD 2020",
    cost=8,
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
