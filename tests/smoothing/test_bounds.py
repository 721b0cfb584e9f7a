"""Theorem 1 and the mixing time hold on every graph, and agree with their formulas."""

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import random_graph

from nafs import mixing_time_bound, oversmoothing_bound, second_eigenvalue

COMPLETE = np.ones((4, 4)) - np.eye(4)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 90),
    density=st.floats(0, 0.4),
    weighted=st.booleans(),
    r=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)
def test_theorem_1_bounds_the_distance(seed, n, density, weighted, r):
    A, X = random_graph(seed, n, density, weighted=weighted, n_features=4)
    D = oracle.distances(A.toarray(), X, 8, r, "euclidean")
    bound = oversmoothing_bound(X, A, 8, r)
    assert (D <= bound * (1 + 1e-5) + 1e-9).all()


def test_theorem_1_agrees_with_the_paper_on_a_connected_graph():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    X = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
    degrees = np.array([2.0, 3.0, 2.0])
    expected = np.sqrt((degrees * (X**2).sum(axis=1)).sum() / degrees)
    np.testing.assert_allclose(
        oversmoothing_bound(X, path, 2), expected[:, None] * 0.5 ** np.arange(3), rtol=1e-6
    )


@pytest.mark.parametrize("n", [40, 100])
def test_the_second_eigenvalue_against_a_full_decomposition(n):
    A, _ = random_graph(3, n, 0.3)
    values = np.linalg.eigvalsh(oracle.normalized(A.toarray(), 0.5))
    trivial = len(set(oracle.components(A.toarray())))
    expected = max(abs(values[0]), values[-1 - trivial])
    assert second_eigenvalue(A) == pytest.approx(expected, rel=1e-6)


def test_graphs_that_are_smooth_after_one_hop():
    assert second_eigenvalue(COMPLETE) == pytest.approx(0, abs=1e-12)
    assert second_eigenvalue(np.zeros((100, 100))) == 0
    steps = mixing_time_bound(np.eye(4), COMPLETE, epsilon=0.1)
    assert (steps >= 1).all()


@given(seed=st.integers(0, 2**32 - 1), epsilon=st.floats(1e-3, 3))
def test_after_the_mixing_time_every_node_is_close(seed, epsilon):
    A, X = random_graph(seed, 25, 0.2, n_features=3)
    steps = mixing_time_bound(X, A, epsilon)
    K = min(int(steps.max()), 400)
    D = oracle.distances(A.toarray(), X, K, 0.0, "euclidean")
    reached = steps <= K
    assert (D[reached, steps[reached]] <= epsilon * (1 + 1e-5)).all()


def test_the_papers_formula():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    X = np.array([[3.0, 4.0], [0.0, 1.0], [0.0, 0.0]])
    total = 2 * 5 + 3 * 1 + 2 * 0
    expected = np.ceil(np.log(2 * np.array([2, 3, 2]) * 0.1 / total) / np.log(0.5))
    assert mixing_time_bound(X, path, 0.1, formula="paper").tolist() == expected.tolist()


@pytest.mark.parametrize("epsilon", [0, -1, np.nan, np.inf, "x", None])
def test_bad_epsilon(epsilon):
    with pytest.raises((ValueError, TypeError), match="epsilon"):
        mixing_time_bound(np.eye(4), COMPLETE, epsilon)


def test_directed_graphs_have_no_bound():
    with pytest.raises(ValueError, match="undirected"):
        second_eigenvalue(np.triu(np.ones((3, 3)), 1), directed=True)
