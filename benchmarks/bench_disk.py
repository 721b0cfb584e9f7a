"""The disk and the Dask engine against the memory engine, with less memory than the features need."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

from common import THREADS, Result, in_fresh_process

from nafs import Graph
from nafs._support.budget import show_bytes
from nafs.datasets import power_law

NODES, EDGES, FEATURES, HOPS = 1_000_000, 20_000_000, 256, 10


def run() -> list[Result]:
    nbytes = NODES * FEATURES * 4
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "graph"
        power_law(NODES, average_degree=2 * EDGES / NODES, n_features=FEATURES).save(graph)
        memory, _ = in_fresh_process("bench_disk", "seconds", str(graph), "memory", None)
        results = []
        for name, engine, limit, bound in (
            ("disk, limit half of X", "disk", nbytes // 2, 2.0),
            ("disk, limit a quarter of X", "disk", nbytes // 4, 2.5),
            (f"Dask, {THREADS} workers of one thread", "dask", None, 1.8),
        ):
            elapsed, peak = in_fresh_process("bench_disk", "seconds", str(graph), engine, limit)
            detail = f"{engine} {elapsed:.1f} s, memory {memory:.1f} s, {HOPS} hops, r 0.5"
            label = f"{name} / memory, {NODES:,} nodes x {FEATURES}"
            results.append(Result.at_most(label, elapsed / memory, bound, detail))
            if limit is not None:
                detail = f"{show_bytes(peak)} of anonymous memory, limit {show_bytes(limit)}"
                results.append(Result.at_most(f"peak memory / limit, {name}", peak / limit, 1, detail))
    return results


def seconds(folder: str, engine: str, limit: int | None) -> tuple[float, int]:
    """Runs in a separate process: the seconds and the peak anonymous memory of one embedding."""
    from nafs import embed

    graph = Graph.load(folder)
    peak, done = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.02):
            peak = max(peak, anonymous_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    try:
        embed(
            graph,
            n_hops=HOPS,
            r=0.5,
            engine=engine,
            memory_limit=limit,
            n_threads=THREADS,
            work_dir=None if engine == "memory" else f"{folder}.{engine}",
        )
    finally:
        done.set()
        watcher.join()
    return time.perf_counter() - start, peak


def anonymous_memory() -> int:
    """Anonymous resident memory of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0
