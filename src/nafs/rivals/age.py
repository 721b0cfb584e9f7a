"""AGE: a Laplacian filter, then a linear encoder trained on the most and least similar pairs of nodes.

X̃ = (I - kL)^t X with L = I - D̃^-½ Ã D̃^-½ and k = 2/3. All pairs are ranked by similarity, first of X̃ and
then, every ten epochs, of the embedding: the top pairs are positive, and as many pairs drawn from the bottom
are negative. The encoder Z = X̃W, each row scaled to [0, 1] and to length 1, is trained so that z_i · z_j
separates the two. The shares of positive and of negative pairs change from ranking to ranking; the paper
gives the rank from which on pairs are negative, which leaves 1 minus that rank for the bottom.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.graph import Graph
from nafs.rivals.contract import Problem, Progress, Rival, square_bytes
from nafs.rivals.tensors import convolution, seeded, to_numpy

_NARROW = 1e-6


def smoothed(problem: Problem, hops: int, k: float = 2 / 3) -> NDArray[np.float32]:
    """(I - kL)^t X."""
    X = problem.dense_features
    operator = convolution(problem.graph.adjacency)
    step = sp.csr_array((1 - k) * sp.eye_array(len(X)) + k * operator).astype(np.float32)
    for _ in range(hops):
        X = step @ X
    return X


def ranked_pairs(
    similarity: NDArray[np.float32], top: float, bottom: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Flat indices of the most similar pairs, and of as many drawn from the least similar ones."""
    flat = similarity.ravel()
    positive, low = _count(len(similarity), top), _count(len(similarity), bottom)
    high_bound = np.partition(flat, flat.size - positive)[flat.size - positive]
    low_bound = np.partition(flat, low - 1)[low - 1]
    highest = np.flatnonzero(flat >= high_bound)[:positive]
    lowest = np.flatnonzero(flat <= low_bound)
    return highest, rng.choice(lowest, len(highest), replace=len(lowest) < len(highest))


def _count(n: int, share: float) -> int:
    """A share of all pairs of nodes."""
    return max(1, round(share * n * n))


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    hops: int,
    top: tuple[float, float],
    bottom: tuple[float, float],
    width: int,
    epochs: int,
    lr: float,
    every: int,
    batch: int,
) -> NDArray[np.float32]:
    """The scaled embedding."""
    import torch
    from torch.nn.functional import binary_cross_entropy, normalize

    X = torch.from_numpy(smoothed(problem, hops))
    n = len(X)
    rng = np.random.default_rng(seed)
    rankings, rounds = max(1, epochs // every), min(every, epochs)
    with seeded(seed):
        encode = torch.nn.Linear(X.shape[1], width)
        torch.nn.init.xavier_uniform_(encode.weight)
        optimizer = torch.optim.Adam(encode.parameters(), lr=lr)

        def embed() -> Any:
            # The encoder works row by row: encode every node once and let pairs gather.
            z = encode(X)
            least, most = z.min(dim=1, keepdim=True)[0], z.max(dim=1, keepdim=True)[0]
            return normalize((z - least) / (most - least + _NARROW))

        ranked = normalize(X)
        shares = [[b + i / rankings * (e - b) for b, e in (top, bottom)] for i in range(rankings)]
        total = rounds * sum(-(-2 * _count(n, high) // batch) for high, _ in shares)
        done = 0
        for high, low in shares:
            pairs = np.concatenate(ranked_pairs(to_numpy(ranked @ ranked.T), high, low, rng))
            truth = np.arange(len(pairs)) < len(pairs) // 2
            for order in (rng.permutation(len(pairs)) for _ in range(rounds)):
                for start in range(0, len(order), batch):
                    some = order[start : start + batch]
                    rows, columns = (torch.from_numpy(part) for part in np.divmod(pairs[some], n))
                    z = embed()
                    chance = (z[rows] * z[columns]).sum(dim=1).clamp(_NARROW, 1 - _NARROW)
                    optimizer.zero_grad()
                    binary_cross_entropy(chance, torch.from_numpy(truth[some].astype(np.float32))).backward()
                    optimizer.step()
                    done += 1
                    progress(done, total)
            with torch.no_grad():
                ranked = embed()
        return to_numpy(ranked)


def _memory(graph: Graph) -> int:
    return square_bytes(graph, 4)  # similarities, a copy that is partitioned, and numbers of pairs


AGE = Rival(
    "AGE",
    ("links", "clustering"),
    fit,
    "Cui et al., Adaptive graph encoder for attributed graph embedding, KDD 2020",
    cost=420,
    growth=2.0,
    settings={
        "hops": 8,
        "top": (0.011, 0.001),
        "bottom": (0.9, 0.5),
        "width": 500,
        "epochs": 400,
        "lr": 1e-3,
        "every": 10,
        "batch": 10_000,
    },
    tuned={
        "citeseer": {"hops": 3, "top": (0.0015, 0.001)},
        "wiki": {"hops": 1, "top": (0.0011, 0.001)},
        "pubmed": {"hops": 35, "top": (0.0013, 0.001), "bottom": (0.3, 0.2)},
    },
    extra="rivals",
    memory=_memory,
)
