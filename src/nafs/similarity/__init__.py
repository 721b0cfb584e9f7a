"""What is near a node in the embedding, and which links are missing."""

from nafs.similarity.nearest import nearest
from nafs.similarity.suggestions import suggest_pairs

__all__ = ["nearest", "suggest_pairs"]
