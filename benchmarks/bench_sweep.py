"""A sweep over all K = 1..70, against one run at K = 70."""

from __future__ import annotations

from common import THREADS, Result, amazon, random_features, ratio_of, show_seconds, side_by_side

from nafs import NAFS


def run() -> list[Result]:
    graph = amazon()
    X = random_features(graph.n_nodes, 128)
    model = NAFS(70, n_threads=THREADS)

    def sweep() -> None:
        for _K, _Z in model.sweep(X, adjacency=graph):
            pass

    swept, single = side_by_side(
        sweep, lambda: model.fit_transform(X, adjacency=graph), repeats=1, warm_up=False
    )
    detail = show_seconds(sweep=swept, single=single)
    return [
        Result.at_most(
            "sweep K=1..70 / one run at K=70, amazon0601 x 128", ratio_of(swept, single), 1.2, detail
        )
    ]
