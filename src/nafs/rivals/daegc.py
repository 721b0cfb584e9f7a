"""DAEGC: a graph attention autoencoder that is trained on its own clusters.

Attention of node i to a neighbour j is softmax_j(leaky_relu((a·Wx_i + b·Wx_j) M_ij)) with M = (B + B²)/2, B
the random walk with self-loops. Inner products of Z rebuild the edges. After that pre-training, K-means
gives centres; Q is the Student-t similarity of nodes to centres, P ∝ Q² / frequency sharpens it, and γ
KL(P‖Q) joins the loss. A node's cluster is the largest entry of its row of Q.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.clustering.kmeans import kmeans_by_seed
from nafs.graph import Adjacency
from nafs.rivals.contract import Problem, Progress, Rival
from nafs.rivals.pairs import AllPairs
from nafs.rivals.tensors import features_tensor, seeded, to_numpy, train


def proximity(adjacency: Adjacency) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Pairs of neighbours (2, m), each node its own, and M = (B + B²)/2 there."""
    walk = sp.diags_array(1 / adjacency.degrees) @ (
        adjacency.to_scipy().astype(float) + sp.eye_array(adjacency.n_nodes)
    )
    walk = sp.csr_array(walk)
    both = sp.coo_array((walk + (walk @ walk).multiply(walk > 0)) / 2)
    return np.stack(both.coords).astype(np.int64), both.data.astype(np.float32)


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    hidden: int,
    width: int,
    pretraining: int,
    pretraining_lr: float,
    epochs: int,
    lr: float,
    gamma: float,
    every: int,
) -> NDArray[np.int64]:
    """Clusters of the nodes."""
    import torch
    from torch.nn.functional import elu, leaky_relu, normalize
    from torch_geometric.utils import softmax

    adjacency = problem.graph.adjacency
    pairs, weights = proximity(adjacency)
    (rows, columns), M = torch.from_numpy(pairs), torch.from_numpy(weights)
    X = features_tensor(problem)
    n = len(X)
    with seeded(seed):
        sizes = (X.shape[1], hidden, width)
        layers = []
        for before, after in pairwise(sizes):
            layers.append([torch.empty(before, after), torch.empty(after, 1), torch.empty(after, 1)])
            for tensor in layers[-1]:
                torch.nn.init.xavier_uniform_(tensor, gain=1.414).requires_grad_()

        def embed() -> Any:
            H = X
            for W, a, b in layers:
                H = H @ W
                raw = ((H @ a)[rows, 0] + (H @ b)[columns, 0]) * M
                attention = softmax(leaky_relu(raw, 0.2), rows, num_nodes=n)
                H = elu(torch.zeros_like(H).index_add(0, rows, attention[:, None] * H[columns]))
            return normalize(H)

        def similarity(z: Any, centres: Any) -> Any:
            Q = 1 / (1 + (z[:, None, :] - centres[None, :, :]).square().sum(dim=2))
            return Q / Q.sum(dim=1, keepdim=True)

        loss = AllPairs(adjacency, weighted=False)
        parameters = [tensor for layer in layers for tensor in layer]
        total = pretraining + epochs
        optimizer = torch.optim.Adam(parameters, lr=pretraining_lr, weight_decay=5e-3)
        train(lambda: loss(embed()), optimizer, pretraining, lambda done, _: progress(done, total))
        start = to_numpy(embed())
        codes = kmeans_by_seed(start, problem.n_clusters, 20)(seed)
        means = [start[codes == code].mean(axis=0) for code in range(problem.n_clusters)]
        centres = torch.from_numpy(np.stack(means)).requires_grad_()
        target: list[Any] = [None, 0]

        def step() -> Any:
            z = embed()
            Q = similarity(z, centres)
            if target[1] % every == 0:
                sharp = Q.detach() ** 2 / Q.detach().sum(dim=0)
                target[0] = sharp / sharp.sum(dim=1, keepdim=True)
            target[1] += 1
            apart = (target[0] * (target[0] / Q).log()).sum() / n
            return gamma * apart + loss(z)

        optimizer = torch.optim.Adam([*parameters, centres], lr=lr, weight_decay=5e-3)
        train(step, optimizer, epochs, lambda done, _: progress(pretraining + done, total))
        with torch.no_grad():
            return np.asarray(similarity(embed(), centres).argmax(dim=1).numpy(), np.int64)


DAEGC = Rival(
    "DAEGC",
    ("clustering",),
    fit,
    "Wang et al., Attributed graph clustering: A deep attentional embedding approach, IJCAI 2019",
    cost=15,
    settings={
        "hidden": 256,
        "width": 16,
        "pretraining": 30,
        "pretraining_lr": 5e-3,
        "epochs": 100,
        "lr": 1e-4,
        "gamma": 10.0,
        "every": 5,
    },
    tuned={"pubmed": {"pretraining_lr": 1e-3}},
    extra="rivals",
    memory=lambda graph: 3000 * graph.n_nodes + 4 * 256 * 6 * graph.adjacency.n_stored,
)
