"""Features from the edges alone, stable under changes of the graph."""

from nafs.structure.features import DEFAULT_COLUMNS, structural_features, structural_nbytes

__all__ = ["DEFAULT_COLUMNS", "structural_features", "structural_nbytes"]
