"""float16 states: speed, memory, and effect on clusters."""

from __future__ import annotations

import numpy as np
from common import (
    THREADS,
    Result,
    amazon,
    data_home,
    random_features,
    ratio_of,
    regular,
    show_seconds,
    side_by_side,
)

from nafs import NAFS
from nafs.datasets import load_planetoid
from nafs.graph import Adjacency
from nafs.smoothing.hops import Layout
from nafs.smoothing.method import Method


def run() -> list[Result]:
    layouts = [
        Layout(1000, 128, 1, dtype).nbytes(Method(weighting="last")) for dtype in ("float16", "float32")
    ]
    return [
        speed("random graph 100k x 50 neighbours x 128", regular(100_000, 50), 1.3),
        speed("amazon0601 x 128", amazon(), 0.95),
        Result.at_most("bytes of float16 / float32 states", layouts[0] / layouts[1], 0.55, "estimated"),
        clusters(),
    ]


def speed(name: str, graph: Adjacency, bound: float) -> Result:
    X = random_features(graph.n_nodes, 128)
    models = [NAFS(10, 0.5, state_dtype=dtype, n_threads=THREADS) for dtype in ("float32", "float16")]
    full, half = side_by_side(
        *(lambda model=model: model.fit_transform(X, adjacency=graph) for model in models), repeats=5
    )
    return Result.at_least(
        f"float32 / float16, {name}, K=10",
        ratio_of(full, half),
        bound,
        show_seconds(float32=full, float16=half),
    )


def clusters() -> Result:
    from sklearn.cluster import KMeans
    from sklearn.metrics import normalized_mutual_info_score

    X, A, labels = load_planetoid("cora", data_home() / "planetoid")
    means = []
    for dtype in ("float32", "float16"):
        Z = NAFS(20, state_dtype=dtype).fit_transform(X, adjacency=A)
        runs = [KMeans(7, n_init=10, random_state=seed).fit_predict(Z) for seed in range(10)]
        means.append(100 * np.mean([normalized_mutual_info_score(labels, clusters) for clusters in runs]))
    detail = f"NMI float32 {means[0]:.2f}, float16 {means[1]:.2f}; 10 seeds"
    return Result.at_most("NMI points lost with float16, Cora K-means", abs(means[0] - means[1]), 1.0, detail)
