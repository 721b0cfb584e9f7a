"""How long an embedding takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.graph import Graph
from nafs.smoothing import normalized_adjacency
from nafs.smoothing.method import DEFAULT_R


def seconds_of(work: Callable[[], Any], repeats: int = 3) -> list[float]:
    """Seconds of several runs; one run where it takes more than ten seconds."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
        if found[-1] > 10:
            break
    return found


def plain_nafs(graph: Graph, hops: int, r: tuple[float, ...] = DEFAULT_R) -> NDArray[np.float32]:
    """NAFS-mean as one writes it with SciPy's product: what the speed of the kernel is compared with."""
    assert graph.features is not None
    X = graph.features.toarray()
    norms = np.linalg.norm(X, axis=1)
    result = np.zeros_like(X)
    for value in r:
        operator = sp.csr_array(normalized_adjacency(graph.adjacency, value).astype(np.float32))
        state, total, weighted = X, np.zeros(len(X), np.float32), np.zeros_like(X)
        for hop in range(hops + 1):
            state = operator @ state if hop else state
            size = np.maximum(np.linalg.norm(state, axis=1) * norms, 1e-30)
            weight = np.exp(np.einsum("ij,ij->i", state, X) / size)
            weighted += weight[:, None] * state
            total += weight
        result += weighted / total[:, None]
    return np.asarray(result / np.float32(len(r)))
