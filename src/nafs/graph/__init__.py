"""One validated graph: neighbour lists, features, node ids and labels in the form that hops run on."""

from nafs.graph.adjacency import Adjacency, read_adjacency
from nafs.graph.description import Description
from nafs.graph.feature_reading import read_features
from nafs.graph.features import Features
from nafs.graph.graph import Graph
from nafs.graph.labels import Labels, read_labels
from nafs.graph.neighbors import nearest_neighbor_graph

__all__ = [
    "Adjacency",
    "Description",
    "Features",
    "Graph",
    "Labels",
    "nearest_neighbor_graph",
    "read_adjacency",
    "read_features",
    "read_labels",
]
