"""APPNP: a network on the features of each node, then ten steps of personalised PageRank over its logits.

H⁰ = MLP(X); Hᵏ⁺¹ = (1 - α) Â Hᵏ + α H⁰. PyG's layer would draw a new dropout of edges at each step on top of
the previous one, so that it compounds; features are dropped instead.
"""

from __future__ import annotations

from typing import Any

from nafs.rivals.classifier import Forward, classifier, decayed, two_layers
from nafs.rivals.contract import Problem, Rival
from nafs.rivals.tensors import hop_tensor


@classifier
def fit(
    problem: Problem, X: Any, *, hidden: int, steps: int, alpha: float, dropout: float, decay: float
) -> tuple[Forward, list[dict[str, Any]]]:
    """Two layers, then personalised PageRank; only the weights of the first layer decay."""
    from torch.nn import Linear
    from torch_geometric.nn import APPNP

    A = hop_tensor(problem.graph.adjacency)
    first, second = Linear(X.shape[1], hidden), Linear(hidden, problem.n_clusters)
    logits = two_layers(X, first, second, dropout)
    walk = APPNP(steps, alpha, dropout=0.0, normalize=False)
    return lambda training: walk(logits(training), A), decayed(decay, first) + decayed(0, second)


APPNP = Rival(
    "APPNP",
    ("classification",),
    fit,
    "Gasteiger et al., Predict then propagate: Graph neural networks meet personalized PageRank, ICLR 2019",
    cost=23,
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
