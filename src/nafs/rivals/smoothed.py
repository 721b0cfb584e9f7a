"""SGC, SSGC and SIGN: fixed hops of D̃^-½ Ã D̃^-½ on the features, without their classifiers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nafs.embedding import embed
from nafs.estimator import NAFS
from nafs.rivals.contract import TASKS, Problem, Progress, Rival, dense_bytes


def sgc(problem: Problem, seed: int, progress: Progress, *, hops: int) -> NDArray[np.float32]:
    """The last hop alone: Â^k X."""
    return embed(problem.graph, n_hops=hops, r=0.5, weighting="last", dim="full").matrix


def ssgc(problem: Problem, seed: int, progress: Progress, *, hops: int, keep: float) -> NDArray[np.float32]:
    """The mean of hops 1..K, and a share of the features themselves."""
    own = problem.dense_features
    mean = embed(problem.graph, n_hops=hops, r=0.5, weighting="average", dim="full").matrix  # of hops 0..K
    return np.asarray((1 - keep) * (mean * (hops + 1) - own) / hops + keep * own, np.float32)


def sign(problem: Problem, seed: int, progress: Progress, *, hops: int) -> NDArray[np.float32]:
    """Hops 0..K side by side."""
    states = (X for _, X in NAFS(hops, 0.5, weighting="last").sweep(problem.graph, hops=range(hops + 1)))
    return np.concatenate(list(states), axis=1)


SGC = Rival(
    "SGC",
    TASKS,
    sgc,
    "Wu et al., Simplifying graph convolutional networks, ICML 2019",
    cost=1,
    settings={"hops": 2},
    seeded=False,
)
SSGC = Rival(
    "SSGC",
    TASKS,
    ssgc,
    "Zhu and Koniusz, Simple spectral graph convolution, ICLR 2021",
    cost=1,
    settings={"hops": 16, "keep": 0.05},
    seeded=False,
)
SIGN = Rival(
    "SIGN",
    TASKS,
    sign,
    "Frasca et al., SIGN: Scalable inception graph neural networks, 2020",
    cost=1,
    settings={"hops": 3},
    seeded=False,
    memory=lambda graph: 4 * dense_bytes(graph),
)
