"""Embeddings keyed by node id, and the function that computes them."""

from nafs.embedding.embedding import Embedding
from nafs.embedding.making import cluster, embed, embedding_of, with_some_features

__all__ = ["Embedding", "cluster", "embed", "embedding_of", "with_some_features"]
