"""Blocks that run on several threads: each of them once, and an error is not lost."""

from __future__ import annotations

import time

import numpy as np
import pytest

from nafs.engines.threads import on_threads


@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_block_runs_once(n_threads: int) -> None:
    counts = np.zeros(50, np.int64)

    def count(block: int) -> None:
        counts[block] += 1

    on_threads(count, range(50), n_threads)
    assert (counts == 1).all()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_is_raised_and_no_further_block_begins(n_threads: int) -> None:
    begun, ended = [], []

    def fail(block: int) -> None:
        begun.append(block)
        time.sleep(0.01 if block else 0.002)
        ended.append(block)
        raise OSError(f"block {block}")

    with pytest.raises(OSError, match="block"):
        on_threads(fail, range(10_000), n_threads)
    assert sorted(begun) == sorted(ended)  # nothing runs on in the background
    assert len(begun) < 20
