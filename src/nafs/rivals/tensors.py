"""A graph as tensors, and the training loop of rivals that learn without labels.

torch is imported inside functions: the package never needs it unless a trained rival is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs.graph import Adjacency
from nafs.rivals.contract import Problem, Progress


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's random numbers inside the block, and restore the caller's generator."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def sparse_tensor(matrix: Any) -> Any:
    """A SciPy matrix as a float32 CSR tensor."""
    import warnings

    import torch

    matrix = sp.csr_array(matrix)
    matrix.sort_indices()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that CSR tensors are in beta
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data.astype(np.float32)),
            matrix.shape,
        )


def convolution(adjacency: Adjacency) -> Any:
    """D̃^-½ Ã D̃^-½ as a SciPy matrix."""
    scale = sp.diags_array(adjacency.degrees**-0.5)
    return sp.csr_array(
        scale @ (adjacency.to_scipy().astype(float) + sp.eye_array(adjacency.n_nodes)) @ scale
    )


def hop_tensor(adjacency: Adjacency) -> Any:
    """D̃^-½ Ã D̃^-½ as a CSR tensor."""
    return sparse_tensor(convolution(adjacency))


def edge_index(adjacency: Adjacency) -> Any:
    """Both directions of every edge as a tensor of shape (2, m)."""
    import torch

    return torch.from_numpy(np.stack([adjacency.rows, adjacency.indices]).astype(np.int64))


def features_tensor(problem: Problem, *, rows_to_one: bool = False) -> Any:
    """The features as a dense or CSR tensor, with each row optionally divided by its sum."""
    import torch

    features = problem.features
    if rows_to_one:
        sums = np.asarray(abs(features).sum(axis=1)).ravel()
        features = sp.diags_array(np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)) @ features
    if sp.issparse(features):
        return sparse_tensor(features)
    return torch.from_numpy(np.ascontiguousarray(features, np.float32))


def drop(X: Any, share: float, training: bool) -> Any:
    """Dropout; in a CSR tensor only stored values can be dropped, because zeros stay zeros."""
    import torch
    from torch.nn.functional import dropout

    if X.layout != torch.sparse_csr:
        return dropout(X, share, training)
    if not training or not share:
        return X
    values = dropout(X.values(), share, training)
    return torch.sparse_csr_tensor(X.crow_indices(), X.col_indices(), values, X.shape, check_invariants=False)


def train(
    step: Callable[[], Any],
    optimizer: Any,
    epochs: int,
    progress: Progress,
) -> None:
    """Minimise the loss that ``step`` returns."""
    for epoch in range(epochs):
        optimizer.zero_grad()
        step().backward()
        optimizer.step()
        progress(epoch + 1, epochs)


def to_numpy(tensor: Any) -> NDArray[np.float32]:
    """A tensor without its gradient."""
    return np.asarray(tensor.detach().numpy(), np.float32)
