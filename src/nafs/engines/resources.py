"""What an engine may use: threads, memory, the precision of its state, and the folder it works in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from nafs._support.budget import parse_memory
from nafs._support.checks import check_choice
from nafs.engines.registry import ENGINES
from nafs.smoothing.hops import STATE_DTYPES
from nafs.smoothing.threads import check_threads

AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Where and with what hops run; checked when it is built. See :class:`nafs.NAFS` for the meaning.

    Examples
    --------
    >>> from nafs.engines.resources import Resources
    >>> Resources(memory_limit="2GB", n_threads=1).limit
    2000000000
    """

    state_dtype: str = "float32"
    n_threads: int | None = None
    memory_limit: int | str | None = None
    engine: str = AUTO
    work_dir: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        check_choice("state_dtype", self.state_dtype, STATE_DTYPES)
        check_choice("engine", self.engine, (AUTO, *ENGINES))
        if self.work_dir is not None:  # a plain value can be written to a file of settings
            object.__setattr__(self, "work_dir", os.fspath(self.work_dir))
        _ = self.threads, self.limit

    @cached_property
    def threads(self) -> int:
        """Number of threads."""
        return check_threads(self.n_threads)

    @cached_property
    def limit(self) -> int | None:
        """The memory limit in bytes."""
        return parse_memory(self.memory_limit)
