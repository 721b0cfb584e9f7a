"""Linear algebra on one thread.

Products of the BLAS may differ in their last bits with the number of threads, and clusters with them. On one
thread they do not. Small products are also faster that way, because threads of the BLAS compete with those of
the hops.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_inside = RLock()  # held by the thread that set the limit


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit the BLAS to one thread; also a decorator.

    The limit holds for the whole process. While a thread is inside such a block, blocks of other threads
    leave the limit as it is. So they may lose it before they end, but it is never left behind.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs._support.blas import one_blas_thread
    >>> with one_blas_thread():
    ...     product = np.eye(2) @ np.eye(2)
    """
    if not _inside.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _inside.release()


@cache
def _controller() -> ThreadpoolController:
    """The BLAS of NumPy and SciPy. Looking for them takes longer than many a product, so it is done once."""
    import scipy.linalg  # noqa: F401  (it may have a BLAS of its own)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
