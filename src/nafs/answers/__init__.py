"""Answers for every node: its cluster, or its class from a few labels."""

from nafs.answers.classes import Classification, classify, width_for_classes
from nafs.answers.clusters import Clusters, clusters_of

__all__ = ["Classification", "Clusters", "classify", "clusters_of", "width_for_classes"]
