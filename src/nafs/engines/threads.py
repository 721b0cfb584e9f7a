"""Copies and sums of mapped arrays, on several threads: NumPy releases the lock while it moves values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

_Block = TypeVar("_Block")


def on_threads(run: Callable[[_Block], None], blocks: Iterable[_Block], n_threads: int) -> None:
    """Run a function on each block. The first error is raised once the blocks that have begun are done."""
    if n_threads == 1:
        for block in blocks:
            run(block)
        return
    remaining = iter(blocks)
    with ThreadPoolExecutor(n_threads) as pool:
        begun: set[Future[None]] = set()
        while begun := begun | {
            pool.submit(run, block) for block in islice(remaining, 2 * n_threads - len(begun))
        }:
            done, begun = wait(begun, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
