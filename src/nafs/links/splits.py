"""Hidden edges, to evaluate link prediction and to choose its number of hops.

No n × n matrix is built: pairs are drawn at random and looked up among the sorted edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs.graph import Graph


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """A graph without its hidden edges, and pairs to score: hidden edges and as many non-edges.

    ``hard`` holds non-edges whose ends were drawn in proportion to their degree, as the ends of edges are.
    """

    graph: Graph
    validation: NDArray[np.int64]
    validation_none: NDArray[np.int64]
    test: NDArray[np.int64]
    test_none: NDArray[np.int64]
    test_hard: NDArray[np.int64]
    validation_hard: NDArray[np.int64]


def split_links(
    graph: Graph, *, validation: float = 0.05, test: float = 0.10, seed: int = 0, hard: bool = True
) -> LinkSplit:
    """Hide a share of the edges.

    Parameters
    ----------
    graph : Graph
        Undirected.
    validation, test : float
        Shares of the edges.
    seed : int
    hard : bool
        Whether to draw non-edges by degree too.

    Returns
    -------
    LinkSplit
    """
    adjacency = graph.adjacency
    if adjacency.directed:
        raise InputError(
            "link prediction is for undirected graphs: read the graph with ", Parameter("directed", False)
        )
    rows, columns = adjacency.rows, adjacency.indices
    once = rows < columns
    edges = np.column_stack([rows[once], columns[once]]).astype(np.int64)
    hidden_validation, hidden_test = int(len(edges) * validation), int(len(edges) * test)
    if not (validation > 0 and test > 0 and validation + test < 1):
        raise InputError(
            Parameter("validation"),
            " and ",
            Parameter("test"),
            f" must be positive and add up to less than 1; got {validation} and {test}",
        )
    if hidden_test < 1 or hidden_validation < 1:
        raise InputError(f"too few edges to hide: there are {len(edges)}, at least 20 are needed")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(edges))
    held_out = edges[order[: hidden_validation + hidden_test]]
    visible = order[hidden_validation + hidden_test :]
    loops = rows == columns
    kept = np.concatenate([edges[visible], np.column_stack([rows[loops], columns[loops]])])
    weights = None
    if adjacency.weights is not None:
        weights = np.concatenate([adjacency.weights[once][visible], adjacency.weights[loops]])
    codes = np.sort(edges[:, 0] * graph.n_nodes + edges[:, 1])
    return LinkSplit(
        _graph_of(graph, kept, weights),
        held_out[:hidden_validation],
        _non_edges(rng, codes, graph.n_nodes, hidden_validation, None),
        held_out[hidden_validation:],
        _non_edges(rng, codes, graph.n_nodes, hidden_test, None),
        _non_edges(rng, codes, graph.n_nodes, hidden_test if hard else 0, np.diff(adjacency.indptr)),
        _non_edges(rng, codes, graph.n_nodes, hidden_validation if hard else 0, np.diff(adjacency.indptr)),
    )


def _graph_of(graph: Graph, edges: NDArray[Any], weights: Any) -> Graph:
    n = graph.n_nodes
    values = np.ones(len(edges), bool) if weights is None else weights
    matrix = sp.coo_array((values, (edges[:, 0], edges[:, 1])), shape=(n, n))
    ids = graph.id_array if graph.has_ids else None
    return Graph(matrix, graph.features, ids=ids, labels=graph.labels, directed=False, self_loops=True)


def _non_edges(
    rng: np.random.Generator, codes: NDArray[Any], n: int, count: int, degrees: NDArray[Any] | None
) -> NDArray[np.int64]:
    """Distinct pairs without an edge; ends drawn uniformly, or in proportion to degrees."""
    free = n * (n - 1) // 2 - len(codes)
    if free < 2 * count:
        raise InputError(f"the graph is too dense: {free} pairs have no edge, {2 * count} are needed")
    reach = None if degrees is None else np.cumsum(degrees)
    codes_of_pairs = np.zeros(0, np.int64)
    for _ in range(100):
        if reach is None:
            ends = rng.integers(0, n, (2, 2 * count + 16))
        else:
            ends = np.searchsorted(reach, rng.integers(0, reach[-1], (2, 2 * count + 16)), side="right")
        low, high = ends.min(axis=0), ends.max(axis=0)
        drawn = (low * n + high)[low < high]
        at = np.minimum(np.searchsorted(codes, drawn), len(codes) - 1)
        fresh = drawn[codes[at] != drawn]
        together = np.concatenate([codes_of_pairs, fresh])
        _, first = np.unique(together, return_index=True)
        codes_of_pairs = together[np.sort(first)][:count]
        if len(codes_of_pairs) == count:
            return np.column_stack([codes_of_pairs // n, codes_of_pairs % n])
    raise InputError("the graph is too dense around its hubs to draw non-edges by degree")
