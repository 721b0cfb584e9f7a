"""Choosing the preprocessing and the number of hops without labels."""

from nafs.selection.choice import LADDER, Choice
from nafs.selection.preprocessing import prepare
from nafs.selection.reduction import reduce

__all__ = ["LADDER", "Choice", "prepare", "reduce"]
