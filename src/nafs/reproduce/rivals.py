"""Embeddings without training that the method is compared with, on the same kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.embedding import embed
from nafs.graph import Graph

Rival = Callable[[Graph], NDArray[np.float32]]


def raw(graph: Graph) -> NDArray[np.float32]:
    """The features as they are."""
    assert graph.features is not None
    found: Any = graph.features.sparse.toarray() if graph.features.dense is None else graph.features.dense
    return np.asarray(found)


def svd(graph: Graph) -> NDArray[np.float32]:
    """The features projected onto their 64 leading singular directions."""
    from sklearn.decomposition import TruncatedSVD

    assert graph.features is not None
    features: Any = graph.features.sparse if graph.features.dense is None else graph.features.dense
    width = min(64, features.shape[1] - 1)
    return np.asarray(TruncatedSVD(width, random_state=0).fit_transform(features), np.float32)


def sgc(graph: Graph) -> NDArray[np.float32]:
    """Simple graph convolution (Wu et al., 2019): hop 2 alone, symmetric normalisation."""
    return embed(graph, n_hops=2, r=0.5, weighting="last").matrix


def ssgc(graph: Graph) -> NDArray[np.float32]:
    """Simple spectral graph convolution (Zhu and Koniusz, 2021): 0.95 mean of hops 1..16 + 0.05 X."""
    hops, keep = 16, 0.05
    own = raw(graph)
    mean = embed(graph, n_hops=hops, r=0.5, weighting="average").matrix  # of hops 0..16
    return np.asarray((1 - keep) * (mean * (hops + 1) - own) / hops + keep * own, np.float32)


def sign(graph: Graph) -> NDArray[np.float32]:
    """SIGN (Frasca et al., 2020) without its network: hops 0..3 side by side."""
    return np.concatenate(
        [raw(graph), *(embed(graph, n_hops=k, r=0.5, weighting="last").matrix for k in (1, 2, 3))], axis=1
    )


RIVALS: dict[str, Rival] = {
    "raw features": raw,
    "SVD of the features": svd,
    "SGC, 2 hops": sgc,
    "SSGC, 16 hops": ssgc,
    "SIGN, 3 hops": sign,
}
