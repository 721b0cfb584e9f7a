"""Choose the engine: the requested one; otherwise memory if it fits, else disk."""

from __future__ import annotations

from nafs._support.budget import free_memory
from nafs._support.errors import MemoryLimitError
from nafs.engines.base import Plan, Problem
from nafs.engines.registry import find_engine
from nafs.engines.resources import AUTO

_SHARE = 0.8  # of the free memory, if the user set no limit


def choose_plan(problem: Problem) -> Plan:
    """The plan of the engine that will run the problem.

    Raises
    ------
    MemoryLimitError
        If no engine can stay within the limit.
    """
    requested = problem.resources.engine
    if requested != AUTO:
        return find_engine(requested).plan(problem)
    if problem.interrupted_run:
        return find_engine("disk").plan(problem)
    try:
        plan = find_engine("memory").plan(problem)
        memory_error = None
    except MemoryLimitError as error:
        memory_error = error
    if memory_error is None and (
        problem.resources.limit is not None or plan.nbytes <= _SHARE * free_memory()
    ):
        return plan
    try:
        return find_engine("disk").plan(problem)
    except MemoryLimitError:
        if memory_error is None:
            raise
        raise memory_error from None  # its hints are about settings, which helps more
