"""Whatever people have their graphs in → Graph."""

from nafs.readers.files import read_graph
from nafs.readers.frames import from_edges
from nafs.readers.frameworks import from_igraph, from_networkx, from_pyg

__all__ = ["from_edges", "from_igraph", "from_networkx", "from_pyg", "read_graph"]
