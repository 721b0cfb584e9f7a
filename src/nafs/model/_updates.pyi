import numpy as np
from numpy.typing import NDArray

from nafs.smoothing._kernel import Weighting

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
        effect: NDArray[np.float32],
        largest: NDArray[np.float32],
        dropped: NDArray[np.float32],
        average: bool,
    ) -> None: ...

class Latest:
    def __init__(
        self,
        places: NDArray[np.int32],
        values: NDArray[np.float32],
        peaks: NDArray[np.float32],
        halves: NDArray[np.uint16] | None,
        units: NDArray[np.float32],
    ) -> None: ...

class Reached:
    def __init__(self) -> None: ...
    @property
    def rows(self) -> NDArray[np.int32]: ...

def reach(
    readers: Lists,
    reads: Lists,
    rows: NDArray[np.int32],
    sizes: NDArray[np.float32],
    inverse_degree: NDArray[np.float32],
    first: NDArray[np.int32],
    forced: NDArray[np.uint8],
    limits: Limits,
    hop: int,
    tolerance: float,
    spare: float,
    own: float,
    threads: int,
) -> Reached: ...
def differences(
    reached: Reached,
    always: int,
    latest: Latest,
    inverse_degree: NDArray[np.float32],
    edges: NDArray[np.float32],
    limits: Limits,
    hop: int,
    tolerance: float,
    out: NDArray[np.float32],
    halves: NDArray[np.uint16],
    units: NDArray[np.float32],
    sizes: NDArray[np.float32],
    peaks: NDArray[np.float32],
    followed: NDArray[np.uint8],
    threads: int,
) -> None: ...
def rewired(
    lists: Lists,
    rows: NDArray[np.int32],
    hop: int,
    states: NDArray[np.float32],
    x: NDArray[np.float32],
    scale: NDArray[np.float32],
    inverse_degree: NDArray[np.float32],
    position: NDArray[np.int32],
    before: NDArray[np.float32],
    out: NDArray[np.float32],
    threads: int,
) -> None: ...
def apply(
    rows: NDArray[np.int32],
    where: NDArray[np.int32],
    differences: list[NDArray[np.float32]],
    last: Reached,
    latest: Latest,
    inverse_degree: NDArray[np.float32],
    reached: NDArray[np.int32],
    extra: NDArray[np.int32],
    edges: NDArray[np.float32],
    limits: Limits,
    tolerance: float,
    renewed: NDArray[np.uint8],
    x: NDArray[np.float32],
    scale: NDArray[np.float32],
    weighting: Weighting,
    floor: float,
    maximum: bool,
    states: NDArray[np.float32],
    weights: NDArray[np.float32],
    embedding: NDArray[np.float32],
    largest: NDArray[np.float32],
    effect: NDArray[np.float32],
    touched: NDArray[np.uint8],
    threads: int,
) -> None: ...
def pack(
    state: NDArray[np.float32],
    distances: NDArray[np.float32] | None,
    begin: int,
    end: int,
    groups: int,
    unit: float,
    hop: int,
    first: int,
    weighting: Weighting,
    floor: float,
    states: NDArray[np.float32],
    weights: NDArray[np.float32],
    norms: NDArray[np.float32],
    threads: int,
) -> None: ...
def use(name: str) -> None: ...
