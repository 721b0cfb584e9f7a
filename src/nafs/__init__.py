"""Node embeddings without training: node-adaptive feature smoothing.

>>> from nafs import NAFS
>>> NAFS(n_hops=3).fit_transform([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).shape
(3, 2)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nafs._support.errors import InputError
    from nafs.embedding import Embedding, cluster, embed
    from nafs.engines.progress import Progress
    from nafs.estimator import NAFS
    from nafs.graph import Graph
    from nafs.node_embedder import NodeEmbedder
    from nafs.readers import from_edges, from_igraph, from_networkx, from_pyg, read_graph
    from nafs.smoothing import (
        mixing_time_bound,
        normalized_adjacency,
        oversmoothing_bound,
        oversmoothing_distances,
        second_eigenvalue,
        smoothed_features,
        smoothing_weights,
        stationary_state,
    )
    from nafs.structure import structural_features

__all__ = [
    "NAFS",
    "Embedding",
    "Graph",
    "InputError",
    "NodeEmbedder",
    "Progress",
    "cluster",
    "embed",
    "from_edges",
    "from_igraph",
    "from_networkx",
    "from_pyg",
    "mixing_time_bound",
    "normalized_adjacency",
    "oversmoothing_bound",
    "oversmoothing_distances",
    "read_graph",
    "second_eigenvalue",
    "smoothed_features",
    "smoothing_weights",
    "stationary_state",
    "structural_features",
]

# Packages that users name: nafs.datasets.load_dataset and so on.
_PACKAGES = (
    "datasets",
    "model",
    "pictures",
    "pipeline",
    "pyg",
    "report",
    "reproduce",
    "similarity",
    "tasks",
    "writers",
)

# Loaded at first use, so that `import nafs` costs no more than its lightest part.
_HOME = {
    "NAFS": "nafs.estimator",
    "Embedding": "nafs.embedding",
    "InputError": "nafs._support.errors",
    "NodeEmbedder": "nafs.node_embedder",
    "Graph": "nafs.graph",
    "Progress": "nafs.engines.progress",
    "cluster": "nafs.embedding",
    "embed": "nafs.embedding",
    "from_edges": "nafs.readers",
    "from_igraph": "nafs.readers",
    "from_networkx": "nafs.readers",
    "from_pyg": "nafs.readers",
    "read_graph": "nafs.readers",
    "structural_features": "nafs.structure",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("nafs")
    if name in _PACKAGES:
        return import_module(f"nafs.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'nafs' has no attribute {name!r}")
    value = getattr(import_module(_HOME.get(name, "nafs.smoothing")), name)
    if name in ("cluster", "embed"):
        from nafs._support.keywords import with_hints

        value = with_hints(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*(name for name in globals() if name.startswith("__")), *__all__, *_PACKAGES])
