"""Choosing the preprocessing and the number of hops without labels."""

from nafs.selection.choice import Choice, choose
from nafs.selection.preprocessing import prepare, reduce

__all__ = ["Choice", "choose", "prepare", "reduce"]
