"""Random graphs, seeded and without a Python loop over edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.graph import Graph


def erdos_renyi(n: int, p: float, *, n_features: int = 0, seed: int = 0) -> Graph:
    """Every pair of n nodes is an edge with probability p; features, if any, are standard normal.

    Parameters
    ----------
    n : int
    p : float in [0, 1]
    n_features : int
    seed : int

    Returns
    -------
    Graph

    Examples
    --------
    >>> from nafs.datasets import erdos_renyi
    >>> erdos_renyi(1000, 0.01, seed=0)
    Graph(1000 nodes, 5082 edges)
    """
    if n < 1 or not 0 <= p <= 1:
        raise InputError(f"a random graph needs n >= 1 nodes and p in [0, 1]; got n={n}, p={p}")
    rng = np.random.default_rng(seed)
    pairs = n * (n - 1) // 2
    codes = _distinct(rng, pairs, int(rng.binomial(pairs, p)))
    # Pair number c is (row, column) with row > column: c = row (row - 1) / 2 + column.
    rows = ((1 + np.sqrt(1 + 8 * codes.astype(np.float64))) / 2).astype(np.int64)
    rows -= codes < rows * (rows - 1) // 2  # where the root was rounded up
    rows += codes >= rows * (rows + 1) // 2  # or down
    features = rng.standard_normal((n, n_features), dtype=np.float32) if n_features else None
    return _graph(n, rows, codes - rows * (rows - 1) // 2, features, None)


def contextual_sbm(
    n: int,
    *,
    n_classes: int = 4,
    average_degree: float = 10.0,
    homophily: float = 0.8,
    n_features: int = 32,
    signal: float = 1.0,
    seed: int = 0,
) -> Graph:
    """A contextual stochastic block model: classes show in the edges and in Gaussian features.

    Parameters
    ----------
    n : int
    n_classes : int
        Of equal expected size.
    average_degree : float
    homophily : float in [0, 1]
        Share of the edges within a class.
    n_features : int
    signal : float
        Distance of the classes' means from 0, where each feature has deviation 1.
    seed : int

    Returns
    -------
    Graph
        With labels.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    even = np.ones(n)
    rows, columns = _planted(rng, labels, even, round(n * average_degree / 2), homophily)
    return _graph(n, rows, columns, _gaussian(rng, labels, n_features, signal), labels)


def power_law(
    n: int,
    *,
    average_degree: float = 10.0,
    exponent: float = 2.5,
    n_communities: int = 10,
    homophily: float = 0.8,
    n_features: int = 32,
    signal: float = 1.0,
    seed: int = 0,
) -> Graph:
    """Communities whose expected degrees follow a power law.

    Parameters
    ----------
    n : int
    average_degree : float
        Expected; pairs drawn twice count once.
    exponent : float > 2
        P(degree > d) falls like d^(1 - exponent).
    n_communities, homophily, n_features, signal, seed
        As in :func:`contextual_sbm`.

    Returns
    -------
    Graph
        With labels.
    """
    if exponent <= 2:
        raise InputError(f"exponent must be above 2, or the mean degree does not exist; got {exponent}")
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_communities, n)
    size = np.minimum((1 - rng.random(n)) ** (-1 / (exponent - 1)), np.sqrt(n))
    rows, columns = _planted(rng, labels, size, round(n * average_degree / 2), homophily)
    return _graph(n, rows, columns, _gaussian(rng, labels, n_features, signal), labels)


def _distinct(rng: np.random.Generator, population: int, count: int) -> NDArray[np.int64]:
    """Distinct numbers below ``population``, ascending; every set is equally likely."""
    if count > population // 2:
        left_out = _distinct(rng, population, population - count)
        kept = np.ones(population, bool)
        kept[left_out] = False
        return np.flatnonzero(kept)
    distinct = np.zeros(0, np.int64)
    while len(distinct) < count:
        more = rng.integers(0, population, int((count - len(distinct)) * 1.05) + 16)
        distinct = np.unique(np.concatenate([distinct, more]))
    drop = len(distinct) - count
    return distinct if not drop else np.delete(distinct, rng.choice(len(distinct), drop, replace=False))


def _planted(
    rng: np.random.Generator, labels: NDArray[Any], size: NDArray[Any], count: int, homophily: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ends of ``count`` edges in proportion to ``size``; the second in the first's class or anywhere."""
    if not 0 <= homophily <= 1:
        raise InputError(f"homophily must lie in [0, 1]; got {homophily}")
    order = np.argsort(labels, kind="stable")
    reach = np.concatenate([[0.0], np.cumsum(size[order])])
    bounds = np.searchsorted(labels[order], np.arange(labels.max() + 2))
    low, high = reach[bounds[:-1]], reach[bounds[1:]]

    def draw(begin: Any, end: Any) -> NDArray[Any]:
        at = begin + (end - begin) * rng.random(count)
        return np.asarray(order[np.clip(np.searchsorted(reach, at, side="right") - 1, 0, len(order) - 1)])

    first = draw(0.0, reach[-1])
    inside = rng.random(count) < homophily
    second = draw(np.where(inside, low[labels[first]], 0.0), np.where(inside, high[labels[first]], reach[-1]))
    return first, second


def _gaussian(
    rng: np.random.Generator, labels: NDArray[Any], n_features: int, signal: float
) -> NDArray[np.float32] | None:
    """Standard normal features around a mean of length ``signal`` for each class; none if none are wanted."""
    if not n_features:
        return None
    means = rng.standard_normal((int(labels.max()) + 1, n_features))
    means *= signal / np.linalg.norm(means, axis=1, keepdims=True)
    noise = rng.standard_normal((len(labels), n_features), dtype=np.float32)
    return np.asarray(noise + means[labels].astype(np.float32))


def _graph(n: int, rows: Any, columns: Any, features: Any, labels: Any) -> Graph:
    apart = rows != columns
    matrix = sp.coo_array((np.ones(int(apart.sum()), bool), (rows[apart], columns[apart])), shape=(n, n))
    return Graph(matrix, features, labels=labels, directed=False)
