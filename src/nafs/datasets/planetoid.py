"""Cora, Citeseer and PubMed from the Planetoid files ``ind.NAME.PART``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.datasets.safe_pickle import load_pickle


def load_planetoid(name: str, folder: str | Path) -> tuple[Any, Any, NDArray[np.int64]]:
    """Features, adjacency and labels of a Planetoid data set.

    Parameters
    ----------
    name : {"cora", "citeseer", "pubmed"}
    folder : str or Path
        Where the files ``ind.NAME.x``, ``.tx``, ``.allx``, ``.ty``, ``.ally``, ``.graph`` and
        ``.test.index`` are.

    Returns
    -------
    features : csr_array of float32, shape (n, f)
    adjacency : csr_array, shape (n, n)
        Boolean, so that an edge the files list twice is there once; self-loops as published.
    labels : ndarray of int64, shape (n,)
        -1 for the nodes of Citeseer that have none.
    """
    folder = Path(folder)
    tx, allx, ty, ally, graph = (
        load_pickle(folder / f"ind.{name}.{part}") for part in ("tx", "allx", "ty", "ally", "graph")
    )
    order = np.loadtxt(folder / f"ind.{name}.test.index", dtype=np.int64)
    n = len(graph)
    features = sp.lil_array((n, allx.shape[1]), dtype=np.float32)
    labels = np.full(n, -1, dtype=np.int64)
    features[: allx.shape[0]] = allx
    features[order] = tx
    labels[: len(ally)] = ally.argmax(axis=1)
    labels[order] = ty.argmax(axis=1)
    rows = np.repeat(np.arange(n), [len(graph[i]) for i in range(n)])
    columns = np.concatenate([np.asarray(graph[i], dtype=np.int64) for i in range(n)])
    adjacency = sp.csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=(n, n))
    return sp.csr_array(features), adjacency, labels


def planetoid_split(name: str, folder: str | Path) -> dict[str, NDArray[np.int64]]:
    """The public split: 20 nodes of each class to train, 500 to validate, and the published test nodes.

    Parameters
    ----------
    name : {"cora", "citeseer", "pubmed"}
    folder : str or Path

    Returns
    -------
    dict of index arrays
        Under "train", "validation" and "test".
    """
    count = len(load_pickle(Path(folder) / f"ind.{name}.y"))
    test = np.loadtxt(Path(folder) / f"ind.{name}.test.index", dtype=np.int64)
    return {
        "train": np.arange(count),
        "validation": np.arange(count, count + 500),
        "test": np.sort(test),
    }
