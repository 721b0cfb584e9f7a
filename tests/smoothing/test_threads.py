"""How many threads the kernel uses."""

import warnings

import pytest

from nafs.smoothing import _kernel, threads
from nafs.smoothing.threads import check_threads


def test_all_threads_by_default():
    assert check_threads(None) == _kernel.max_threads()
    assert check_threads(3) == 3


@pytest.mark.parametrize("wrong", [0, -1, 1025])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="n_threads"):
        check_threads(wrong)


@pytest.mark.parametrize("wrong", [True, 1.5, "2"])
def test_wrong_types_are_refused(wrong):
    with pytest.raises(TypeError, match="n_threads"):
        check_threads(wrong)


def test_a_build_without_openmp_warns_once(monkeypatch):
    monkeypatch.setattr(_kernel, "OPENMP", False)
    threads._warn_once.cache_clear()
    with pytest.warns(UserWarning, match="built without OpenMP"):
        check_threads(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_threads(2)
    threads._warn_once.cache_clear()
