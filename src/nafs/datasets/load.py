"""load_dataset: a graph by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.datasets.catalog import Entry, find
from nafs.datasets.download import data_home, fetch
from nafs.datasets.graphdata import load_graphdata
from nafs.datasets.ogb import load_ogb
from nafs.datasets.planetoid import load_planetoid, planetoid_split
from nafs.datasets.wiki import load_wiki
from nafs.graph import Graph, nearest_neighbor_graph

Split = dict[str, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A named graph and, where one was published, its split into train, validation and test nodes."""

    name: str
    title: str
    graph: Graph
    split: Split | None = None

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.graph!r})"


def load_dataset(name: str, *, progress: bool = False, unverified: bool = False) -> Dataset:
    """A public graph by name, downloaded on first use.

    Parameters
    ----------
    name : str
        Such as "cora"; :data:`nafs.datasets.CATALOG` lists all names.
    progress : bool
        Show a bar while downloading.
    unverified : bool
        Also download files whose SHA-256 is not known.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from nafs.datasets import load_dataset
    >>> load_dataset("digits").graph
    Graph(1797 nodes, 12340 edges, 64 features, ids 'image-0', 'image-1', 'image-2', ..., 10 classes)
    """
    entry = find(name)
    if entry.layout == "digits":
        return Dataset(entry.name, entry.title, _digits())
    paths = fetch(entry, progress=progress, unverified=unverified)
    split: Split | None = None
    if entry.layout == "planetoid":
        folder = data_home() / "planetoid"
        features, adjacency, labels = load_planetoid(entry.name, folder)
        split = planetoid_split(entry.name, folder)
    elif entry.layout == "wiki":
        features, adjacency, labels = load_wiki(paths[0])
    elif entry.layout == "graphdata":
        features, adjacency, labels = load_graphdata(paths[0])
    else:
        features, adjacency, labels, split = load_ogb(paths[0])
    graph = Graph(adjacency, features, labels=_labels(labels), directed=False)
    _check(entry, graph)
    return Dataset(entry.name, entry.title, graph, split)


def _labels(labels: NDArray[Any]) -> Any:
    """Whole numbers, missing where negative."""
    import pyarrow as pa

    numbers = labels.astype(np.int64)
    return pa.array(numbers, mask=numbers < 0)


def _digits() -> Graph:
    """scikit-learn's bundled digits: 64 pixels each, linked to their 10 nearest neighbours."""
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    return Graph(
        nearest_neighbor_graph(pixels, 10),
        pixels,
        ids=[f"image-{i}" for i in range(len(pixels))],
        labels=digits,
        feature_names=[f"pixel{i}" for i in range(pixels.shape[1])],
    )


def _check(entry: Entry, graph: Graph) -> None:
    """Raise if the counts of nodes, edges and so on are not the published ones."""
    assert graph.features is not None
    assert graph.labels is not None
    counts = {
        "nodes": graph.n_nodes,
        "features": graph.features.shape[1],
        "edges": graph.n_edges,
        "classes": len(graph.labels.classes),
    }
    for part, count in counts.items():
        expected = getattr(entry, part)
        if expected is not None and expected != count:
            raise InputError(f"{entry.name}: read {count:,} {part} where {expected:,} are expected")
