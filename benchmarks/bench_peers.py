"""Complete embeddings, against the same streaming algorithm on the products of SciPy and PyTorch."""

from __future__ import annotations

import statistics

import numpy as np
from common import (
    THREADS,
    Result,
    amazon,
    data_home,
    random_features,
    ratio_of,
    show_seconds,
    show_turns,
    side_by_side,
)
from peers import scipy_nafs, torch_nafs

from nafs import NAFS
from nafs.datasets import load_planetoid
from nafs.smoothing.method import DEFAULT_R


def run() -> list[Result]:
    return [*large(), *small("cora", 20, "concat", 5, 5), *small("pubmed", 56, "mean", 7, 3)]


def large() -> list[Result]:
    import torch

    torch.set_num_threads(THREADS)
    graph = amazon()
    A, X = graph.to_scipy(), random_features(graph.n_nodes, 128)
    model = NAFS(20, n_threads=THREADS)
    results: dict[str, np.ndarray] = {}

    def ours() -> None:
        results["nafs"] = model.fit_transform(X, adjacency=A)

    def on_torch() -> None:
        results["torch"] = torch_nafs(A, X, 20, DEFAULT_R)

    def on_scipy() -> None:
        results["scipy"] = scipy_nafs(A, X, 20, DEFAULT_R)

    # A virtual machine hands out memory that nobody used lately slowly: whoever ran first would pay for all.
    NAFS(1, n_threads=THREADS).fit_transform(X, adjacency=A)
    fast, slow, ours_again, far = side_by_side(ours, on_torch, ours, on_scipy, repeats=1, warm_up=False)
    near = [statistics.mean((*fast, *ours_again))]
    difference = max(float(np.abs(results["nafs"] - results[peer]).max()) for peer in ("torch", "scipy"))
    assert difference < 1e-4, f"the results differ by {difference}"
    return [
        Result.at_least(
            "SciPy / nafs, amazon0601 x 128, K=20, six r, mean",
            ratio_of(far, near),
            8,
            f"{show_seconds(nafs=near, scipy=far)}; two turns of nafs, one of SciPy",
        ),
        Result.at_least(
            f"torch CSR / nafs, same, {THREADS} threads each",
            ratio_of(slow, near),
            6,
            show_seconds(nafs=near, torch=slow),
        ),
    ]


def small(name: str, hops: int, ensemble: str, bound: float, turns: int) -> list[Result]:
    """A citation graph: SciPy gets a dense copy of the features, made outside the measurement."""
    X, A, _ = load_planetoid(name, data_home() / "planetoid")
    dense = X.toarray()
    model = NAFS(hops, ensemble=ensemble, n_threads=THREADS)
    slow, fast = side_by_side(
        lambda: scipy_nafs(A, dense, hops, DEFAULT_R, ensemble),
        lambda: model.fit_transform(X, adjacency=A),
        repeats=turns,
        warm_up=name == "cora",
    )
    return [
        Result.at_least(
            f"SciPy / nafs, {name} x {X.shape[1]}, K={hops}, six r, {ensemble}",
            ratio_of(slow, fast),
            bound,
            f"{show_seconds(nafs=fast, scipy=slow)}; {show_turns(slow, fast)}",
        )
    ]
