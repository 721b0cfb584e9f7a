"""Neighbours through an index against comparing everything with everything: recall, and time at a size.

Features at random around those of the node's class: after the default number of hops, and after few, when
rows still lie in all directions and an index has a hard time. And the best missing links of a large graph,
which take no index: only pairs of long rows can be among them.
"""

from __future__ import annotations

import time

import numpy as np
from common import THREADS, Result

from nafs import embed
from nafs.datasets import power_law
from nafs.similarity import nearest, suggest_pairs

NODES, COLUMNS, K, ASKED = 100_000, 128, 10, 2_000
MANY, LINKS = 1_000_000, 20


def run() -> list[Result]:
    return [*(_recall(hops) for hops in (20, 5)), _links()]


def _recall(hops: int) -> Result:
    graph = power_law(NODES, average_degree=10, n_features=COLUMNS, seed=0)
    matrix = embed(graph, n_hops=hops, n_threads=THREADS).matrix
    rng = np.random.default_rng(0)
    asked = np.sort(rng.choice(NODES, ASKED, replace=False))
    start = time.perf_counter()
    found, _ = nearest(matrix, asked, K, exact=False, n_threads=THREADS)
    index = time.perf_counter() - start
    start = time.perf_counter()
    truth, _ = nearest(matrix, asked, K, exact=True)
    exact = (time.perf_counter() - start) * NODES / ASKED
    hits = [len(set(a) & set(b)) for a, b in zip(found, truth, strict=True)]
    recall = float(np.mean(hits)) / K
    detail = f"index made and searched for {ASKED:,} in {index:.0f} s, exact for all in {exact:.0f} s"
    label = f"recall@{K} of the index, {NODES:,} x {COLUMNS}, {hops} hops"
    return Result.at_least(label, recall, 0.95, detail)


def _links() -> Result:
    graph = power_law(MANY, average_degree=10, n_features=COLUMNS, seed=0)
    start = time.perf_counter()
    matrix = embed(graph, n_hops=10, n_threads=THREADS).matrix
    made = time.perf_counter() - start
    start = time.perf_counter()
    pairs, _ = suggest_pairs(graph.adjacency, matrix, LINKS)
    found = time.perf_counter() - start
    assert len(pairs) == LINKS
    label = f"the best {LINKS} missing links / embedding, {MANY:,} x {COLUMNS}, 10 hops"
    return Result.at_most(label, found / made, 1, f"links {found:.1f} s, embedding {made:.1f} s")
