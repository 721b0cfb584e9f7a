"""An update of a model against a full run on the new graph: 10 new nodes with 5 edges each on arXiv."""

from __future__ import annotations

import statistics
import time

import numpy as np
from common import THREADS, MissingDataError, Result, data_home, random_features

from nafs import Graph, embed
from nafs.graph import Adjacency
from nafs.model import Model
from nafs.smoothing import Method

COLUMNS = 64
NEW, EDGES = 10, 5
TURNS = 5
BOUNDS = {3: 20.0, 5: 1.0, 10: 0.5}  # a full run is used when it is cheaper, so no update is much slower


def run() -> list[Result]:
    path = data_home() / "topology" / "ogbn_arxiv_nofeat.npz"
    if not path.exists():
        raise MissingDataError(f"{path.name} is missing")
    with np.load(path, allow_pickle=False) as content:
        indptr, indices = content["adj_indptr"], content["adj_indices"]
    adjacency = Adjacency(indptr.astype(np.int64), indices.astype(np.int32))
    graph = Graph(adjacency, random_features(adjacency.n_nodes, COLUMNS))
    results = []
    for hops, bound in BOUNDS.items():
        model = Model.build(graph, Method(hops), n_threads=THREADS)
        ratios, updates, shares = [], [], []
        rng = np.random.default_rng(0)
        error = 0.0
        for turn in range(TURNS):
            n = model.n_nodes
            sources = np.repeat(np.arange(n, n + NEW), EDGES)
            targets = rng.integers(0, graph.n_nodes, NEW * EDGES)
            rows = rng.random((NEW, COLUMNS), dtype=np.float32)
            start = time.perf_counter()
            report = model.update(edges=(sources, targets), features=(np.arange(n, n + NEW), rows))
            updates.append(time.perf_counter() - start)
            shares.append(report.share)
            changed = model.graph
            start = time.perf_counter()
            full = embed(changed, hops, n_threads=THREADS)
            ratios.append((time.perf_counter() - start) / updates[-1])
            if turn == 0:
                error = float(np.abs(full.matrix - model.matrix).max() / np.abs(full.matrix).max())
        share = 100 * statistics.median(shares)
        detail = (
            f"update {statistics.median(updates):.3g} s, {share:.0f} % of the nodes computed anew, "
            f"largest difference {error:.0e}, model {model.nbytes / 1e9:.2g} GB"
        )
        name = f"full run / update with {NEW} new nodes, arXiv x {COLUMNS}, K={hops}"
        results.append(Result.at_least(name, statistics.median(ratios), bound, detail))
        results += [_latency(model)] if hops == min(BOUNDS) else []
    return results


def _latency(model: Model) -> Result:
    """embed_new for one node: milliseconds, relative to the limit of 10."""
    rng = np.random.default_rng(1)
    seconds, alike = [], []
    for _ in range(20):
        x, neighbors = rng.random(COLUMNS, dtype=np.float32), rng.integers(0, 100_000, EDGES)
        start = time.perf_counter()
        row = model.embed_new(x, neighbors)
        seconds.append(time.perf_counter() - start)
    n = model.n_nodes
    model.update(edges=([n] * EDGES, neighbors), features=([n], [x]))
    full = model.matrix[-1]
    alike = float(row @ full / np.linalg.norm(row) / np.linalg.norm(full))
    detail = f"median of 20; cosine to the exact result {alike:.5f}"
    return Result.at_most("embed_new for one node, ms", 1000 * statistics.median(seconds), 10, detail)
