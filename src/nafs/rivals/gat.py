"""GAT: two layers of attention over neighbours, eight heads of eight units in the first.

The published settings train for up to some thousand epochs and stop after 100 without progress on validation.
"""

from __future__ import annotations

from typing import Any

from nafs.rivals.classifier import Forward, classifier, decayed, two_layers
from nafs.rivals.contract import Problem, Rival
from nafs.rivals.tensors import edge_index


@classifier
def fit(
    problem: Problem,
    X: Any,
    *,
    hidden: int,
    heads: int,
    last_heads: int,
    dropout: float,
    decay: float,
) -> tuple[Forward, list[dict[str, Any]]]:
    """Two layers of attention, which drop attention weights too."""
    from torch.nn.functional import elu
    from torch_geometric.nn import GATConv

    first = GATConv(X.shape[1], hidden, heads=heads, dropout=dropout)
    second = GATConv(hidden * heads, problem.n_clusters, heads=last_heads, concat=False, dropout=dropout)
    edges = edge_index(problem.graph.adjacency)
    forward = two_layers(X, first, second, dropout, edges, activation=elu)
    return forward, decayed(decay, first, second)


GAT = Rival(
    "GAT",
    ("classification",),
    fit,
    "Veličković et al., Graph attention networks, ICLR 2018",
    cost=24,
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
