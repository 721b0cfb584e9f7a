"""Write embeddings and graphs to files; a file appears only when it is complete."""

from nafs.writers.embeddings import write_embedding
from nafs.writers.graphs import write_graph, write_nodes

__all__ = ["write_embedding", "write_graph", "write_nodes"]
