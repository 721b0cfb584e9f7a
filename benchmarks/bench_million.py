"""Clusters, their number, and missing links of a graph of a million nodes, within a memory limit.

Each answer is computed in a process of its own. The ratio is its peak resident memory, program and graph
included, over the limit; the seconds are for the record.
"""

from __future__ import annotations

import time

from common import THREADS, Result, in_fresh_process, peak_memory

import nafs
from nafs import Graph
from nafs.datasets import power_law

NODES, COLUMNS, DEGREE = 1_000_000, 32, 10
LIMIT = 4 << 30
LINKS = 20


def run() -> list[Result]:
    results = []
    for name, function in (("clusters and their number", "clusters"), ("missing links", "links")):
        peak, seconds, answer = in_fresh_process("bench_million", function)
        results.append(
            Result.at_most(
                f"peak memory / limit of {LIMIT >> 30} GB, {name}, power law, {NODES:,} nodes x {COLUMNS}",
                peak / LIMIT,
                1,
                f"{answer}, {seconds:.0f} s",
            )
        )
    return results


def clusters() -> tuple[int, float, str]:
    """Runs in a separate process: peak memory, seconds, and the clusters in words."""
    graph = _graph()
    start = time.perf_counter()
    answer = nafs.cluster(graph, "auto", n_threads=THREADS, memory_limit=LIMIT)
    seconds = time.perf_counter() - start
    return peak_memory(), seconds, f"{answer.clustering.n_clusters} clusters"


def links() -> tuple[int, float, str]:
    """Runs in a separate process: peak memory, seconds, and the number of suggestions."""
    graph = _graph()
    start = time.perf_counter()
    embedding = nafs.embed(graph, n_hops="auto", goal="links", n_threads=THREADS, memory_limit=LIMIT)
    suggestions = embedding.suggest_links(graph, LINKS, n_threads=THREADS)
    return peak_memory(), time.perf_counter() - start, f"{suggestions.num_rows} suggestions"


def _graph() -> Graph:
    return power_law(NODES, average_degree=DEGREE, n_features=COLUMNS, seed=0)
