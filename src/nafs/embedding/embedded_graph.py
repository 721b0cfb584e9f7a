"""The graph that an embedding was made from, when it is needed once more."""

from __future__ import annotations

from typing import Any

import numpy as np

from nafs._support.errors import InputError
from nafs.graph import Graph
from nafs.graph.ids import positions
from nafs.readers.anything import as_graph


def embedded_graph(graph: Any, ids: Any) -> Graph:
    """Anything that :func:`nafs.embed` takes, as a graph whose nodes are those of an embedding.

    Examples
    --------
    >>> from nafs import from_edges
    >>> from nafs.embedding.embedded_graph import embedded_graph
    >>> graph = from_edges((["ann"], ["bob"]))
    >>> embedded_graph(graph, graph.id_array).n_nodes
    2
    """
    read = as_graph(graph)
    if read.id_array.equals(ids):
        return read
    unknown = np.flatnonzero(positions(ids, read.id_array) < 0)
    difference = "its nodes are in another order"
    if len(unknown) or read.n_nodes != len(ids):
        difference = f"it has {read.n_nodes} nodes and the embedding {len(ids)}"
    if len(unknown):
        difference += f", and {read.id_array[int(unknown[0])].as_py()!r} is not embedded"
    raise InputError(f"this is not the graph that was embedded: {difference}")
