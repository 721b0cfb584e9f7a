"""Choose the number of hops for clustering, from the features and the edges alone.

The embedding is clustered at each K of a ladder; the previous clusters serve as one of the starts.
Modularity keeps rising slowly long after more smoothing has stopped helping. The choice is therefore the
smallest number of hops that reaches 80 % of the gain in modularity.
"""

from __future__ import annotations

from nafs._support.errors import InputError, Parameter
from nafs.clustering import mixture, modularity, project
from nafs.selection.choice import COLUMNS, LADDER, Choice, Question, search_is_over
from nafs.selection.preprocessing import prepare, reduce

CLUSTERS = 8  # default
RISE = 0.8  # share of the gain in modularity from the first hop on


def choose_for_clusters(question: Question) -> Choice:
    """The smallest number of hops that reaches most of the gain in modularity."""
    graph, center = question.graph, question.centers[0]
    if graph.directed:
        raise InputError(
            Parameter("n_hops", "auto"),
            " needs modularity, which is defined for undirected graphs only: set a number of hops",
        )
    requested = question.preparations.n_clusters or CLUSTERS
    count = min(requested, graph.n_nodes)
    prepared = prepare(question.features, graph, question.preprocessing, center)
    narrow, _ = reduce(prepared, max(COLUMNS, 3 * requested))
    curve: dict[int, float] = {}
    clusters = None
    for hop, matrix in question.sweep(graph, narrow, LADDER):
        points = project(matrix, 2 * count)
        n_init = 2 if clusters is None else 1
        clusters = mixture(points, count, graph=graph, n_init=n_init, start=clusters, max_iter=30, most=5000)
        curve[hop] = modularity(graph, clusters)
        if search_is_over(curve):
            break
    first, best = curve[min(curve)], max(curve.values())
    hops = min(hop for hop, value in curve.items() if value >= first + RISE * (best - first))
    why = (
        f"{hops} hop{'s' if hops > 1 else ''}: the fewest that reach {RISE:.0%} of the gain in modularity of "
        f"{count} clusters, from {first:.3f} to {best:.3f} over {max(curve)} hops"
    )
    return Choice(hops, question.preprocessing, center, (why,), curve)
