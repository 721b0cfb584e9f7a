"""A mixture in which nodes without a label count too."""

import numpy as np
import pyarrow as pa
import pytest

from nafs.answers import classify
from nafs.answers.partly_labelled import Cloud
from nafs.clustering.directions import Directions


def clouds(n_each=150, n_classes=3, spread=0.35, seed=0):
    """Long, separate clouds: a few labels say little about their direction, all nodes together say it."""
    rng = np.random.default_rng(seed)
    classes = np.repeat(np.arange(n_classes), n_each)
    points = 2 * np.eye(n_classes, 20)[classes] + spread * rng.standard_normal((len(classes), 20))
    points[:, n_classes : n_classes + 3] += 3 * rng.standard_normal((len(classes), 3))
    return points.astype(np.float32), classes


def by_definition(points, labelled, places, count):
    """The same steps with plain loops over nodes, from the definitions."""
    n, d = points.shape
    least = 1e-3 * points.var(axis=0).sum() / d
    weights = np.where(np.isin(np.arange(n), labelled), 1.0, 0.1)
    shares = np.zeros((n, count))
    shares[labelled, places] = 1
    for step in range(10):
        sizes = (weights[:, None] * shares).sum(axis=0) + 1e-9
        means = (weights[:, None] * shares).T @ points / sizes[:, None]
        if step == 0:
            covariance = np.cov(points.T, bias=True)
        else:
            covariance = np.zeros((d, d))
            for node in range(n):
                for place in range(count):
                    apart = points[node] - means[place]
                    covariance += weights[node] * shares[node, place] * np.outer(apart, apart)
            covariance /= sizes.sum()
        inverse = np.linalg.inv(covariance + least * np.eye(d))
        logs = np.empty((n, count))
        for place in range(count):
            apart = points - means[place]
            logs[:, place] = np.log(sizes[place]) - 0.5 * np.einsum("ij,jk,ik->i", apart, inverse, apart)
        logs -= np.log(np.exp(logs - logs.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True))
        logs -= logs.max(axis=1, keepdims=True)
        shares = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
        result = np.log(np.maximum(shares, 1e-300))
        shares[labelled] = np.eye(count)[places]
    return np.maximum(result, -20)


def test_the_mixture_is_that_of_the_definition():
    matrix, classes = clouds(40)
    labelled = np.array([0, 3, 41, 50, 100])
    cloud = Cloud.of(matrix, np.arange(120), 3)
    model = cloud.fit(labelled, classes[labelled], 3)
    expected = by_definition(cloud.points, labelled, classes[labelled], 3)
    np.testing.assert_allclose(cloud.log_probabilities(model), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        cloud.log_probabilities(model, labelled), expected[labelled], rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(
        cloud.log_probabilities_of(model, matrix[:7]), expected[:7], rtol=1e-3, atol=1e-3
    )


def test_points_are_unit_rows_along_the_leading_directions():
    matrix, _ = clouds()
    some = np.arange(0, 450, 2)
    cloud = Cloud.of(matrix, some, 3)
    rows = Directions.of(matrix[some], 6).rows
    np.testing.assert_allclose(
        cloud.points, rows / np.linalg.norm(rows, axis=1, keepdims=True), rtol=1e-4, atol=1e-5
    )


def test_nodes_without_a_label_help_where_labels_are_few():
    matrix, classes = clouds()
    rng = np.random.default_rng(1)
    labelled = np.concatenate(
        [rng.choice(np.flatnonzero(classes == code), 6, replace=False) for code in range(3)]
    )
    labels = {int(node): "abc"[classes[node]] for node in labelled}
    right = {}
    for name, nodes in (("all", np.arange(len(matrix))), ("labelled", np.sort(labelled))):
        answer = classify(matrix[nodes], pa.array(nodes), labels)
        assert ("nodes without a label count too" in answer.explain()) == (name == "all")
        right[name] = answer
    everything = right["all"].codes == classes
    alone = classify_alone(matrix, labelled, classes) == classes
    assert everything.mean() > alone.mean() + 0.05


def classify_alone(matrix, labelled, classes):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10, max_iter=1000).fit(matrix[labelled], classes[labelled]).predict(matrix)


def test_labels_that_do_not_follow_the_clouds_are_not_overruled():
    matrix, _ = clouds()
    halves = (matrix[:, 10] > 0).astype(int)  # says nothing about the clouds
    labels = {node: "ab"[halves[node]] for node in range(0, 450, 3)}
    answer = classify(matrix, pa.array(range(450)), labels)
    unseen = np.arange(450) % 3 > 0
    assert (answer.codes == halves)[unseen].mean() > 0.9


@pytest.mark.parametrize("n_classes", [2, 5])
def test_more_directions_than_columns_and_equal_points_are_no_problem(n_classes):
    matrix = np.repeat(np.eye(n_classes, 2, dtype=np.float32) + 1, 8, axis=0)
    labels = {8 * code + each: f"class {code}" for code in range(n_classes) for each in range(3)}
    answer = classify(matrix, pa.array(range(len(matrix))), labels)
    assert np.isfinite(answer.probabilities).all()
