"""Work for a second thread while the first one finds the order of the nodes.

Finding the order takes one thread. What the hops need besides can be prepared at the same time: above all new
memory, which the system hands out page by page as it is touched. That takes as long as several hops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

_PAGE = 4096  # bytes; the smallest pages


@contextmanager
def meanwhile(*jobs: Callable[[], object]) -> Iterator[None]:
    """Run jobs one after another on a thread of their own, and wait for them at the end of the block.

    Examples
    --------
    >>> from nafs.engines.meanwhile import meanwhile
    >>> done = []
    >>> with meanwhile(lambda: done.append("job")):
    ...     total = sum(range(5))
    >>> total, done
    (10, ['job'])
    """
    with ThreadPoolExecutor(1) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            yield
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # the job that runs is waited for
            raise
        for future in futures:
            future.result()


def touch(array: NDArray[np.uint8]) -> None:
    """Have the system hand out the memory of a new array, whose contents are not needed."""
    array[::_PAGE] = 0
