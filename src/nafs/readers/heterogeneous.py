"""One kind of nodes of a PyG ``HeteroData``, linked where a meta-path leads from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs._support.errors import InputError, Parameter
from nafs.graph import Graph

EdgeType = tuple[str, str, str]

_HINT = "; torch_geometric.transforms.ToUndirected() adds the reverse of each edge type"


def meta_path_graph(
    data: Any,
    node_type: str,
    meta_path: Sequence[EdgeType],
    to_array: Any,
    *,
    directed: bool = False,
    self_loops: bool = False,
) -> Graph:
    """The nodes of one type; the weight of an edge is the number of paths between its ends.

    Parameters
    ----------
    data : torch_geometric.data.HeteroData
    node_type : str
    meta_path : sequence of (source type, relation, target type)
        From ``node_type`` back to ``node_type``.
    to_array : callable
        Turns a tensor into an array.

    Returns
    -------
    Graph
        Paths from a node to itself are self-loops, which are dropped unless ``self_loops`` is set.
    """
    known = [tuple(kind) for kind in data.edge_types]
    if node_type not in data.node_types:
        raise InputError(
            Parameter("node_type"), f" must be one of {', '.join(data.node_types)}; got {node_type!r}"
        )
    product, at = None, node_type
    for step in map(tuple, meta_path):
        if step not in known:
            raise InputError(Parameter("meta_path"), f" names {step}, but the edge types are {known}{_HINT}")
        if step[0] != at:
            raise InputError(
                Parameter("meta_path"), f" continues from {at!r}, but the next step is {step}{_HINT}"
            )
        source, target = to_array(data[step].edge_index)
        shape = (int(data[step[0]].num_nodes), int(data[step[2]].num_nodes))
        for ends, count, kind in ((source, shape[0], step[0]), (target, shape[1], step[2])):
            if len(ends) and not 0 <= int(ends.min()) <= int(ends.max()) < count:
                raise InputError(f"the edges {step} name {kind} {int(ends.max())}, but there are {count}")
        matrix = sp.csr_array((np.ones(len(source)), (source, target)), shape=shape)
        product, at = (matrix if product is None else product @ matrix), step[2]
    if product is None or at != node_type:
        raise InputError(
            Parameter("meta_path"), f" must lead from {node_type!r} back to {node_type!r}; it ends at {at!r}"
        )
    x, y = (getattr(data[node_type], name, None) for name in ("x", "y"))
    labels = None if y is None else to_array(y).reshape(-1)
    usable = labels is not None and len(labels) == product.shape[0] and labels.dtype.kind in "iub"
    return Graph(
        product,
        None if x is None else to_array(x),
        labels=labels if usable else None,
        directed=directed,
        self_loops=self_loops,
        notes=[
            f"{node_type} nodes, linked over {' → '.join(step[1] for step in meta_path)}; weights count "
            "paths, and edge weights of the steps are not used"
        ],
    )
