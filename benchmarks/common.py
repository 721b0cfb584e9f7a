"""Shared by all benchmarks: graphs, timing in turns, and results."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nafs.graph import Adjacency, read_adjacency

THREADS = int(os.environ.get("NAFS_BENCH_THREADS", "2"))


@dataclass(frozen=True)
class Result:
    """One line of the table: a ratio, its bound, and the measurements behind it."""

    name: str
    ratio: float
    bound: str
    met: bool
    detail: str

    @classmethod
    def at_most(cls, name: str, ratio: float, bound: float, detail: str) -> Result:
        return cls(name, float(ratio), f"<= {bound:g}", bool(ratio <= bound), detail)

    @classmethod
    def at_least(cls, name: str, ratio: float, bound: float, detail: str) -> Result:
        return cls(name, float(ratio), f">= {bound:g}", bool(ratio >= bound), detail)


class MissingDataError(Exception):
    """The data of a benchmark is missing on this machine."""


def data_home() -> Path:
    """The folder of data sets; without one the benchmark is skipped."""
    home = os.environ.get("NAFS_DATA_HOME")
    if not home:
        raise MissingDataError("NAFS_DATA_HOME is not set")
    return Path(home)


def amazon() -> Adjacency:
    """The topology of amazon0601: 403,394 nodes, 4,886,816 stored edges."""
    return topology("snap_amazon0601_nofeat.npz")


def arxiv() -> Adjacency:
    """The topology of ogbn-arxiv: 169,343 nodes, 2,315,598 stored edges."""
    return topology("ogbn_arxiv_nofeat.npz")


def topology(name: str) -> Adjacency:
    """A real graph without features."""
    path = data_home() / "topology" / name
    if not path.exists():
        raise MissingDataError(f"{path.name} is missing")
    with np.load(path, allow_pickle=False) as content:
        indptr, indices = content["adj_indptr"], content["adj_indices"]
    return Adjacency(indptr.astype(np.int64), indices.astype(np.int32))


def regular(n: int, degree: int, seed: int = 0) -> Adjacency:
    """Every node points to `degree` random nodes: the worst case for caches."""
    import scipy.sparse as sp

    rng = np.random.default_rng(seed)
    indices = rng.integers(0, n, n * degree, dtype=np.int32)
    matrix = sp.csr_array((np.ones(n * degree, bool), indices, np.arange(0, n * degree + 1, degree)), (n, n))
    return read_adjacency(matrix, directed=True)


def random_features(n: int, f: int, seed: int = 0) -> np.ndarray:
    """Uniform float32 features."""
    return np.random.default_rng(seed).random((n, f), dtype=np.float32)


def side_by_side(*calls: Callable[[], object], repeats: int, warm_up: bool = True) -> list[list[float]]:
    """Seconds of each call. Calls take turns, so that a slow moment of the machine affects all of them."""
    if warm_up:
        for call in calls:
            call()
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, times in zip(calls, seconds, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return seconds


def ratio_of(slow: list[float], fast: list[float]) -> float:
    """Median ratio over the turns."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))


def show_turns(slow: list[float], fast: list[float]) -> str:
    """The number of turns, and the range of their ratios."""
    ratios = [a / b for a, b in zip(slow, fast, strict=True)]
    return f"{len(ratios)} turns, {min(ratios):.2f} to {max(ratios):.2f}"


def show_seconds(**times: list[float]) -> str:
    """Median seconds for the table."""
    return ", ".join(f"{name} {statistics.median(values):.3g} s" for name, values in times.items())


def in_fresh_process(module: str, function: str, *arguments: object) -> object:
    """Call a benchmark's function in a new process, to measure memory or imports."""
    code = (
        f"import json, sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
        f"import {module}; print(json.dumps({module}.{function}(*json.loads(sys.argv[1]))))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(run.stdout.splitlines()[-1])


def peak_memory() -> int:
    """Largest resident memory of this process so far, in bytes.

    Read from /proc, because getrusage() of a child starts at its parent's peak.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise MissingDataError("/proc/self/status has no VmHWM")
