"""An embedding of any origin, from a file, in the order of a graph's nodes."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Graph
from nafs.graph.ids import check_unique, positions
from nafs.readers.matrices import is_matrix, read_matrix
from nafs.readers.tables import TableOptions, read_nodes


def read_vectors(path: str | os.PathLike[str], graph: Graph) -> NDArray[np.float32]:
    """One row for each node of the graph.

    Parameters
    ----------
    path : path
        A table keyed by id (.parquet, .csv, ...) with numbers or lists of numbers, or a matrix (.npy) in the
        graph's order.
    graph : Graph

    Returns
    -------
    ndarray of float32, shape (n, d)
    """
    name = os.fspath(path)
    if is_matrix(name):
        matrix: Any = read_matrix(name)
        matrix = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, np.float32)
        if matrix.ndim != 2 or len(matrix) != graph.n_nodes:
            raise ValueError(
                f"{name}: it has shape {matrix.shape} for {graph.n_nodes} nodes; one row each is needed"
            )
        return np.asarray(matrix)
    table = read_nodes(name, TableOptions())
    if table.features is None:
        raise ValueError(f"{name}: there are no columns of numbers in it")
    check_unique(table.ids, name)
    places = positions(table.ids, graph.id_array)
    lacking = int((places < 0).sum())
    if lacking:
        example = graph.id_array[int(np.flatnonzero(places < 0)[0])].as_py()
        raise ValueError(f"{name}: {lacking} of {graph.n_nodes} nodes are not in it, such as {example!r}")
    return np.asarray(table.features[places])
