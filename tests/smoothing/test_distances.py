"""The record of each distance agrees with the kernel."""

import numpy as np
import oracle
import pytest
from random_graphs import random_graph

from nafs.graph import read_adjacency, read_features
from nafs.smoothing import Method, _kernel, oversmoothing_distances, smoothing_weights
from nafs.smoothing.distances import DISTANCES, distance_named
from nafs.smoothing.hops import Hops
from nafs.smoothing.weightings import WEIGHTINGS, weighting_named

R, HOPS = 0.3, 5


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def graph(request):
    A, X = random_graph(3, 50, 0.1, weighted=request.param, n_features=12)
    X[7] = 0
    return A, X


def test_every_distance_of_the_kernel_has_a_record():
    known = {distance_named(name).code for name in DISTANCES}
    assert known == set(_kernel.Distance) - {_kernel.Distance.none}


@pytest.mark.parametrize("name", DISTANCES)
def test_the_formula_turns_measured_parts_into_the_distances_of_the_kernel(name, graph):
    A, X = graph
    record, method = distance_named(name), Method(HOPS, (R,), distance=name)
    adjacency, features = read_adjacency(A), read_features(X)
    hops = Hops(adjacency, features, method, (R,), measure=True)
    parts = np.empty((HOPS + 1, adjacency.n_nodes, 2))
    for k in range(HOPS + 1):
        hops.advance(parts=parts[k])
    reference = features.norms
    if record.sums_centres:
        reference = np.sqrt(hops.centre_squares)[adjacency.components]
    elif record.stationary:
        reference = hops._bound["scale"][:, 0]
    computed = record.formula(parts[..., 0], parts[..., 1], reference).T
    np.testing.assert_allclose(computed, oversmoothing_distances(X, A, HOPS, R, name), atol=2e-6)
    np.testing.assert_allclose(computed, oracle.distances(A.toarray(), X, HOPS, R, name), atol=1e-5)


@pytest.mark.parametrize("name", DISTANCES)
def test_a_bounded_distance_stays_within_one(name, graph):
    A, X = graph
    largest = np.abs(oversmoothing_distances(100 * X, A, HOPS, R, name)).max()
    assert (largest <= 2) == distance_named(name).bounded


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_weights_of_both_axes_agree_with_the_oracle(weighting, distance, graph):
    A, X = graph
    D = oracle.distances(A.toarray(), X, HOPS, R, distance)
    expected = oracle.weights(D, weighting, distance)
    record = weighting_named(weighting)
    np.testing.assert_allclose(record.weights(D, distance_named(distance), axis=1), expected, atol=1e-6)
    np.testing.assert_allclose(record.weights(D.T, distance_named(distance), axis=0), expected.T, atol=1e-6)
    weights = smoothing_weights(X, A, HOPS, R, distance, weighting)
    np.testing.assert_allclose(weights, expected, atol=1e-4 if weighting == "linear" else 1e-5)
