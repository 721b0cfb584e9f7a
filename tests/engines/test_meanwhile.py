"""Jobs beside the search for an order."""

from threading import Event, Timer

import numpy as np
import pytest

from nafs.engines.meanwhile import meanwhile, touch


def test_jobs_are_done_when_the_block_ends():
    order = []
    with meanwhile(lambda: order.append(1), lambda: order.append(2)):
        pass
    assert order == [1, 2]


def test_errors_of_a_job_are_raised():
    with pytest.raises(ZeroDivisionError), meanwhile(lambda: 1 / 0):
        pass


def test_an_error_of_the_block_waits_only_for_the_job_that_runs():
    begun, end, done = Event(), Event(), []

    def first():
        begun.set()
        end.wait()
        done.append("first")

    def interrupted():
        with meanwhile(first, lambda: done.append("second")):
            begun.wait()
            Timer(0.1, end.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == ["first"]


@pytest.mark.parametrize("size", [0, 1, 4096, 10_000])
def test_every_page_is_touched(size):
    memory = np.ones(size, np.uint8)
    touch(memory)
    assert not memory[::4096].any()
