"""The method: operator, stationary state, distances, weights and the hops that the kernel computes."""

from nafs.smoothing.bounds import mixing_time_bound, oversmoothing_bound, second_eigenvalue
from nafs.smoothing.inspection import (
    oversmoothing_distances,
    smoothed_features,
    smoothing_weights,
)
from nafs.smoothing.method import Method
from nafs.smoothing.operator import normalized_adjacency
from nafs.smoothing.stationary import stationary_state

__all__ = [
    "Method",
    "mixing_time_bound",
    "normalized_adjacency",
    "oversmoothing_bound",
    "oversmoothing_distances",
    "second_eigenvalue",
    "smoothed_features",
    "smoothing_weights",
    "stationary_state",
]
