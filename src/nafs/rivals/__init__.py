"""The systems that the method is compared with, one file each, behind one contract."""

from nafs.rivals.compare import Comparison, compare
from nafs.rivals.contract import OutOfMemoryError, Problem, Rival, problem_of
from nafs.rivals.judge import judge
from nafs.rivals.registry import RIVALS, rivals_for

__all__ = [
    "RIVALS",
    "Comparison",
    "OutOfMemoryError",
    "Problem",
    "Rival",
    "compare",
    "judge",
    "problem_of",
    "rivals_for",
]
