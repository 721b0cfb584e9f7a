from enum import Enum, EnumMeta
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMNS: int
OPENMP: bool

class _Distances(EnumMeta):
    def __getattr__(cls, name: str) -> Distance: ...

class Distance(Enum, metaclass=_Distances):  # further names are in kernel/distances.h
    none = ...

class Weighting(Enum):
    last = ...
    average = ...
    softmax = ...
    linear = ...

class Ensemble(Enum):
    write = ...
    add = ...
    maximum = ...

class HopKernel:
    def __init__(self, **arguments: Any) -> None: ...
    def run(
        self,
        begin: int,
        end: int,
        *,
        state: NDArray[Any] | None = None,
        following: NDArray[Any] | None = None,
        owing: bool = False,
        opening: bool = False,
        postpone: bool = False,
        parts: NDArray[np.float64] | None = None,
        sums: NDArray[np.float64] | None = None,
        parts_before: NDArray[np.float64] | None = None,
        sums_before: NDArray[np.float64] | None = None,
        computed: bool = False,
    ) -> None: ...
    def write(
        self,
        begin: int,
        end: int,
        *,
        state: NDArray[Any] | None = None,
        out: NDArray[np.float32],
        ensemble: Ensemble,
        apart: bool,
        fresh: bool,
        factor: float,
        fallback: float,
    ) -> None: ...

class ColumnKernel:
    def __init__(self, **arguments: Any) -> None: ...
    def measure(
        self, begin: int, end: int, *, unscale: NDArray[np.float32], parts: NDArray[np.float32]
    ) -> None: ...
    def smooth(
        self,
        begin: int,
        end: int,
        *,
        unscale: NDArray[np.float32],
        weights: NDArray[np.float32],
        share: NDArray[np.float32],
        out: NDArray[np.float32],
        ensemble: Ensemble,
        fresh: bool,
    ) -> None: ...

def gather(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    state: NDArray[np.float32],
    threads: int,
) -> float: ...
def components(indptr: NDArray[np.int64], indices: NDArray[np.int32], label: NDArray[np.int32]) -> int: ...
def community_order(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float32] | None,
    order: NDArray[np.int32],
    buffer: NDArray[np.uint8],
) -> None: ...
def order_bytes(nodes: int, edges: int) -> int: ...
def renumber(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float32] | None,
    order: NDArray[np.int32],
    new_indptr: NDArray[np.int64],
    new_indices: NDArray[np.int32],
    new_weights: NDArray[np.float32] | None,
    threads: int,
) -> None: ...
def use(name: str) -> None: ...
def in_use() -> str: ...
def max_threads() -> int: ...
def release_threads() -> None: ...
