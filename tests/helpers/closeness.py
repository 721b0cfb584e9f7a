"""How results are compared with the oracle, and the combinations of options to test."""

import itertools

import numpy as np

from nafs.smoothing.method import DISTANCES, ENSEMBLES, WEIGHTINGS

COMBINATIONS = list(itertools.product(ENSEMBLES, WEIGHTINGS, DISTANCES))
RELATIVE = 1e-5


def assert_close(actual, expected):
    """Compare rows with a tolerance of 1e-5 of their norm."""
    assert actual.shape == expected.shape
    assert np.isfinite(actual).all()
    size = np.abs(expected).max(axis=1, keepdims=True)
    error = np.abs(actual - expected)
    assert (error <= RELATIVE * size + 1e-30).all(), f"off by {(error / (size + 1e-30)).max():.2e}"
