"""One fused hop against a bare gather of the same rows in the same order."""

from __future__ import annotations

from common import THREADS, Result, amazon, random_features, ratio_of, show_seconds, side_by_side

from nafs.graph import read_features
from nafs.smoothing import Method, _kernel
from nafs.smoothing.hops import Hops


def run() -> list[Result]:
    graph = amazon()
    X = read_features(random_features(graph.n_nodes, 128))
    hops = Hops(graph, X, Method(1000, (0.5,)), (0.5,), n_threads=THREADS)
    hops.advance()

    def gather() -> None:
        _kernel.gather(graph.indptr, graph.indices, hops._state, THREADS)

    hop, probe = side_by_side(hops.advance, gather, repeats=25)
    detail = show_seconds(hop=hop, gather=probe) + f"; {len(hop)} turns"
    return [Result.at_most("fused hop / bare gather, amazon0601 x 128", ratio_of(hop, probe), 1.5, detail)]
