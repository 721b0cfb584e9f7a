"""Linear algebra on one thread, and clusters that do not depend on the number of threads."""

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from nafs._support.blas import one_blas_thread
from nafs.clustering import ClusterSearch


def blas_threads() -> set[int]:
    return {library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers}


@pytest.fixture
def two_threads():
    with threadpool_limits(2, "blas"):
        if blas_threads() != {2}:
            pytest.skip("this BLAS has one thread only")
        yield


def test_the_limit_ends_with_the_block(two_threads):
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_the_limit_ends_after_an_error(two_threads):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert blas_threads() == {2}


def test_blocks_inside_one_another_end_with_the_outer_one(two_threads):
    with one_blas_thread():
        with one_blas_thread():
            pass
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_overlapping_blocks_of_two_threads_leave_no_limit_behind(two_threads):
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with one_blas_thread():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with one_blas_thread():
        thread.start()
        inside.wait()
        assert blas_threads() == {1}
    leave.set()
    thread.join()
    assert blas_threads() == {2}


def test_clusters_do_not_depend_on_the_number_of_blas_threads():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(3000, 600)) + 0.3 * rng.normal(size=(5, 600))[rng.integers(0, 5, 3000)]
    shares = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            search = ClusterSearch([(1, points), (2, points**2), (3, points**3)], 5)
            shares.append((search.hops[1].rows.tobytes(), search.consensus(5).labels.tobytes()))
    assert shares[0] == shares[1]
