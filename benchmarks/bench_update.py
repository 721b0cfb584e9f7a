"""An update of a model against a full run on the new graph: 10 new nodes with 5 edges each on arXiv.

An update changes the graph, the embedding and the states that the model keeps. It is compared with two kinds
of full run on the changed graph: one that builds the model again, which is what an update does where that is
cheaper, and one that only embeds the graph and keeps no states. Two more lines add to the latter the time to
build the changed graph from the old and the new edges and features: as arrays of positions without any ids,
and as tables with ids, which is what an update reads.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from common import THREADS, MissingDataError, Result, arxiv, random_features

from nafs import Graph, embed, from_edges
from nafs.graph import Adjacency
from nafs.model import Model, UpdateReport
from nafs.smoothing import Method

COLUMNS = 64
NEW, EDGES = 10, 5
TURNS = 5
SUCCESSIVE = 20
BOUNDS = {3: 20.0, 5: 1.0, 10: 0.5}  # a full run is used when it is cheaper, so no update is much slower


def run() -> list[Result]:
    adjacency = arxiv()
    graph = Graph(adjacency, random_features(adjacency.n_nodes, COLUMNS))
    results = []
    for hops, bound in BOUNDS.items():
        turns = []
        for turn in range(TURNS):
            # What updates drop adds up until the next full run, so each turn has a model of its own.
            model = Model.build(graph, Method(hops), n_threads=THREADS)
            node, row = _wide(adjacency), np.ones((1, COLUMNS))
            model.update(features=([node], row), tolerance=0.0)  # warms up and drops nothing
            turns.append(_against_full_run(model, hops, np.random.default_rng(turn)))
        name = f"update with {NEW} new nodes, arXiv x {COLUMNS}, K={hops}"
        results.append(_rebuilding(f"building the model again / {name}", turns, bound))
        name = f"embedding alone / {name}"
        results.append(_result(name, turns, bound, model))
        if hops == min(BOUNDS):
            results += [*_with_building(name, bound, turns, graph), _latency(model), _successive(graph, hops)]
    return [*results, _half_states(graph, min(BOUNDS))]


@dataclass(frozen=True)
class Turn:
    """One update and a full run of the same graph."""

    update: float
    full: float
    rebuilt: float  # seconds of a full run that keeps the states
    share: float
    error: float


def _wide(adjacency: Adjacency) -> int:
    """A node with 15,000 to 20,000 nodes at most two edges away, about as many as an update follows."""
    n = adjacency.n_nodes
    matrix = sp.csr_array((np.ones(adjacency.n_stored), adjacency.indices, adjacency.indptr), (n, n))
    for node in np.random.default_rng(0).permutation(n):
        around = np.zeros(n)
        around[node] = 1
        if 15_000 < np.count_nonzero(matrix @ (matrix @ around + around)) < 20_000:
            return int(node)
    raise MissingDataError("no node has a neighbourhood of the right size")


def _new_rows(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """New nodes with edges to nodes drawn at random: sources, targets, features."""
    sources, targets = np.repeat(np.arange(n, n + NEW), EDGES), rng.integers(0, n, NEW * EDGES)
    return sources, targets, rng.random((NEW, COLUMNS), dtype=np.float32)


def _update(model: Model, rng: np.random.Generator) -> UpdateReport:
    n = model.n_nodes
    sources, targets, rows = _new_rows(n, rng)
    return model.update(edges=(sources, targets), features=(np.arange(n, n + NEW), rows))


def _against_full_run(model: Model, hops: int, rng: np.random.Generator) -> Turn:
    start = time.perf_counter()
    report = _update(model, rng)
    update = time.perf_counter() - start
    changed = model.graph
    start = time.perf_counter()
    matrix = embed(changed, hops, n_threads=THREADS).matrix
    full = time.perf_counter() - start
    start = time.perf_counter()
    Model.build(changed, model.method, n_threads=THREADS)
    rebuilt = time.perf_counter() - start
    error = float(np.abs(matrix - model.matrix).max() / np.abs(matrix).max())
    return Turn(update, full, rebuilt, report.share, error)


def _with_building(name: str, bound: float, turns: list[Turn], graph: Graph) -> list[Result]:
    """The same ratio with the time to build the changed graph from the old and the new rows."""
    n, adjacency = graph.n_nodes, graph.adjacency
    once = adjacency.rows < adjacency.indices
    old = adjacency.rows[once], adjacency.indices[once]
    rows = random_features(n, COLUMNS)
    columns = [f"x{column}" for column in range(COLUMNS)]
    table = pd.DataFrame(rows, columns=columns).assign(id=np.arange(n))

    def joined(sources: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate([old[0], sources]), np.concatenate([old[1], targets])

    def from_arrays(sources: np.ndarray, targets: np.ndarray, new: np.ndarray) -> Graph:
        ends = joined(sources, targets)
        matrix = sp.coo_array((np.ones(len(ends[0]), bool), ends), (n + NEW, n + NEW))
        return Graph(matrix, np.concatenate([rows, new]), directed=False)

    def from_tables(sources: np.ndarray, targets: np.ndarray, new: np.ndarray) -> Graph:
        added = pd.DataFrame(new, columns=columns).assign(id=np.arange(n, n + NEW))
        return from_edges(joined(sources, targets), pd.concat([table, added]), id_column="id")

    results = []
    for kind, build in (("arrays without ids", from_arrays), ("tables with ids", from_tables)):
        build(*_new_rows(n, np.random.default_rng(0)))  # warms up
        ratios, seconds = [], []
        for turn, one in enumerate(turns):
            new = _new_rows(n, np.random.default_rng(turn))
            start = time.perf_counter()
            changed = build(*new)
            seconds.append(time.perf_counter() - start)
            if changed.n_nodes != n + NEW:
                raise AssertionError(f"{changed.n_nodes} nodes instead of {n + NEW}")
            ratios.append((seconds[-1] + one.full) / one.update)
        detail = (
            f"building {statistics.median(seconds):.3g} s; {len(turns)} turns, {min(ratios):.1f} to "
            f"{max(ratios):.1f}"
        )
        title = f"{name}, building the changed graph from {kind} included"
        results.append(Result.at_least(title, statistics.median(ratios), bound, detail))
    return results


def _rebuilding(name: str, turns: list[Turn], bound: float) -> Result:
    """A full run that leaves a model behind, as an update does."""
    ratios = [turn.rebuilt / turn.update for turn in turns]
    update, full = (
        statistics.median(getattr(turn, kind) for turn in turns) for kind in ("update", "rebuilt")
    )
    turned = f"{len(turns)} turns, {min(ratios):.1f} to {max(ratios):.1f}"
    detail = f"update {update:.3g} s, full run {full:.3g} s; {turned}"
    return Result.at_least(name, statistics.median(ratios), bound, detail)


def _result(name: str, turns: list[Turn], bound: float, model: Model) -> Result:
    ratios = [turn.full / turn.update for turn in turns]
    detail = (
        f"update {statistics.median(turn.update for turn in turns):.3g} s, "
        f"{100 * statistics.median(turn.share for turn in turns):.0f} % of the nodes computed anew, "
        f"{len(turns)} turns, {min(ratios):.1f} to {max(ratios):.1f}, "
        f"largest difference {max(turn.error for turn in turns):.0e}, model {model.nbytes / 1e9:.2g} GB"
    )
    return Result.at_least(name, statistics.median(ratios), bound, detail)


def _successive(graph: Graph, hops: int) -> Result:
    """Many updates in a row, one after another, without a model that is built anew."""
    model = Model.build(graph, Method(hops), n_threads=THREADS)
    rng = np.random.default_rng(2)
    seconds, n_full = [], 0
    for _ in range(SUCCESSIVE):
        start = time.perf_counter()
        n_full += _update(model, rng).full
        seconds.append(time.perf_counter() - start)
    last = _against_full_run(model, hops, rng)
    detail = (
        f"full run {last.full:.3g} s, mean update {statistics.mean(seconds):.3g} s, {n_full} of them full "
        f"runs, largest difference {last.error:.0e}"
    )
    name = f"embedding alone / mean of {SUCCESSIVE} updates in a row, K={hops}"
    return Result.at_least(name, last.full / statistics.mean(seconds), 5.0, detail)


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


def _half_states(graph: Graph, hops: int) -> Result:
    """Why states are float32: the error of an update from states in 16 bits, relative to 1e-5."""
    model = Model.build(graph, Method(hops), n_threads=THREADS)
    states = model._store.kept.states
    for block in np.array_split(states, 64):  # each row divided by its largest value, which is kept as well
        largest = np.maximum(np.abs(block).max(axis=-1, keepdims=True), np.float32(1e-30))
        block[:] = (block / largest).astype(np.float16) * largest
    turn = _against_full_run(model, hops, np.random.default_rng(0))
    name = f"error of an update from states in 16 bits / 1e-5, K={hops}"
    return Result.at_least(name, turn.error / 1e-5, 1.0, "so states are kept in 32 bits")
