"""Answers for every node: its cluster, or its class from a few labels."""

from nafs.answers.classes import Classification, classify, width_for_classes
from nafs.answers.clusters import Clusters, clusters_of, warn_if_fewer

__all__ = ["Classification", "Clusters", "classify", "clusters_of", "warn_if_fewer", "width_for_classes"]
