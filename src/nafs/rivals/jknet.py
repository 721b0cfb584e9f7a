"""JK-Net: graph convolutions; the classifier sees the outputs of all layers side by side."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from nafs.rivals.classifier import Forward, classifier, decayed
from nafs.rivals.contract import Problem, Rival
from nafs.rivals.tensors import drop, hop_tensor


@classifier
def fit(
    problem: Problem, X: Any, *, hidden: int, layers: int, dropout: float, decay: float
) -> tuple[Forward, list[dict[str, Any]]]:
    """Graph convolutions, and a linear classifier of all their outputs."""
    from torch.nn import Linear, ModuleList
    from torch.nn.functional import relu
    from torch_geometric.nn import GCNConv, JumpingKnowledge

    A = hop_tensor(problem.graph.adjacency)
    sizes = [X.shape[1], *[hidden] * layers]
    hops = ModuleList(GCNConv(before, after, normalize=False) for before, after in pairwise(sizes))
    jump, last = JumpingKnowledge("cat"), Linear(hidden * layers, problem.n_clusters)

    def forward(training: bool) -> Any:
        H, states = X, []
        for hop in hops:
            H = relu(hop(drop(H, dropout, training), A))
            states.append(H)
        return last(drop(jump(states), dropout, training))

    return forward, decayed(decay, hops, last)


JKNET = Rival(
    "JK-Net",
    ("classification",),
    fit,
    "Xu et al., Representation learning on graphs with jumping knowledge networks, ICML 2018",
    cost=10,
    # The paper chooses among 1 to 6 layers of 16 or 32 units on validation nodes: those of Cora are right in
    # 80.0 % with 2 layers, 79.6 % with 3 and 78.4 % with 4.
    settings={
        "hidden": 32,
        "layers": 2,
        "dropout": 0.5,
        "decay": 5e-4,
        "epochs": 400,
        "lr": 0.005,
        "patience": 100,
    },
    extra="rivals",
)
