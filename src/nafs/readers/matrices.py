"""Matrices in files: MatrixMarket, SciPy .npz and NumPy .npy. No pickle is opened."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs._support.errors import InputError

_DAMAGE = (ValueError, EOFError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error)
_MATRIX_ENDINGS = (".mtx", ".mtx.gz", ".npz", ".npy")


def is_matrix(path: str) -> bool:
    """Whether a name says that rows are numbered, not named."""
    return path.lower().endswith(_MATRIX_ENDINGS)


def read_matrix(path: str) -> Any:
    """The matrix in a file, sparse or dense.

    Parameters
    ----------
    path : str
        .mtx, .mtx.gz (MatrixMarket), .npz (as ``scipy.sparse.save_npz`` writes it) or .npy.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"no such file: {path}")
    lower = path.lower()
    try:
        if lower.endswith(".npy"):
            return np.load(path, mmap_mode="r", allow_pickle=False)
        if lower.endswith(".npz"):
            return _read_npz(path)
        return _read_matrix_market(path)
    except (*_DAMAGE, KeyError, OverflowError) as error:
        raise InputError(f"{path}: cannot be read as a matrix ({_reason(error)})") from None


def _reason(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    if "allow_pickle" in text or "pickled" in text.lower() or "Python objects" in text:
        return "it holds pickled objects, which are not opened: save numbers only"
    return text.splitlines()[0]


def _read_matrix_market(path: str) -> Any:
    from scipy.io import mmread

    return mmread(path, spmatrix=False)


def _read_npz(path: str) -> Any:
    with np.load(path, allow_pickle=False) as content:
        keys = set(content.files)
        if "format" in keys:
            return sp.load_npz(path)
        if len(keys) == 1:
            return content[next(iter(keys))]
    raise InputError(
        f"it holds {', '.join(sorted(keys)[:6])}; expected a sparse matrix as scipy.sparse.save_npz writes it"
    )
