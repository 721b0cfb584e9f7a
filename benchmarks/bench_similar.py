"""Recall and time of the index against exact search, and the time to suggest links in a large graph.

Features are random around those of the node's class. Nodes are embedded with the default number of hops, and
with few hops, where vectors point in all directions and are hard to index. Suggesting links needs no index:
only pairs of long rows can have the largest inner products.
"""

from __future__ import annotations

import time

import numpy as np
from common import THREADS, Result

from nafs import embed
from nafs.datasets import power_law
from nafs.similarity import nearest, suggest_pairs

NODES, COLUMNS, K, QUERIES = 100_000, 128, 10, 2_000
MANY, LINKS = 1_000_000, 20


def run() -> list[Result]:
    return [*(_recall(hops) for hops in (20, 5)), _links()]


def _recall(hops: int) -> Result:
    graph = power_law(NODES, average_degree=10, n_features=COLUMNS, seed=0)
    matrix = embed(graph, n_hops=hops, n_threads=THREADS).matrix
    rng = np.random.default_rng(0)
    queries = np.sort(rng.choice(NODES, QUERIES, replace=False))
    start = time.perf_counter()
    neighbors, _ = nearest(matrix, queries, K, exact=False, n_threads=THREADS)
    index = time.perf_counter() - start
    start = time.perf_counter()
    truth, _ = nearest(matrix, queries, K, exact=True)
    exact = (time.perf_counter() - start) * NODES / QUERIES
    hits = [len(set(a) & set(b)) for a, b in zip(neighbors, truth, strict=True)]
    recall = float(np.mean(hits)) / K
    detail = f"index made and searched for {QUERIES:,} in {index:.0f} s, exact for all in {exact:.0f} s"
    label = f"recall@{K} of the index, {NODES:,} x {COLUMNS}, {hops} hops"
    return Result.at_least(label, recall, 0.95, detail)


def _links() -> Result:
    graph = power_law(MANY, average_degree=10, n_features=COLUMNS, seed=0)
    start = time.perf_counter()
    matrix = embed(graph, n_hops=10, n_threads=THREADS).matrix
    embedding = time.perf_counter() - start
    start = time.perf_counter()
    pairs, _ = suggest_pairs(graph.adjacency, matrix, LINKS)
    suggesting = time.perf_counter() - start
    assert len(pairs) == LINKS
    label = f"the best {LINKS} missing links / embedding, {MANY:,} x {COLUMNS}, 10 hops"
    return Result.at_most(
        label, suggesting / embedding, 1, f"links {suggesting:.1f} s, embedding {embedding:.1f} s"
    )
