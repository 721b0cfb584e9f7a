"""Which engine runs a problem: the one asked for, or memory where that fits and disk where not."""

from __future__ import annotations

from nafs._support.budget import free_memory
from nafs._support.errors import MemoryLimitError
from nafs.engines.base import Plan, Problem
from nafs.engines.registry import find_engine
from nafs.engines.resources import AUTO

_SHARE = 0.8  # of the free memory, where the user set no limit


def choose_plan(problem: Problem) -> Plan:
    """The plan of the engine that will run the problem.

    Raises
    ------
    MemoryLimitError
        If no engine can keep the limit.
    """
    asked = problem.resources.engine
    if asked != AUTO:
        return find_engine(asked).plan(problem)
    if problem.interrupted_run:
        return find_engine("disk").plan(problem)
    try:
        plan = find_engine("memory").plan(problem)
        too_much = None
    except MemoryLimitError as error:
        too_much = error
    if too_much is None and (problem.resources.limit is not None or plan.nbytes <= _SHARE * free_memory()):
        return plan
    try:
        return find_engine("disk").plan(problem)
    except MemoryLimitError:
        if too_much is None:
            raise
        raise too_much from None  # its hints help more: they are about the settings
