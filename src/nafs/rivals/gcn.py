"""GCN: softmax(Â relu(Â X W₀) W₁), trained on the labels of the training nodes."""

from __future__ import annotations

from typing import Any

from nafs.rivals.classifier import Forward, classifier, decayed, two_layers
from nafs.rivals.contract import Problem, Rival
from nafs.rivals.tensors import hop_tensor


@classifier
def fit(
    problem: Problem, X: Any, *, hidden: int, dropout: float, decay: float
) -> tuple[Forward, list[dict[str, Any]]]:
    """Two graph convolutions; only the weights of the first decay."""
    from torch_geometric.nn import GCNConv

    first = GCNConv(X.shape[1], hidden, normalize=False)
    second = GCNConv(hidden, problem.n_clusters, normalize=False)
    forward = two_layers(X, first, second, dropout, hop_tensor(problem.graph.adjacency))
    return forward, decayed(decay, first) + decayed(0, second)


GCN = Rival(
    "GCN",
    ("classification",),
    fit,
    "Kipf and Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017",
    cost=3,
    settings={"hidden": 16, "dropout": 0.5, "decay": 5e-4, "epochs": 200, "lr": 0.01, "patience": 200},
    extra="rivals",
)
