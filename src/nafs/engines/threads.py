"""Copies and sums of mapped arrays, on several threads: NumPy releases the lock while it moves values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Block = TypeVar("_Block")


def on_threads(run: Callable[[_Block], None], blocks: Iterable[_Block], n_threads: int) -> None:
    """Run a function on each block. The first error is raised once the blocks that have begun are done."""
    if n_threads == 1:
        for block in blocks:
            run(block)
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        for _ in pool.map(run, blocks):
            pass
    finally:
        pool.shutdown(cancel_futures=True)
