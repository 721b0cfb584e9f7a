"""Data sets in the GraphData layout: an .npz with adj_matrix, node_attr and node_label.

The matrices are pickled SciPy matrices inside .npy members; :mod:`nafs.datasets.pickles` reads them without
unpickling.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from nafs._support.errors import InputError
from nafs._support.npy import read_npy
from nafs.datasets.pickles import as_matrix, parse_pickle

_MOST_UNPACKED = 200  # times the packed size
_SMALL = 64 << 20  # bytes that any file may unpack to
_OBJECTS = re.compile(rb"\x93NUMPY\x01\x00..\{'descr': '\|O8?', [^\n]{1,200}\n", re.DOTALL)


def load_graphdata(path: str | Path) -> tuple[Any, Any, Any]:
    """Features, adjacency and labels.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    features : sparse matrix of shape (n, f)
    adjacency : sparse matrix of shape (n, n)
    labels : ndarray of shape (n,)
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = [_member(archive, path, name) for name in ("node_attr", "adj_matrix", "node_label")]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        if isinstance(error, (FileNotFoundError, PermissionError)):
            raise
        raise InputError(f"{path} is not a complete .npz archive ({error})") from None
    features, adjacency, labels = members
    return features, adjacency, np.asarray(labels)


def _member(archive: zipfile.ZipFile, path: Path, name: str) -> Any:
    try:
        info = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise InputError(f"{path} has no {name}: it is not in the GraphData layout") from None
    if info.file_size > _SMALL + _MOST_UNPACKED * info.compress_size:
        raise InputError(f"{path}: {name} unpacks to {info.file_size} bytes, more than is plausible")
    with archive.open(info) as file:
        content = file.read(info.file_size + 1)
    where = f"{path}: {name}"
    header = _OBJECTS.match(content)
    if header is None:
        return read_npy(io.BytesIO(content), len(content), where)
    return as_matrix(parse_pickle(content[header.end() :], where), where)
