"""The same streaming algorithm, written with the sparse products of other libraries.

For each r: K products with Â_r, the cosine of each row to its features, and a running weighted sum. Like the
package, they keep one state and one sum instead of all hops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from nafs.smoothing import normalized_adjacency


def scipy_nafs(
    adjacency: Any, X: np.ndarray, n_hops: int, r: tuple[float, ...], ensemble: str = "mean"
) -> np.ndarray:
    """NAFS on SciPy's CSR product, float32."""
    parts = []
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    for value in r:
        operator = sp.csr_array(normalized_adjacency(adjacency, value).astype(np.float32))
        state = X
        weight = np.exp((norms > 0).astype(np.float32))
        total, weighted = weight.copy(), X * weight[:, None]
        for _ in range(n_hops):
            state = operator @ state
            dots = np.einsum("ij,ij->i", state, X)
            size = np.sqrt(np.einsum("ij,ij->i", state, state)) * norms
            weight = np.exp(np.divide(dots, size, out=np.zeros_like(dots), where=size > 0))
            weighted += state * weight[:, None]
            total += weight
        weighted /= total[:, None]
        parts = combine(parts, weighted, ensemble)
    return np.concatenate(parts, axis=1) if ensemble == "concat" else parts[0] / np.float32(len(r))


def combine(parts: list[np.ndarray], new: np.ndarray, ensemble: str) -> list[np.ndarray]:
    """Collect for concat, add up for the mean."""
    if ensemble == "concat" or not parts:
        return [*parts, new]
    parts[0] += new
    return parts


def torch_nafs(adjacency: Any, X: np.ndarray, n_hops: int, r: tuple[float, ...]) -> np.ndarray:
    """NAFS-mean on PyTorch's CSR product, float32."""
    import torch

    x = torch.from_numpy(X)
    norms = x.norm(dim=1)
    result = torch.zeros_like(x)
    for value in r:
        matrix = normalized_adjacency(adjacency, value).astype(np.float32)
        operator = torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data),
            size=matrix.shape,
            check_invariants=False,
        )
        state = x
        weight = torch.exp((norms > 0).to(x.dtype))
        total, weighted = weight.clone(), x * weight[:, None]
        for _ in range(n_hops):
            state = operator @ state
            size = state.norm(dim=1) * norms
            dots = torch.einsum("ij,ij->i", state, x)
            weight = torch.exp(torch.where(size > 0, dots / size, 0.0))
            weighted.addcmul_(state, weight[:, None])
            total += weight
        result += weighted / total[:, None]
    return (result / len(r)).numpy()
