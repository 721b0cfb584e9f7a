"""A second opinion on a damaged file that nafs has read: by NumPy, SciPy, Arrow or Python's csv."""

import csv
import io

import numpy as np
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse as sp

MOST = 2000  # nodes of a graph that is compared


def difference(folder, call, result):
    """How a result differs from that of another reader; empty if they agree."""
    if call == "embedding":
        return _embedding(folder, result)
    edges, features = folder / call[0], folder / call[1] if len(call) > 1 and call[1] else None
    if edges.suffix in (".npy", ".npz", ".mtx") and result.n_nodes <= MOST:
        theirs = _undirected(_matrix(edges))
        if theirs is not None and not _same(theirs, result.adjacency.to_scipy()):
            return "other edges than another reader finds"
    if edges.suffix == ".csv" and edges.exists() and " weight = " in result.notes[0]:
        total = _total_weight(edges)
        ours = result.adjacency.to_scipy().sum() / 2
        if total is not None and " into " not in result.notes[0] and ours > total * (1 + 1e-5):
            return f"weights of {total} became {ours}"
    if features is not None and features.suffix in (".npy", ".npz"):
        theirs = _matrix(features)
        if theirs is not None and not _same(theirs, result.features.matrix):
            return "other features than another reader finds"
    if edges.suffix == ".parquet":
        return _parquet_ids(edges, result)
    return ""


def _matrix(path):
    """The matrix in a file by NumPy or SciPy."""
    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        if path.suffix == ".mtx":
            return scipy.io.mmread(path)
        return sp.load_npz(path)
    except Exception:
        return None


def _undirected(matrix):
    try:
        matrix = sp.coo_array(matrix)
    except (ValueError, TypeError):  # nothing, or numbers in another byte order
        return None
    values = matrix.data.astype(np.float64)
    there = values != 0
    ones = (values[there] == 1).all()
    matrix = sp.csr_array((values[there], (matrix.row[there], matrix.col[there])), shape=matrix.shape)
    if ones:
        matrix.data[:] = 1
    matrix = matrix - sp.diags_array(matrix.diagonal())
    return matrix.maximum(matrix.T)


def _same(theirs, ours):
    a, b = (np.asarray(m.toarray() if sp.issparse(m) else m, np.float64) for m in (theirs, ours))
    with np.errstate(all="ignore"):
        return a.shape == b.shape and np.allclose(
            a.astype(np.float32), b.astype(np.float32), rtol=1e-5, atol=0
        )


def _total_weight(path):
    """The sum of the weights of a plain table with the columns source, target and weight."""
    text = path.read_bytes().decode("utf-8", "replace")
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or rows[0] != ["source", "target", "weight"]:
        return None
    try:
        return sum(float(row[2]) for row in rows[1:] if row)
    except (ValueError, IndexError):
        return None


def _parquet_ids(path, graph):
    try:
        table = pq.read_table(path)
    except Exception:
        return ""
    if not {"source", "target"} <= set(table.column_names):
        return ""
    values = [value for name in ("source", "target") for value in table[name].to_pylist()]
    ends = {value.decode() if isinstance(value, bytes) else str(value) for value in values}
    ours = {str(value) for value in graph.ids.tolist()}
    return "" if len(ends) == len(ours) else f"{len(ends)} ids became {len(ours)}"


def _embedding(folder, result):
    matrix = result[0]
    for path in sorted(folder.iterdir()):
        if path.suffix == ".npy":
            theirs = _matrix(path)
            if theirs is not None and not _same(theirs, matrix):
                return "other vectors than NumPy reads"
    return ""
