"""Node embeddings without training: node-adaptive feature smoothing.

>>> from nafs import NAFS
>>> NAFS(n_hops=3).fit_transform([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).shape
(3, 2)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nafs.engines.memory import Progress
    from nafs.estimator import NAFS
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

__all__ = [
    "NAFS",
    "Progress",
    "mixing_time_bound",
    "normalized_adjacency",
    "oversmoothing_bound",
    "oversmoothing_distances",
    "second_eigenvalue",
    "smoothed_features",
    "smoothing_weights",
    "stationary_state",
]

# Loaded at first use, so that `import nafs` costs no more than its lightest part.
_HOME = {"NAFS": "nafs.estimator", "Progress": "nafs.engines.memory"}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("nafs")
    if name not in __all__:
        raise AttributeError(f"module 'nafs' has no attribute {name!r}")
    value = getattr(import_module(_HOME.get(name, "nafs.smoothing")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
