"""How fast a node can be over-smoothed: the bound of Theorem 1 and the mixing time that follows.

With S = D̃^(-1/2) Ã D̃^(-1/2) and λ its largest eigenvalue in absolute value after the trivial one of each
component, the distance of Â_r^k X to the stationary state is at most

    D_i(k) ≤ λ^k · d̃_i^(r - 1/2) · sqrt(Σ_{j∈C} d̃_j^(1-2r) ‖X_j‖²),

which for r = 0 on a connected graph is the paper's Theorem 1. (The paper writes λ₂, the second largest
eigenvalue; a negative one may be larger in absolute value and then governs. Sums go by component.)
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs.graph import Adjacency, read_adjacency, read_features
from nafs.smoothing.method import check_hops, check_one_r
from nafs.smoothing.operator import normalized_adjacency
from nafs.smoothing.stationary import require_undirected

_DENSE_BELOW = 64  # nodes: a full decomposition is quicker and always converges


def second_eigenvalue(adjacency: Any, *, directed: bool | None = None) -> float:
    """λ: the largest absolute eigenvalue of Â besides the 1 of each connected component.

    Parameters
    ----------
    adjacency : sparse matrix of shape (n, n)
    directed : bool, optional
        As in :func:`nafs.graph.read_adjacency`; the graph must end up undirected.

    Returns
    -------
    float in [0, 1)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import second_eigenvalue
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> round(second_eigenvalue(path), 6)
    0.5
    """
    graph = read_adjacency(adjacency, directed=directed)
    require_undirected(graph)
    return _second_eigenvalue(graph)


def oversmoothing_bound(
    features: Any,
    adjacency: Any,
    n_hops: int = 20,
    r: float = 0.0,
    *,
    directed: bool | None = None,
) -> NDArray[np.float64]:
    """Upper bound of the Euclidean over-smoothing distance D_i(k), for hops 0..K (Theorem 1).

    Parameters
    ----------
    features : array or sparse matrix of shape (n, f)
    adjacency : sparse matrix of shape (n, n)
    n_hops : int
    r : float in [0, 1]
        The paper's theorem is r = 0.
    directed : bool, optional
        As in :func:`nafs.graph.read_adjacency`; the graph must end up undirected.

    Returns
    -------
    ndarray of float64, shape (n, n_hops + 1)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import oversmoothing_bound
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> oversmoothing_bound(np.eye(3), path, n_hops=2).round(3)
    array([[1.871, 0.935, 0.468],
           [1.528, 0.764, 0.382],
           [1.871, 0.935, 0.468]])
    """
    n_hops = check_hops(n_hops)
    graph, start = _start_of_bound(features, adjacency, r, directed)
    decay = _second_eigenvalue(graph) ** np.arange(n_hops + 1)
    return np.asarray(start[:, None] * decay[None, :], dtype=np.float64)


def mixing_time_bound(
    features: Any,
    adjacency: Any,
    epsilon: float,
    *,
    formula: str = "theorem",
    directed: bool | None = None,
) -> NDArray[np.int64]:
    """Hops after which node i is sure to be within ``epsilon`` of its stationary state (r = 0).

    Parameters
    ----------
    features : array or sparse matrix of shape (n, f)
    adjacency : sparse matrix of shape (n, n)
    epsilon : float
        Positive distance.
    formula : {"theorem", "paper"}
        "theorem" solves the bound of Theorem 1 for k and is safe. "paper" is the expression printed in
        the paper's appendix, ⌈log_λ(2 d̃_i ε / Σ_j d̃_j ‖X_j‖)⌉; it lacks the square roots of the lemma
        it rests on, so it can fall below the true mixing time of nodes of high degree.
    directed : bool, optional
        As in :func:`nafs.graph.read_adjacency`; the graph must end up undirected.

    Returns
    -------
    ndarray of int64, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import mixing_time_bound
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> mixing_time_bound(np.eye(3), path, epsilon=0.1)
    array([5, 4, 5])
    """
    check_choice("formula", formula, ("theorem", "paper"))
    if not isinstance(epsilon, Real) or not 0 < epsilon < np.inf:
        raise InputError(Parameter("epsilon"), f" must be a positive number; got {epsilon!r}")
    graph, start = _start_of_bound(features, adjacency, 0.0, directed)
    if formula == "paper":
        norms = read_features(features).norms.astype(np.float64)
        start = (graph.degrees @ norms) / (2 * graph.degrees)
    rate = _second_eigenvalue(graph)
    late = start > epsilon
    steps = np.zeros(len(start), dtype=np.int64)
    steps[late] = 1 if rate == 0 else np.ceil(np.log(epsilon / start[late]) / np.log(rate) - 1e-9)
    return steps


def _start_of_bound(
    features: Any, adjacency: Any, r: float, directed: bool | None
) -> tuple[Adjacency, NDArray[np.float64]]:
    """Theorem 1's factor of λ^k."""
    r = check_one_r(r)
    X = read_features(features)
    graph = read_adjacency(adjacency, X.shape[0], directed=directed)
    require_undirected(graph)
    degrees, components = graph.degrees, graph.components
    mass = np.bincount(components, weights=degrees ** (1 - 2 * r) * X.norms.astype(np.float64) ** 2)
    return graph, degrees ** (r - 0.5) * np.sqrt(mass[components])


def _second_eigenvalue(graph: Adjacency) -> float:
    degrees, components = graph.degrees, graph.components
    volume = np.bincount(components, weights=degrees)[components]
    trivial = np.sqrt(degrees / volume)  # the eigenvector of eigenvalue 1, component by component
    symmetric = normalized_adjacency(graph, 0.5)
    if graph.n_nodes < _DENSE_BELOW:
        same = components[:, None] == components[None, :]
        deflated_matrix = symmetric.toarray() - same * np.outer(trivial, trivial)
        return float(np.abs(np.linalg.eigvalsh(deflated_matrix)).max())
    from scipy.sparse.linalg import LinearOperator, eigsh

    def deflated(x: NDArray[np.float64]) -> NDArray[np.float64]:
        x = x.ravel()
        part = np.bincount(components, weights=trivial * x)[components]
        return np.asarray(symmetric @ x - trivial * part, dtype=np.float64)

    n = graph.n_nodes
    if graph.n_stored == 0:
        return 0.0
    operator = LinearOperator((n, n), matvec=deflated, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    if np.linalg.norm(deflated(start)) <= 1e-12 * np.linalg.norm(start):
        return 0.0  # components of one or two nodes have no other eigenvalue, and ARPACK fails on zero
    values = eigsh(operator, k=1, which="LM", v0=start, tol=1e-9, return_eigenvectors=False)
    return float(np.abs(values[0]))
