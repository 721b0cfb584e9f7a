"""Embeddings for many numbers of hops in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs.engines import memory
from nafs.engines.progress import ProgressCallback
from nafs.pipeline.decide import decide
from nafs.pipeline.execute import prepare_features
from nafs.pipeline.job import Job
from nafs.selection.choice import LADDER
from nafs.smoothing.method import AUTO, check_hops


def sweep(
    job: Job, hops: Iterable[int] | None = None, progress: ProgressCallback | None = None
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield (K, embedding) for each wanted K, ascending, at the cost of the largest alone.

    Parameters
    ----------
    job : Job
        ``n_hops="auto"`` only sets the default of ``hops``; the preprocessing is still chosen.
    hops : iterable of ints, optional
        1..n_hops by default.
    progress : callable, optional

    Returns
    -------
    iterator of (int, ndarray)
    """
    n_hops = job.settings.method.n_hops
    most = LADDER[-1] if n_hops == AUTO else int(n_hops)
    wanted = range(1, most + 1) if hops is None else hops
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise InputTypeError(
            Parameter("hops"), f" must be a sequence of integers, such as range(1, 21); got {hops!r}"
        )
    ascending = sorted({check_hops(hop, "hops") for hop in wanted})
    if not ascending:
        raise InputError(Parameter("hops"), " is empty: name at least one number of hops")
    decision = decide(replace(job, settings=job.settings.with_hops(ascending[-1])))
    _, features, _ = prepare_features(decision)
    return memory.sweep(decision.problem, features, ascending, progress)
