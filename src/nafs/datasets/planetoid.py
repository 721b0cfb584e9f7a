"""Cora, Citeseer and PubMed from the Planetoid files ``ind.NAME.PART``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.datasets.pickles import as_matrix, as_neighbors, read_pickle


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
        Boolean, so that repeated edges count once; self-loops as published.
    labels : ndarray of int64, shape (n,)
        -1 for the nodes of Citeseer that have none.
    """
    folder = Path(folder)
    tx, allx, ty, ally = (_matrix(folder / f"ind.{name}.{part}") for part in ("tx", "allx", "ty", "ally"))
    graph = as_neighbors(read_pickle(folder / f"ind.{name}.graph"), str(folder / f"ind.{name}.graph"))
    order = _test_nodes(folder / f"ind.{name}.test.index", len(graph))
    n = len(graph)
    if (
        allx.shape[0] > n
        or len(ally) > n
        or allx.shape[1] != tx.shape[1]
        or len(order) != tx.shape[0] != len(ty)
    ):
        raise InputError(f"{folder}: the files of {name} do not fit together")
    features = sp.lil_array((n, allx.shape[1]), dtype=np.float32)
    labels = np.full(n, -1, dtype=np.int64)
    features[: allx.shape[0]] = allx
    features[order] = tx
    labels[: len(ally)] = ally.argmax(axis=1)
    labels[order] = ty.argmax(axis=1)
    rows = np.repeat(np.arange(n), [len(neighbors) for neighbors in graph])
    columns = np.concatenate([np.asarray(neighbors, dtype=np.int64) for neighbors in graph])
    adjacency = sp.csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=(n, n))
    return sp.csr_array(features), adjacency, labels


def _matrix(path: Path) -> Any:
    matrix = as_matrix(read_pickle(path), str(path))
    if matrix.ndim != 2:
        raise InputError(f"{path}: expected a matrix; found shape {matrix.shape}")
    return matrix


def _test_nodes(path: Path, n: int) -> NDArray[np.int64]:
    try:
        nodes = np.loadtxt(path, dtype=np.int64, ndmin=1)
    except ValueError as error:
        raise InputError(f"{path}: expected one node per line ({error})") from None
    if nodes.ndim != 1 or (len(nodes) and not 0 <= nodes.min() <= nodes.max() < n):
        raise InputError(f"{path}: it names nodes outside 0..{n - 1}")
    return nodes


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
    count = len(_matrix(Path(folder) / f"ind.{name}.y"))
    test = _test_nodes(Path(folder) / f"ind.{name}.test.index", 2**31)
    return {
        "train": np.arange(count),
        "validation": np.arange(count, count + 500),
        "test": np.sort(test),
    }
