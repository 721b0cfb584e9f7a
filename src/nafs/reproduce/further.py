"""Further graphs to measure on: files NAME.npz in the folder "plain" of the data folder.

Each holds plain arrays: ``adj_indptr`` and ``adj_indices`` (the neighbors), ``feat_indptr``,
``feat_indices``, ``feat_data`` and ``feat_shape`` (the features), and ``labels``.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nafs.datasets import Dataset
from nafs.datasets.download import data_home
from nafs.graph import Graph


def further_graphs() -> dict[str, Path]:
    """The files by the name of the graph, such as "cora-ml" for cora_ml.npz."""
    return {path.stem.replace("_", "-"): path for path in sorted((data_home() / "plain").glob("*.npz"))}


@lru_cache(maxsize=1)
def load_further(name: str) -> Dataset:
    """One of the further graphs, without directions."""
    with np.load(further_graphs()[name], allow_pickle=False) as arrays:
        n = len(arrays["adj_indptr"]) - 1
        ones = np.ones(len(arrays["adj_indices"]), bool)
        edges = sp.csr_array((ones, arrays["adj_indices"], arrays["adj_indptr"]), shape=(n, n))
        features = sp.csr_array(
            (arrays["feat_data"], arrays["feat_indices"], arrays["feat_indptr"]),
            shape=tuple(arrays["feat_shape"]),
        )
        labels = arrays["labels"]
    return Dataset(name, "a further graph", Graph(edges.maximum(edges.T), features, labels=labels))
