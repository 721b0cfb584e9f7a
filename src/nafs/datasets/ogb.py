"""Node-property data sets of the Open Graph Benchmark, from their published archives.

NAME.zip holds NAME/raw/{edge,node-feat,node-label,num-node-list}.csv.gz and, in NAME/split/*,
{train,valid,test}.csv.gz.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs._support.errors import InputError

_DAMAGE = (zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error)
_MOST_UNPACKED = 200  # times the packed size; published files shrink to about a third


class _Bounded(io.RawIOBase):
    """A stream that raises if it unpacks to implausibly many bytes."""

    def __init__(self, stream: Any, limit: int, where: str) -> None:
        self.stream, self.remaining, self.where = stream, limit, where

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self.stream.read(len(buffer))
        self.remaining -= len(chunk)
        if self.remaining < 0:
            raise InputError(f"{self.where} unpacks to more than is plausible")
        buffer[: len(chunk)] = chunk
        return len(chunk)


def load_ogb(path: str | Path) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Features, adjacency (directed as published), labels, and the published split.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    features : ndarray of float32, shape (n, f)
    adjacency : coo_array of bool, shape (n, n)
    labels : ndarray of int64, shape (n,)
    split : dict of index arrays
        Under "train", "validation" and "test".
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            names = {Path(name).name: name for name in archive.namelist() if name.endswith(".csv.gz")}
            n = _whole(_table(archive, names, "num-node-list", path)[0, 0], path)
            features = _table(archive, names, "node-feat", path).astype(np.float32)
            labels = _table(archive, names, "node-label", path)[:, 0]
            edges = _table(archive, names, "edge", path)
            split = {
                known: _table(archive, names, published, path)[:, 0].astype(np.int64)
                for known, published in (("train", "train"), ("validation", "valid"), ("test", "test"))
            }
    except InputError:
        raise
    except (*_DAMAGE, NotImplementedError, RuntimeError, OSError, IndexError, ValueError) as error:
        raise InputError(f"{path} is damaged or cut short ({error})") from None
    if edges.ndim != 2 or edges.shape[1] != 2 or not np.array_equal(edges, np.floor(edges)):
        raise InputError(f"{path}: edges are pairs of whole numbers; found shape {edges.shape}")
    if any(nodes.size and not 0 <= nodes.min() <= nodes.max() < n for nodes in split.values()):
        raise InputError(f"{path}: the split names nodes outside 0..{n - 1}")
    if len(features) != n or len(labels) != n or (edges.size and not 0 <= edges.min() <= edges.max() < n):
        raise InputError(
            f"{path} does not fit together: {n} nodes, {len(features)} rows, {len(labels)} labels"
        )
    ends = edges.astype(np.int32)
    adjacency = sp.coo_array((np.ones(len(ends), bool), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return features, adjacency, np.where(np.isnan(labels), -1, labels).astype(np.int64), split


def _table(archive: zipfile.ZipFile, names: dict[str, str], stem: str, path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    member = names.get(f"{stem}.csv.gz")
    if member is None:
        raise InputError(f"{path} has no {stem}.csv.gz: it is not an OGB archive")
    limit = _MOST_UNPACKED * archive.getinfo(member).file_size + (1 << 20)
    with archive.open(member) as packed, gzip.open(packed) as text:
        try:
            table = pyarrow.csv.read_csv(
                _Bounded(text, limit, f"{path}: {stem}.csv.gz"),
                read_options=pyarrow.csv.ReadOptions(autogenerate_column_names=True),
            )
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise InputError(f"{path}: {stem}.csv.gz cannot be read ({error})") from None
    for column in table.columns:
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            raise InputError(f"{path}: {stem}.csv.gz holds {column.type} where numbers are expected")
    return np.column_stack([column.to_numpy() for column in table.columns])


def _whole(value: Any, path: Path) -> int:
    if not 0 < value < 2**31 or value != int(value):
        raise InputError(f"{path}: it claims {value} nodes")
    return int(value)
