"""Clusters: the heads that find them, what they agree on, and how good they are."""

from nafs.clustering.consensus import ClusterSearch
from nafs.clustering.gaussian_mixture import mixture
from nafs.clustering.kmeans import kmeans_of_products
from nafs.clustering.measures import agreement, best_assignment, conductance, modularity
from nafs.clustering.projection import project
from nafs.clustering.result import Clustering

__all__ = [
    "ClusterSearch",
    "Clustering",
    "agreement",
    "best_assignment",
    "conductance",
    "kmeans_of_products",
    "mixture",
    "modularity",
    "project",
]
