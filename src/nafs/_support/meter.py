"""What a piece of work costs: seconds, CPU seconds and memory."""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")


def metered(work: Callable[[], Result]) -> tuple[Result, dict[str, float]]:
    """Do some work; return its result and its cost.

    Returns
    -------
    result
    cost : dict
        "seconds" and "cpu" seconds; on Linux also "bytes", the peak of resident memory above what the process
        held before.

    Examples
    --------
    >>> from nafs._support.meter import metered
    >>> result, cost = metered(lambda: sum(range(10)))
    >>> result, cost["seconds"] < 1
    (45, True)
    """
    held = _forget_peak()
    start, worked = time.perf_counter(), time.process_time()
    result = work()
    cost = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - worked}
    peak = resident("VmHWM")
    if held is not None and peak is not None:
        cost["bytes"] = float(max(0, peak - held))
    return result, cost


def _forget_peak() -> int | None:
    """Start a new peak of resident memory, on Linux; return what is resident now."""
    if sys.platform != "linux":
        return None
    give_back()  # memory that the allocator still holds would hide what the work needs
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return resident("VmRSS")


def give_back() -> None:
    """Return memory to the system that the allocators hold but nobody uses."""
    gc.collect()
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def resident(field: str) -> int | None:
    """Bytes of memory of this process, on Linux: a field of its status such as "RssAnon"."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), None)
