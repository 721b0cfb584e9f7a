"""Memory limits: parsing, checking, and how much memory the machine has."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from pathlib import Path
from typing import Any

from nafs._support.errors import InputError, InputTypeError, MemoryLimitError, Parameter, Part
from nafs._support.mapped import is_mapped
from nafs._support.meter import resident

LIMIT = Parameter("memory_limit")
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_MOST = 2**60  # bytes
_DUCKDB = 80 << 20  # bytes that DuckDB and Arrow keep after reading tables
_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


_program: ContextVar[int] = ContextVar("bytes of the program itself", default=0)


@contextmanager
def counting_program(nbytes: int) -> Iterator[None]:
    """Count the memory of the program itself towards limits inside the block.

    A command is a whole program, and its limit covers all of its memory. The library runs inside another
    program, and its limit covers only the memory that a call needs besides its inputs.
    """
    token = _program.set(nbytes)
    try:
        yield
    finally:
        _program.reset(token)


def program_bytes(limit: int | None) -> int:
    """Bytes of the program itself, which a command's limit covers; 0 in the library and without a limit."""
    program = _program.get()
    if limit is None or not program:
        return 0
    return program + (_DUCKDB if "duckdb" in sys.modules else 0)


def left_of(limit: int | None, *arrays: Any) -> int | None:
    """What remains of a limit besides the program and its arrays, which only commands count."""
    program = _program.get()
    if limit is None or not program:
        return limit
    remaining = limit - program - sum(int(array.nbytes) for array in arrays if not is_mapped(array))
    check_limit(limit - remaining, limit, "the program and its input take", "raise it")
    return remaining


def left_now(limit: int | None) -> int | None:
    """What remains of a limit besides all memory that the program holds now.

    A limit of the library covers only what a call adds, so it is returned unchanged.
    """
    program = _program.get()
    if limit is None or not program:
        return limit
    return limit - max(program, resident("RssAnon") or 0)


def parse_memory(limit: Any) -> int | None:
    """Bytes of a limit such as ``2_000_000_000``, ``"2GB"`` or ``"1.5GiB"``; ``None`` stays ``None``.

    Examples
    --------
    >>> from nafs._support.budget import parse_memory
    >>> parse_memory("1.5GB"), parse_memory("2 GiB")
    (1500000000, 2147483648)
    """
    if limit is None:
        return None
    if isinstance(limit, Real) and not isinstance(limit, bool) and limit == limit // 1:
        size = _MOST if limit > _MOST else int(float(limit))  # type: ignore[operator]
    elif isinstance(limit, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", limit.lower())
        if match is None or (match[3] and not match[2]):
            raise InputError(LIMIT, f" must look like '4GB', '500MB' or '2GiB'; got {limit!r}")
        unit = _BINARY[match[2]] if match[3] else _UNITS[match[2]]
        size = int(min(float(match[1]) * unit, _MOST))
    else:
        raise InputTypeError(LIMIT, f" must be bytes, a string like '4GB' or None; got {limit!r}")
    if size <= 0:
        raise InputError(LIMIT, f" must be positive; got {limit!r}")
    if size >= _MOST:
        raise InputError(
            LIMIT, f" is beyond what any machine has: {str(limit)[:40]}; leave it out for no limit"
        )
    return size


def show_bytes(size: int, *, at_least: bool = False) -> str:
    """Format a number of bytes for people; ``at_least`` rounds up, so that this number is enough.

    Examples
    --------
    >>> from nafs._support.budget import show_bytes
    >>> show_bytes(1_500_000_000), show_bytes(332_100_000), show_bytes(332_100_000, at_least=True)
    ('1.5 GB', '332 MB', '333 MB')
    """
    if at_least:
        last = 10 ** max(0, len(str(size)) - 3)  # the third digit
        size = -(-size // last) * last
    for unit, power in (("TB", 12), ("GB", 9), ("MB", 6), ("kB", 3)):
        if size >= 10**power:
            return f"{size / 10**power:.3g} {unit}"
    return f"{size} B"


def check_limit(needed: int, limit: int | None, subject: str, *hint: Part) -> None:
    """Raise MemoryLimitError if an operation needs more memory than the limit; called before any work.

    Examples
    --------
    >>> from nafs._support.budget import check_limit
    >>> check_limit(2_000_000, 1_000_000, "copying needs", "raise it")
    Traceback (most recent call last):
    nafs._support.errors.MemoryLimitError: copying needs 2 MB, more than the memory_limit of 1 MB; raise it
    """
    if limit is not None and needed > limit:
        raise MemoryLimitError(
            f"{subject} {show_bytes(needed, at_least=True)}, more than the ",
            LIMIT,
            f" of {show_bytes(limit)}; ",
            *hint,
        )


def total_memory() -> int:
    """Bytes of memory of this machine, or of the container that the process runs in."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            total = min(total, int(Path(name).read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return total


def free_memory() -> int:
    """Bytes of memory that are available now."""
    try:
        available = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        available = None
    total = total_memory()
    return min(total, int(available[1]) * 1024) if available else total // 2
