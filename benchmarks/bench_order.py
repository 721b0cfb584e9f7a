"""Hops over renumbered nodes against a bare gather in the original order, and the cost of renumbering."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from common import (
    THREADS,
    Result,
    amazon,
    arxiv,
    random_features,
    ratio_of,
    show_seconds,
    show_turns,
    side_by_side,
)

from nafs import NAFS
from nafs.engines import memory
from nafs.graph import Adjacency, read_adjacency, read_features
from nafs.smoothing import Method, _kernel
from nafs.smoothing.hops import Hops
from nafs.smoothing.order import community_order

COLUMNS = 128
SPARSE_NODES, SPARSE_DEGREE = 89_000, 10


def run() -> list[Result]:
    graphs = {"amazon0601": amazon(), "arXiv": arxiv()}
    shuffled = shuffle(graphs["amazon0601"])
    results = [
        *one_hop("amazon0601", graphs["amazon0601"], 0.85),
        *one_hop("amazon0601, shuffled ids", shuffled, 0.6),
        *one_hop("arXiv", graphs["arXiv"], 0.85),
        *one_hop("ring of 89k nodes, 10 edges each, shuffled ids", ring(SPARSE_NODES, SPARSE_DEGREE), 1.3),
        # No order helps a random graph; it must not hurt either.
        *one_hop("random graph, 89k nodes, 10 edges each", random_graph(), 1.3, least=0.9),
    ]
    for name, bound in (("amazon0601", 1.35), ("arXiv", 1.3)):
        results.append(whole_run(name, graphs[name], bound))
    return results


def one_hop(name: str, graph: Adjacency, bound: float, least: float = 1.0) -> list[Result]:
    """A hop over renumbered nodes / the gather in the original order; and renumbering / a hop."""
    X = read_features(random_features(graph.n_nodes, COLUMNS))
    method = Method(10_000, (0.5,))
    order = community_order(graph, n_threads=THREADS)
    unordered = Hops(graph, X, method, method.r, n_threads=THREADS)
    renumbered = Hops(
        graph, X, method, method.r, n_threads=THREADS, order=order, arranged=X.take(order.nodes)
    )
    in_place = Hops(graph, X, method, method.r, n_threads=THREADS, order=order)
    for hops in (unordered, renumbered, in_place):
        hops.advance()

    def two(hops: Hops) -> None:  # as in a run: every other hop adds two to the sum
        hops.advance(postpone=True)
        hops.advance(postpone=True)

    def gathers() -> None:
        for _ in range(2):
            _kernel.gather(graph.indptr, graph.indices, unordered._state, THREADS)

    before, after, without_copy, probe, ordering = side_by_side(
        lambda: two(unordered),
        lambda: two(renumbered),
        lambda: two(in_place),
        gathers,
        lambda: community_order(graph, n_threads=THREADS),
        repeats=7,
    )
    detail = show_seconds(hop=after, gather=probe) + f" for two; {show_turns(after, probe)}"
    results = [
        Result.at_most(
            f"hop in community order / gather as given, {name}", ratio_of(after, probe), bound, detail
        ),
        Result.at_least(
            f"hop as given / in community order, features not copied, {name}",
            ratio_of(before, without_copy),
            least,
            show_turns(before, without_copy),
        ),
    ]
    single = [seconds / 2 for seconds in before]
    results.append(
        Result.at_most(
            f"community order / a hop, {name}",
            ratio_of(ordering, single),
            5.0,
            show_seconds(order=ordering, hop=single),
        )
    )
    return results


def whole_run(name: str, graph: Adjacency, bound: float) -> Result:
    """The default run without the order / with it, ordering included."""
    X = random_features(graph.n_nodes, COLUMNS)
    model = NAFS(n_threads=THREADS)

    def fit(cached_state: int) -> None:
        usual, memory.CACHED_STATE = memory.CACHED_STATE, cached_state
        try:
            model.fit(X, adjacency=graph)
        finally:
            memory.CACHED_STATE = usual

    unordered, ordered = side_by_side(
        lambda: fit(1 << 50), lambda: fit(memory.CACHED_STATE), repeats=2, warm_up=False
    )
    detail = show_seconds(unordered=unordered, ordered=ordered) + "; " + show_turns(unordered, ordered)
    return Result.at_least(
        f"default run as given / in community order, {name} x {COLUMNS}",
        ratio_of(unordered, ordered),
        bound,
        detail,
    )


def shuffle(graph: Adjacency) -> Adjacency:
    """The same graph with shuffled ids, as in most databases."""
    nodes = np.random.default_rng(0).permutation(graph.n_nodes).astype(np.int32)
    return community_order(graph, n_threads=THREADS, nodes=nodes).graph


def ring(n: int, degree: int) -> Adjacency:
    """A ring of nodes linked to the next ones, with shuffled ids: sparse, but with an order to find."""
    near = np.concatenate([np.arange(-(degree // 2), 0), np.arange(1, degree // 2 + 1)])
    indices = (np.arange(n)[:, None] + near) % n
    graph = Adjacency(np.arange(0, n * degree + 1, degree), indices.astype(np.int32).ravel())
    return shuffle(graph)


def random_graph() -> Adjacency:
    """As many nodes and edges, without any structure."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, SPARSE_NODES, (2, SPARSE_NODES * SPARSE_DEGREE // 2))
    matrix = sp.coo_array((np.ones(ends.shape[1], bool), tuple(ends)), shape=(SPARSE_NODES, SPARSE_NODES))
    return read_adjacency(matrix.tocsr(), directed=False)
