"""Reading published pickles without running them.

Planetoid's files are Python 2 pickles. A pickle can name any function and have it called; this
unpickler knows the few names that NumPy arrays, SciPy CSR matrices and plain containers need, and
refuses every other.
"""

from __future__ import annotations

import codecs
import collections
import pickle
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy._core.multiarray import _reconstruct

_ALLOWED: dict[tuple[str, str], Any] = {
    ("collections", "defaultdict"): collections.defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("_codecs", "encode"): codecs.encode,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
    ("scipy.sparse._csr", "csr_matrix"): sp.csr_matrix,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"refused to load {module}.{name}: only arrays, sparse matrices and plain containers are read"
            ) from None


def load_pickle(source: str | Path | IO[bytes], where: str | None = None) -> Any:
    """Read one pickled value of arrays, CSR matrices and plain containers.

    Parameters
    ----------
    source : path or binary file
    where : str, optional
        What to call it in errors.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        If the file is damaged or names anything else; nothing of it has been run.
    """
    if isinstance(source, (str, Path)):
        with Path(source).open("rb") as file:
            return load_pickle(file, where or str(source))
    try:
        return _Unpickler(source, encoding="latin1").load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, LookupError) as error:
        raise ValueError(f"{where}: {error}") from error
