"""Data sets in the GraphData layout: an .npz with adj_matrix, node_attr and node_label.

The matrices are pickled SciPy matrices inside .npy members; they are read by the restricted unpickler.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from nafs.datasets.safe_pickle import load_pickle

_MOST_BYTES = 8 << 30  # of one member, unpacked


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
            found = [_member(archive, path, name) for name in ("node_attr", "adj_matrix", "node_label")]
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{path} is not a whole .npz archive ({error})") from None
    features, adjacency, labels = found
    return features, adjacency, np.asarray(labels)


def _member(archive: zipfile.ZipFile, path: Path, name: str) -> Any:
    try:
        info = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise ValueError(f"{path} has no {name}: it is not in the GraphData layout") from None
    if info.file_size > _MOST_BYTES:
        raise ValueError(f"{path}: {name} claims {info.file_size} bytes, more than is plausible")
    with archive.open(info) as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read(file)
        except ValueError as error:
            raise ValueError(f"{path}: {name} is damaged ({error})") from None
        if not dtype.hasobject:
            count = int(np.prod(shape, dtype=np.int64))
            content = file.read(count * dtype.itemsize)
            if len(content) < count * dtype.itemsize:
                raise ValueError(f"{path}: {name} is cut short")
            return np.frombuffer(content, dtype, count).reshape(shape, order="F" if fortran else "C")
        value = load_pickle(file, f"{path}: {name}")
    return value.item() if isinstance(value, np.ndarray) and value.dtype.hasobject else value
