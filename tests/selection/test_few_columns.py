"""Tables of few numbers, or with a few that outweigh the others, such as age and income."""

import numpy as np
import pytest

from nafs import Graph, embed
from nafs.graph import read_features
from nafs.selection.preprocessing import judge, measurements_note


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ([1], "standardize"),  # one measurement
        ([40, 50_000, 2], "standardize"),  # age, income, children
        ([1] * 20 + [50_000], "standardize"),
        ([1] * 20, "l2"),
        ([1, 2] * 10, "l2"),
    ],
)
def test_columns_with_units_of_their_own_are_scaled_one_by_one(columns, kind):
    rng = np.random.default_rng(0)
    values = np.array(columns) * rng.uniform(0.5, 1.5, (200, len(columns)))
    assert judge(read_features(values))[0] == kind


@pytest.mark.parametrize("largest", [0, 2023, 90_000])  # none, a year, an income
def test_a_measurement_beside_counts_of_words_is_seen(largest):
    rng = np.random.default_rng(1)
    words = (rng.random((100, 60)) < 0.1) * rng.integers(1, 4, (100, 60))
    values = np.column_stack([words, rng.integers(largest // 2, largest, 100)]) if largest else words
    assert judge(read_features(values))[0] == ("standardize" if largest else "tfidf")
    names = [*(f"word {place}" for place in range(60)), *(["when"] if largest else [])]
    notes = measurements_note(read_features(values), names)
    assert ["column 'when' outweighs" in note for note in notes] == [True] * bool(largest)
    graph = Graph(np.eye(100, k=1), values, feature_names=names, directed=False)
    reasons = embed(graph, 2, preprocessing="auto").choice.reasons
    assert any("'when'" in reason for reason in reasons) == bool(largest)


def test_a_column_without_meaning_does_not_drown_the_others():
    """Ages that tell groups apart, beside two columns that do not; half of the nodes have labels."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 300)
    ages, incomes = 25 + 20 * groups + rng.normal(0, 5, 300), rng.uniform(2e4, 9e4, 300)
    same = groups[:, None] == groups
    edges = np.triu(rng.random(same.shape) < np.where(same, 0.03, 0.015), 1)
    graph = Graph(edges, np.column_stack([ages, incomes, rng.uniform(0, 3, 300)]), directed=False)
    labels = [str(group) if node < 150 else None for node, group in enumerate(groups)]
    accuracy = {}
    for kind in ("auto", "l2"):
        embedding = embed(graph, n_hops="auto", n_clusters=3, preprocessing=kind)
        answer = embedding.classify(labels)
        predicted = np.array(answer.classes.to_pylist(), int)[answer.codes]
        accuracy[kind] = (predicted == groups)[150:].mean()
    assert accuracy["auto"] > accuracy["l2"] + 0.15, accuracy
