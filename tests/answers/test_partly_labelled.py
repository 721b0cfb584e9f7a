"""A mixture in which nodes without a label count too."""

import re

import numpy as np
import pyarrow as pa
import pytest

from nafs import Graph
from nafs.answers import classify
from nafs.answers.held_out import _HeldOut, _nested_logits
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
    for unlabelled in (False, True):
        answer = classify(matrix, pa.array(range(len(matrix))), labels, unlabelled=unlabelled)
        assert ("nodes without a label count too" in answer.explain()) == unlabelled
        right[unlabelled] = (answer.codes == classes).mean()
    assert right[True] > right[False] + 0.05


def test_a_sample_of_the_nodes_is_enough(monkeypatch):
    matrix, classes = clouds(400)
    rng = np.random.default_rng(1)
    labelled = [rng.choice(np.flatnonzero(classes == code), 6, replace=False) for code in range(3)]
    labels = {int(node): "abc"[classes[node]] for node in np.concatenate(labelled)}
    answers = [classify(matrix, pa.array(range(1200)), labels)]
    monkeypatch.setattr("nafs.answers.sources._SAMPLE", 500)
    answers.append(classify(matrix, pa.array(range(1200)), labels))
    monkeypatch.setattr("nafs.answers.sources._MOST_SHARES", 600)
    answers.append(classify(matrix, pa.array(range(1200)), labels))
    fitted = [re.search("found among ([0-9,]*) nodes", answer.explain())[1] for answer in answers]
    assert fitted[:2] == ["1,200", "518"]
    assert int(fitted[2]) <= 200
    for other in answers[1:]:
        assert (other.codes == answers[0].codes).mean() > 0.95


def test_mixture_and_own_features_count_together(monkeypatch):
    """Clouds tell two pairs of classes apart, and words the classes of a pair."""
    rng = np.random.default_rng(5)
    classes = np.arange(600) % 4
    places, kinds = classes // 2, classes % 2
    matrix = 2 * np.eye(2, 10)[places] + 0.4 * rng.standard_normal((600, 10))
    matrix[:, 2:4] += 3 * rng.standard_normal((600, 2))
    words = np.eye(2)[kinds] + 0.6 * rng.random((600, 2))
    words = np.hstack([words, rng.random((600, 12))])
    graph = Graph(np.eye(600, k=1), words, directed=False)
    labels = {int(node): "abcd"[classes[node]] for node in rng.choice(600, 60, replace=False)}
    answer = classify(matrix, pa.array(range(600)), labels, graph=graph)
    assert "nodes without a label count too" in answer.explain()
    assert "own features count" in answer.explain()
    alone = classify(matrix, pa.array(range(600)), labels)
    assert (answer.codes == classes).mean() > (alone.codes == classes).mean() + 0.04
    monkeypatch.setattr("nafs.answers.sources._SAMPLE", 300)  # odds and mixture from other nodes
    sampled = classify(matrix, pa.array(range(600)), labels, graph=graph)
    assert (sampled.codes == answer.codes).mean() > 0.85


def test_a_source_without_a_clear_gain_is_left_out():
    rng = np.random.default_rng(0)
    places = rng.integers(0, 3, 60)
    regressions = {1.0: 2 * np.eye(3)[places] + rng.standard_normal((60, 3))}
    noise = {weight: weight * rng.standard_normal((60, 3)) for weight in (0.1, 0.2, 0.5, 1.0)}
    fit = _HeldOut(places, 0.02, regressions, noise[1.0], noise).choose()
    assert fit.mixture_weight == fit.own_weight == 0
    clear = {weight: weight * np.eye(3)[places] for weight in (0.1, 1.0)}
    held_out = _HeldOut(places, 0.02, regressions, np.eye(3)[places], clear)
    fit = held_out.choose()
    assert (fit.mixture_weight, fit.own_weight) == (1.0, 1.0)
    logits = (regressions[1.0] / fit.temperature + np.eye(3)[places]) / fit.mixture_temperature
    expected = (logits + np.eye(3)[places]) / fit.own_temperature
    np.testing.assert_allclose(held_out.logits_for(fit), expected)
    np.testing.assert_array_equal(
        held_out._replace(rows=np.arange(9, 30)).logits_for(fit), held_out.logits_for(fit)[9:30]
    )


def test_labels_do_not_judge_what_they_have_chosen():
    """Of many useless sources, the best by the labels looks better on the same labels than on others."""
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        places = rng.permutation(np.repeat(np.arange(2), 20))
        held_out = _HeldOut(
            places, 0.02, {c: rng.standard_normal((40, 2)) for c in np.geomspace(0.1, 10, 30)}
        )
        tests = np.arange(40).reshape(5, 8)
        fit = held_out.choose()
        own, judged = (
            (each.argmax(axis=1) == places).mean()
            for each in (held_out.logits_for(fit), _nested_logits(held_out, fit, tests))
        )
        gains.append((own, judged))
    own, judged = np.mean(gains, axis=0)
    assert own > 0.6
    assert abs(judged - 0.5) < 0.06


def test_classify_reports_what_the_other_folds_would_have_chosen(monkeypatch):
    rng = np.random.default_rng(0)
    matrix, labels = rng.standard_normal((300, 12)), {node: "ab"[node % 2] for node in range(60)}
    judged = []

    def nested(held_out, fit, tests):
        logits = _nested_logits(held_out, fit, tests)
        judged.append((held_out, fit, logits))
        return logits

    monkeypatch.setattr("nafs.answers.held_out._nested_logits", nested)
    answer = classify(matrix, pa.array(range(300)), labels)
    ((held_out, fit, logits),) = judged
    assert answer.accuracy == (logits.argmax(axis=1) == held_out.places).mean()
    assert not np.array_equal(logits, held_out.logits_for(fit))  # the choices of the folds differ
    monkeypatch.setattr("nafs.answers.held_out._MANY", 59)
    many = classify(matrix, pa.array(range(300)), labels)
    held_out, fit, logits = judged[-1]
    np.testing.assert_array_equal(logits, held_out.logits_for(fit))
    assert many.accuracy == (logits.argmax(axis=1) == held_out.places).mean()


@pytest.mark.parametrize("scale", [1e-30, 1e25, 1e100])
def test_the_scale_of_vectors_does_not_matter(scale):
    matrix, classes = clouds(50)
    labels = {node: "abc"[classes[node]] for node in range(0, 150, 10)}
    answers = [classify(matrix.astype(float) * factor, pa.array(range(150)), labels) for factor in (1, scale)]
    assert (answers[0].codes == answers[1].codes).mean() > 0.97


def test_vectors_that_are_not_finite_are_refused():
    matrix, _ = clouds(5)
    matrix[7, 3] = np.nan
    with pytest.raises(ValueError, match="the vector of row 7 has values that are not numbers"):
        classify(matrix, pa.array(range(15)), {0: "a", 1: "b"})


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
