"""One validated graph: neighbour lists and features in the form that hops run on."""

from nafs.graph.adjacency import Adjacency, read_adjacency
from nafs.graph.features import Features, read_features
from nafs.graph.neighbors import nearest_neighbor_graph

__all__ = ["Adjacency", "Features", "nearest_neighbor_graph", "read_adjacency", "read_features"]
