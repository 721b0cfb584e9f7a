"""The features as they are, and their leading singular directions: the baselines without edges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.rivals.contract import TASKS, Problem, Progress, Rival


def raw(problem: Problem, seed: int, progress: Progress) -> NDArray[np.float32]:
    """The features as they are."""
    return problem.dense_features


def svd(problem: Problem, seed: int, progress: Progress, *, width: int) -> NDArray[np.float32]:
    """The features projected onto their leading singular directions."""
    from sklearn.decomposition import TruncatedSVD

    features = problem.features
    if sp.issparse(features):
        arrays = features.data, features.indices, features.indptr
        features = sp.csr_array(arrays, shape=features.shape)  # with indices and offsets of one type
    width = min(width, features.shape[1] - 1)
    return np.asarray(TruncatedSVD(width, random_state=0).fit_transform(features), np.float32)


RAW = Rival("raw features", TASKS, raw, "no method", cost=1, seeded=False)
SVD = Rival(
    "SVD of the features",
    TASKS,
    svd,
    "Halko et al., Finding structure with randomness, SIAM Review 2011",
    cost=1,
    settings={"width": 64},
    seeded=False,
)
