"""Matrices in files: MatrixMarket, SciPy .npz and NumPy .npy. No pickle is opened, no size is trusted."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.budget import show_bytes
from nafs._support.errors import InputError
from nafs._support.npy import load_npy, read_npy
from nafs.readers.matrix_market import check_plausible, read_matrix_market
from nafs.readers.size import check_entries

_MATRIX_ENDINGS = (".mtx", ".mtx.gz", ".npz", ".npy")
_MOST_UNPACKED = 200  # times the packed size; published matrices pack to a tenth or so
_SMALL = 64 << 20  # bytes that any file may unpack to
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


def is_matrix(path: str) -> bool:
    """Whether the file name is that of a matrix, whose rows have numbers and no ids."""
    return path.lower().endswith(_MATRIX_ENDINGS)


def read_matrix(path: str, limit: int | None = None) -> Any:
    """The matrix in a file, sparse or dense.

    Parameters
    ----------
    path : str
        .mtx, .mtx.gz (MatrixMarket), .npz (as ``scipy.sparse.save_npz`` writes it) or .npy.
    limit : int, optional
        Bytes of memory that reading it may take.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"no such file: {path}")
    lower = path.lower()
    if lower.endswith(".npy"):
        return load_npy(path)
    if lower.endswith(".npz"):
        return _read_npz(path, limit)
    return read_matrix_market(path, limit)


def _read_npz(path: str, limit: int | None) -> Any:
    try:
        with zipfile.ZipFile(path) as archive:
            arrays = _members(archive, Path(path).stat().st_size, path, limit)
    except _DAMAGE as error:
        if isinstance(error, (InputError, PermissionError)):
            raise
        raise InputError(f"{path} is not a complete .npz archive ({error})") from None
    if "format" in arrays:
        return _assemble(arrays, path)
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    shown = ", ".join(sorted(arrays)[:6])
    raise InputError(f"{path} holds {shown}; expected a sparse matrix as scipy.sparse.save_npz writes it")


def _members(archive: zipfile.ZipFile, packed: int, path: str, limit: int | None) -> dict[str, NDArray[Any]]:
    infos = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    unpacked = sum(info.file_size for info in infos)
    if len(infos) > 64 or unpacked > _SMALL + _MOST_UNPACKED * packed:
        raise InputError(f"{path} unpacks to {show_bytes(unpacked)}, more than is plausible")
    entries = [
        info.file_size // (8 if b"i8" in archive.open(info).read(128) else 4)
        for info in infos
        if info.filename in ("indices.npy", "col.npy")
    ]
    check_entries(path, max(entries, default=0), limit, 2 * unpacked)
    arrays = {}
    for info in infos:
        name = info.filename.removesuffix(".npy")
        with archive.open(info) as file:
            arrays[name] = read_npy(file, info.file_size, f"{path}: {name}")
    return arrays


def _assemble(arrays: dict[str, NDArray[Any]], path: str) -> Any:
    """A sparse matrix from the arrays of SciPy's format; indices are checked where they are used."""
    try:
        kind = arrays["format"].item()
        kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
        shape = tuple(int(size) for size in arrays["shape"])
        data = arrays["data"]
        if len(shape) != 2 or not all(0 <= size < 2**31 for size in shape) or data.dtype.kind not in "biuf":
            raise InputError(f"{path} claims a matrix of shape {shape} that holds {data.dtype}")
        check_plausible(max(shape), data.size, path)
        if kind == "coo":
            return sp.coo_array(
                (data, (_whole(arrays, "row", path), _whole(arrays, "col", path))), shape=shape
            )
        if kind in ("csr", "csc", "bsr"):
            parts = (data, _whole(arrays, "indices", path), _whole(arrays, "indptr", path))
            return {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[kind](parts, shape=shape)
    except (KeyError, ValueError, TypeError, IndexError, ArithmeticError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} does not fit together as a sparse matrix ({error})") from None
    raise InputError(f"{path} holds a matrix in the format {kind[:20]!r}; csr, csc, bsr and coo are read")


def _whole(arrays: dict[str, NDArray[Any]], name: str, path: str) -> NDArray[Any]:
    indices = arrays[name]
    if indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise InputError(
            f"{path}: {name} must be whole numbers; found {indices.dtype} of shape {indices.shape}"
        )
    return np.ascontiguousarray(indices)
