from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMNS: int
OPENMP: bool

class Distance(Enum):
    none = ...
    cosine = ...
    euclidean = ...
    stationary_cosine = ...

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
        postpone: bool = False,
        parts: NDArray[np.float64] | None = None,
        given: NDArray[np.float64] | None = None,
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

class Lists:
    def __init__(
        self,
        starts: NDArray[np.int64],
        counts: NDArray[np.int64],
        base: NDArray[np.int32],
        tail: NDArray[np.int32],
        base_weights: NDArray[np.float32] | None,
        tail_weights: NDArray[np.float32] | None,
    ) -> None: ...

class Limits:
    def __init__(
        self,
        scale: NDArray[np.float32],
        largest: NDArray[np.float32],
        dropped: NDArray[np.float32],
        average: bool,
    ) -> None: ...

def reach(
    readers: Lists,
    rows: NDArray[np.int32],
    sizes: NDArray[np.float32],
    inverse_degree: NDArray[np.float32],
    forced: NDArray[np.uint8],
    limits: Limits,
    hop: int,
    tolerance: float,
    sums: NDArray[np.float32],
    threads: int,
) -> NDArray[np.int32]: ...
def differences(
    lists: Lists,
    rows: NDArray[np.int32],
    always: int,
    position: NDArray[np.int32],
    before: NDArray[np.float32],
    inverse_degree: NDArray[np.float32],
    edges: NDArray[np.float32],
    limits: Limits,
    hop: int,
    tolerance: float,
    out: NDArray[np.float32],
    sizes: NDArray[np.float32],
    followed: NDArray[np.uint8],
    threads: int,
) -> None: ...
def apply(
    rows: NDArray[np.int32],
    where: NDArray[np.int32],
    differences: list[NDArray[np.float32]],
    lists: Lists,
    position: NDArray[np.int32],
    before: NDArray[np.float32],
    inverse_degree: NDArray[np.float32],
    reached: NDArray[np.uint8],
    extra: NDArray[np.int32],
    edges: NDArray[np.float32],
    limits: Limits,
    tolerance: float,
    earlier: NDArray[np.int32],
    x_before: NDArray[np.float32],
    scale_before: NDArray[np.float32],
    x: NDArray[np.float32],
    weighting: Weighting,
    floor: float,
    maximum: bool,
    states: NDArray[np.float32],
    embedding: NDArray[np.float32],
    largest: NDArray[np.float32],
    touched: NDArray[np.uint8],
    threads: int,
) -> None: ...
def pack(
    state: NDArray[np.float32],
    begin: int,
    end: int,
    groups: int,
    unit: float,
    hop: int,
    first: int,
    states: NDArray[np.float32],
    threads: int,
) -> None: ...
def use(name: str) -> None: ...
def in_use() -> str: ...
def max_threads() -> int: ...
def release_threads() -> None: ...
