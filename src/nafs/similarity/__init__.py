"""Nearest nodes in the embedding, and missing links."""

from nafs.similarity.index_file import write_index
from nafs.similarity.likely_links import likely_links, reasons_of
from nafs.similarity.nearest import nearest
from nafs.similarity.suggestions import suggest_pairs

__all__ = ["likely_links", "nearest", "reasons_of", "suggest_pairs", "write_index"]
