"""GALA: a symmetric graph autoencoder whose encoder smooths and whose decoder sharpens.

Encoder layers are relu(Â H W) with Â = D̃^-½ Ã D̃^-½, decoder layers relu(B H W) with the sharpening
B = D̂^-½ (2I - A) D̂^-½, D̂ = 2I + D, whose spectral radius is at most 1; the last layer of each is linear. The
loss is ½‖X - X̂‖². For link prediction γ times the loss of GAE is added, as we remember the paper; its text
was not at hand to check it.

The paper and its program do not state the settings for citation graphs. Widths of 400 and 100 are our choice,
and so are 25 epochs at a rate of 0.005: there the modularity of the clusters on Cora, which needs no labels,
is highest (0.63, against 0.29 after 12 epochs and 0.50 after 50). After that the network overfits single
words. For links γ = 1 and 50 epochs had the highest AUC on validation edges of Cora (0.946; 0.925 after 25
epochs, 0.942 with γ = 10, 0.849 with γ = 0).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.graph import Adjacency
from nafs.rivals.contract import Problem, Progress, Rival, dense_bytes
from nafs.rivals.pairs import AllPairs
from nafs.rivals.tensors import features_tensor, hop_tensor, seeded, sparse_tensor, to_numpy, train


def sharpening(adjacency: Adjacency) -> Any:
    """D̂^-½ (2I - A) D̂^-½ with D̂ = 2I + D, as a SciPy matrix."""
    eye = sp.eye_array(adjacency.n_nodes)
    scale = sp.diags_array((1 + adjacency.degrees) ** -0.5)  # degrees count a self-loop already
    return sp.csr_array(scale @ (2 * eye - adjacency.to_scipy().astype(float)) @ scale)


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    widths: tuple[int, int],
    epochs: int,
    lr: float,
    gamma: float,
) -> NDArray[np.float32]:
    """The output of the encoder."""
    import torch
    from torch.nn import ReLU
    from torch_geometric.nn import GCNConv, Sequential

    smooth = hop_tensor(problem.graph.adjacency)
    sharp = sparse_tensor(sharpening(problem.graph.adjacency))
    X, target = features_tensor(problem), torch.from_numpy(problem.dense_features)
    sizes = (X.shape[1], *widths)
    with seeded(seed):

        def layers(sizes: tuple[int, ...]) -> Any:
            parts: list[Any] = []
            for before, after in pairwise(sizes):
                parts += [(GCNConv(before, after, bias=False, normalize=False), "x, a -> x"), ReLU()]
            return Sequential("x, a", parts[:-1])

        encode, decode = layers(sizes), layers(sizes[::-1])
        edges = AllPairs(problem.graph.adjacency)

        def step() -> Any:
            Z = encode(X, smooth)
            loss = (target - decode(Z, sharp)).square().sum() / (2 * len(X))
            return loss + gamma * edges(Z) if gamma else loss

        parameters = [*encode.parameters(), *decode.parameters()]
        train(step, torch.optim.Adam(parameters, lr=lr), epochs, progress)
        return to_numpy(encode(X, smooth))


GALA = Rival(
    "GALA",
    ("links", "clustering"),
    fit,
    "Park et al., Symmetric graph convolutional autoencoder for unsupervised graph representation learning, "
    "ICCV 2019",
    cost=8,
    settings={"widths": (400, 100), "epochs": 25, "lr": 5e-3, "gamma": 0.0},
    tuned={"links": {"gamma": 1.0, "epochs": 50}},
    extra="rivals",
    memory=lambda graph: 3 * dense_bytes(graph),
)
