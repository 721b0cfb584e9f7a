"""Maps: seconds and trustworthiness of the page's layout beside openTSNE's own settings, UMAP and PaCMAP.

All of them get the same rows: vectors of length 1 on their leading directions. Trustworthiness is the usual
one with 15 neighbors, for 2,000 rows (300 of large graphs) drawn at random: 1 if the neighbors on the map are
neighbors in the embedding, 0.5 if the map is random. Landmarks are also used where all rows could be laid
out, to see how much quality they cost.

``python tools/report_figures.py layouts`` writes the table of docs/report.md from the same measurements.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import THREADS, Result, data_home

from nafs import embed
from nafs.datasets import load_dataset, power_law
from nafs.pictures import layout as maps
from nafs.similarity.nearest import unit_rows

NEIGHBORS, JUDGED = 15, 2_000
MIDDLE_SECONDS, LARGE_SECONDS = 60, 600
MANY = 1_000_000


@dataclass(frozen=True)
class Measured:
    """One layout of one data set."""

    data: str
    nodes: int
    method: str
    seconds: float
    cpu: float
    trust: float


def trustworthiness(rows: np.ndarray, places: np.ndarray, seed: int = 0) -> float:
    """The measure of Venna and Kaski for some of the rows, ranked among all rows by cosine."""
    n, k = len(rows), NEIGHBORS
    judged = np.random.default_rng(seed).choice(n, min(JUDGED if n < 50_000 else 300, n), replace=False)
    lost = 0.0
    for row in judged:
        apart = ((places - places[row]) ** 2).sum(axis=1)
        apart[row] = np.inf
        near = np.argpartition(apart, k)[:k]
        scores = rows @ rows[row]
        scores[row] = np.inf
        ranks = (scores[:, None] > scores[near]).sum(axis=0) if n < 50_000 else _ranks(scores, near)
        lost += np.maximum(ranks - k, 0).sum()
    return float(1 - lost * 2 / (len(judged) * k * (2 * n - 3 * k - 1)))


def _ranks(scores: np.ndarray, near: np.ndarray) -> np.ndarray:
    ordered = np.sort(scores)
    return len(scores) - np.searchsorted(ordered, scores[near], side="right")


def ours(rows: np.ndarray) -> np.ndarray:
    return maps.layout(rows, n_threads=THREADS)


def quarter(rows: np.ndarray) -> np.ndarray:
    return maps.landmark_layout(rows, n_landmarks=len(rows) // 4, n_threads=THREADS)


def open_tsne(rows: np.ndarray) -> np.ndarray:
    from openTSNE import TSNE

    return np.asarray(TSNE(n_jobs=THREADS, metric="cosine", random_state=0).fit(rows))


def umap(rows: np.ndarray) -> np.ndarray:
    from umap import UMAP

    return np.asarray(UMAP(n_jobs=THREADS, metric="cosine").fit_transform(rows))


def pacmap(rows: np.ndarray) -> np.ndarray:
    from pacmap import PaCMAP

    return np.asarray(PaCMAP(distance="angular", apply_pca=False).fit_transform(rows, init="pca"))


RIVALS: dict[str, Callable[[np.ndarray], Any]] = {
    "openTSNE, its defaults": open_tsne,
    "UMAP": umap,
    "PaCMAP": pacmap,
}


def rows_of(name: str) -> np.ndarray:
    """The embedding of a data set, in the form that all layouts get."""
    if name == "power law":
        graph = power_law(MANY, average_degree=10, n_features=64, seed=0)
    else:
        data_home()
        graph = load_dataset(name).graph
    vectors = embed(graph, n_hops=5 if name == "power law" else 20, n_threads=THREADS).matrix
    return maps.leading_directions(unit_rows(vectors))


def measure(name: str, methods: dict[str, Callable[[np.ndarray], Any]]) -> list[Measured]:
    rows = rows_of(name)
    units = unit_rows(rows)
    measured = []
    for method, call in methods.items():
        start, cpu = time.perf_counter(), time.process_time()
        places = call(rows)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        measured.append(Measured(name, len(rows), method, seconds, cpu, trustworthiness(units, places)))
        print(
            f"     {name}: {method} {seconds:.1f} s ({cpu:.1f} s CPU), {measured[-1].trust:.4f}", flush=True
        )
    return measured


def warm_up() -> None:
    """Run the rivals once, so that compilation by numba is not measured."""
    warnings.simplefilter("ignore")
    rows = np.random.default_rng(0).normal(size=(600, 10)).astype(np.float32)
    for call in RIVALS.values():
        call(rows)


def run() -> list[Result]:
    large = measure("power law", {"nafs: landmarks": ours})[0]
    middle = measure("pubmed", {"nafs": ours})[0]
    return [
        Result.at_most(
            f"seconds of the map of {layout.nodes:,} nodes ({layout.data}) / {bound}",
            layout.seconds / bound,
            1,
            f"{layout.seconds:.1f} s ({layout.cpu:.1f} s of CPU), trustworthiness {layout.trust:.3f}",
        )
        for layout, bound in ((middle, MIDDLE_SECONDS), (large, LARGE_SECONDS))
    ]
