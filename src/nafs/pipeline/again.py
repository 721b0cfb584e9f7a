"""Recompute the features of an embedding from its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nafs.graph import Features, Graph, read_features
from nafs.selection.preprocessing import CENTERS, prepare
from nafs.selection.reduction import reduce
from nafs.selection.structure import beside
from nafs.structure import structural_features


def features_again(graph: Graph, settings: Mapping[str, Any]) -> Features:
    """Features as they went into smoothing.

    Parameters
    ----------
    graph : Graph
        The embedded graph, with its features.
    settings : mapping
        The embedding's settings; some may be missing if the file does not state them.

    Returns
    -------
    Features
    """
    assert graph.features is not None
    features = prepare(graph.features, graph.adjacency, settings.get("preprocessing") or "none")
    if "structure_share" in settings:
        structural = structural_features(graph, int(settings["structure"]), int(settings["seed"]))
        features = beside(features, read_features(structural), float(settings["structure_share"]))
    center = settings.get("center")
    features = prepare(features, graph.adjacency, "none", center if center in CENTERS else "none")
    if "dim" in settings:
        features, _ = reduce(features, int(settings["dim"]), settings.get("reduction", "svd"))
    return features
