"""Peak resident memory above the inputs, in units of the feature matrix."""

from __future__ import annotations

from common import THREADS, Result, amazon, in_fresh_process, peak_memory, random_features

HOPS = 10  # enough that renumbering the nodes pays


def run() -> list[Result]:
    amazon()  # without the data, skip before starting a process
    results = []
    for name, settings, bound in (
        ("default", {}, 5.0),
        ("float16 states", {"state_dtype": "float16"}, 4.0),
        ("memory_limit of 12 matrices", {"memory_limit": 12 * 403_394 * 128 * 4}, 12.0),
    ):
        ratio = in_fresh_process("bench_memory", "growth", settings)
        detail = f"peak growth / bytes of X, mean of six r, K={HOPS}, nodes in community order"
        results.append(Result.at_most(f"memory, amazon0601 x 128, {name}", ratio, bound, detail))
    return results


def growth(settings: dict[str, object]) -> float:
    """Runs in a separate process: growth of peak memory during one fit."""
    from nafs import NAFS

    graph = amazon()
    X = random_features(graph.n_nodes, 128)
    A = graph.to_scipy()
    NAFS(1, **settings).fit(X[:100], adjacency=A[:100, :100], progress=None)
    before = peak_memory()
    NAFS(HOPS, n_threads=THREADS, **settings).fit(X, adjacency=A)
    after = peak_memory()
    return (after - before) / X.nbytes
