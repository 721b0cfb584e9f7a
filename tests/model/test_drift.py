"""Notes on new rows that do not look like those that a model was built from."""

from types import SimpleNamespace

import numpy as np
import pytest

from nafs.model.drift import Drift


@pytest.mark.parametrize(
    ("chosen", "values", "noted"),
    [
        ("components", lambda rng: rng.standard_normal((25, 40)), False),  # few rows do not show the order
        ("standardize", lambda rng: rng.standard_normal((25, 40)), False),
        ("components", lambda rng: rng.poisson(0.2, (25, 40)), True),
        ("tfidf", lambda rng: rng.standard_normal((25, 40)), True),
        ("tfidf", lambda rng: rng.standard_normal((3, 40)), False),  # too few
    ],
)
def test_new_rows_of_another_kind_are_noted(chosen, values, noted):
    rows = values(np.random.default_rng(0)).astype(np.float32)
    model = SimpleNamespace(recipe=SimpleNamespace(encoding=None))
    notes = Drift(100, preprocessing=chosen)._about_features(model, rows)
    assert [f"preprocessing {chosen} was chosen" in note for note in notes] == [True] * noted
