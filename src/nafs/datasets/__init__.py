"""Named public graphs."""

from nafs.datasets.planetoid import load_planetoid

__all__ = ["load_planetoid"]
