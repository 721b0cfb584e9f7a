"""Neighbours through an index against comparing everything with everything: recall, and time at a size."""

from __future__ import annotations

import time

import numpy as np
from common import THREADS, Result

from nafs import embed
from nafs.datasets import power_law
from nafs.similarity import nearest

NODES, COLUMNS, K, ASKED = 100_000, 128, 10, 2_000


def run() -> list[Result]:
    graph = power_law(NODES, average_degree=10, n_features=COLUMNS, seed=0)
    matrix = embed(graph, n_hops=5, n_threads=THREADS).matrix
    rng = np.random.default_rng(0)
    asked = np.sort(rng.choice(NODES, ASKED, replace=False))
    start = time.perf_counter()
    found, _ = nearest(matrix, np.arange(NODES), K, exact=False, n_threads=THREADS)
    index = time.perf_counter() - start
    start = time.perf_counter()
    truth, _ = nearest(matrix, asked, K, exact=True)
    exact = (time.perf_counter() - start) * NODES / ASKED
    hits = [len(set(a) & set(b)) for a, b in zip(found[asked], truth, strict=True)]
    recall = float(np.mean(hits)) / K
    detail = f"index {index:.1f} s for all, exact {exact:.1f} s (from {ASKED:,} of them)"
    return [Result.at_least(f"recall@{K} of the index, {NODES:,} x {COLUMNS}", recall, 0.95, detail)]
