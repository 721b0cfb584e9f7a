"""Several r side by side, against one at a time."""

from __future__ import annotations

from common import THREADS, Result, amazon, random_features, ratio_of, show_seconds, side_by_side

from nafs import NAFS


def run() -> list[Result]:
    graph = amazon()
    X = random_features(graph.n_nodes, 16)
    narrow, wide = side_by_side(
        lambda: NAFS(20, n_threads=THREADS).fit_transform(X, adjacency=graph),
        lambda: NAFS(20, n_threads=THREADS, memory_limit="8GB").fit_transform(X, adjacency=graph),
        repeats=2,
    )
    detail = show_seconds(one=narrow, six=wide)
    return [
        Result.at_least(
            "one r at a time / six side by side, amazon0601 x 16", ratio_of(narrow, wide), 1.0, detail
        )
    ]
