"""Clusters, their number, and missing links of a graph of a million nodes, within a memory limit.

Each answer is computed in a process of its own. The ratio is its peak resident memory, program and graph
included, over the limit; the seconds, of the clock and of all processors, are for the record. Lines on the
terminal show how far it is.
"""

from __future__ import annotations

import sys
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
                f"{answer}, {seconds}",
            )
        )
    return results


def clusters() -> tuple[int, str, str]:
    """Runs in a separate process: peak memory, seconds, and the clusters in words."""
    graph, clock = _graph(), _Clock()
    clock.say("looking for clusters")
    answer = nafs.cluster(graph, "auto", n_threads=THREADS, memory_limit=LIMIT)
    return peak_memory(), clock.seconds(), f"{answer.clustering.n_clusters} clusters"


def links() -> tuple[int, str, str]:
    """Runs in a separate process: peak memory, seconds, and the number of suggestions."""
    graph, clock = _graph(), _Clock()
    clock.say("choosing hops, and embedding")
    embedding = nafs.embed(graph, n_hops="auto", goal="links", n_threads=THREADS, memory_limit=LIMIT)
    clock.say(f"embedded with {embedding.choice.n_hops} hops, looking for missing links")
    suggestions = embedding.suggest_links(graph, LINKS, n_threads=THREADS, progress=clock.advance)
    return peak_memory(), clock.seconds(), f"{suggestions.num_rows} suggestions"


class _Clock:
    """Times an answer, and prints how far it is."""

    def __init__(self) -> None:
        self.start, self.processors, self.share = time.perf_counter(), time.process_time(), 0.0

    def say(self, text: str) -> None:
        print(f"{time.perf_counter() - self.start:6.0f} s  {text}", file=sys.stderr, flush=True)

    def advance(self, share: float) -> None:
        """A further share of the work is done; prints one line for each tenth."""
        tenths = int(10 * self.share + 1e-6)
        self.share += share
        if int(10 * self.share + 1e-6) > tenths:
            self.say(f"{100 * self.share:.0f} % done")

    def seconds(self) -> str:
        wall, processors = time.perf_counter() - self.start, time.process_time() - self.processors
        return f"{wall:.0f} s, {processors:.0f} s of all processors"


def _graph() -> Graph:
    return power_law(NODES, average_degree=DEGREE, n_features=COLUMNS, seed=0)
