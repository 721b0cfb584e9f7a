"""Small graphs with many features: a few columns at a time in the cache, against whole rows."""

from __future__ import annotations

import sys

from common import THREADS, Result, data_home, ratio_of, show_seconds, side_by_side

from nafs import embed
from nafs.datasets import load_dataset
from nafs.engines import cached


def run() -> list[Result]:
    data_home()
    results, large = [], cached.LARGE
    for name in ("cora", "citeseer", "wiki", "pubmed", "amazon-photo"):
        graph = load_dataset(name).graph

        def embed_with(bound: int) -> None:
            cached.LARGE = bound
            embed(graph, n_hops=20, dim="full", n_threads=THREADS)  # noqa: B023

        rows, columns = side_by_side(lambda: embed_with(sys.maxsize), lambda: embed_with(large), repeats=5)
        detail = show_seconds(rows=rows, columns=columns)
        results.append(
            Result.at_least(f"rows / columns in the cache, {name}, K=20", ratio_of(rows, columns), 1, detail)
        )
    return results
