"""How many threads the kernel uses."""

from __future__ import annotations

import warnings
from functools import cache
from numbers import Integral

from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs.graph.adjacency import find_stack_level
from nafs.smoothing import _kernel


def check_threads(n_threads: int | None) -> int:
    """Return a number of threads; ``None`` means what OpenMP would use (OMP_NUM_THREADS, affinity).

    Examples
    --------
    >>> from nafs.smoothing.threads import check_threads
    >>> check_threads(2)
    2
    """
    if not _kernel.OPENMP:
        _warn_once()
    if n_threads is None:
        return _kernel.max_threads()
    if isinstance(n_threads, bool) or not isinstance(n_threads, Integral):
        raise InputTypeError(Parameter("n_threads"), f" must be an integer or None; got {n_threads!r}")
    if not 1 <= n_threads <= 1024:
        raise InputError(
            Parameter("n_threads"), f" must lie in 1..1024; got {n_threads}; all cores are used by default"
        )
    return int(n_threads)


@cache
def _warn_once() -> None:
    warnings.warn(
        "nafs was built without OpenMP and uses one thread; install a wheel, or build it with a compiler "
        "that has OpenMP",
        UserWarning,
        stacklevel=find_stack_level(),
    )
