"""Complete embeddings, against the same streaming algorithm on the products of SciPy and PyTorch."""

from __future__ import annotations

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
    return [*large(), *cora()]


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

    fast, slow = side_by_side(ours, on_torch, repeats=1, warm_up=False)
    near, far = side_by_side(ours, on_scipy, repeats=3, warm_up=False)
    difference = max(float(np.abs(results["nafs"] - results[peer]).max()) for peer in ("torch", "scipy"))
    assert difference < 1e-4, f"the results differ by {difference}"
    return [
        Result.at_least(
            "SciPy / nafs, amazon0601 x 128, K=20, six r, mean",
            ratio_of(far, near),
            5,
            f"{show_seconds(nafs=near, scipy=far)}; {show_turns(far, near)}",
        ),
        Result.at_least(
            f"torch CSR / nafs, same, {THREADS} threads each",
            ratio_of(slow, fast),
            2.5,
            show_seconds(nafs=fast, torch=slow),
        ),
    ]


def cora() -> list[Result]:
    X, A, _ = load_planetoid("cora", data_home() / "planetoid")
    dense = X.toarray()
    model = NAFS(20, ensemble="concat", n_threads=THREADS)
    slow, fast = side_by_side(
        lambda: scipy_nafs(A, dense, 20, DEFAULT_R, "concat"),
        lambda: model.fit_transform(X, adjacency=A),
        repeats=9,
    )
    return [
        Result.at_least(
            "SciPy / nafs, Cora x 1433, K=20, six r, concat",
            ratio_of(slow, fast),
            5,
            f"{show_seconds(nafs=fast, scipy=slow)}; {show_turns(slow, fast)}",
        )
    ]
