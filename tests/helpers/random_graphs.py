"""Random graphs with edge cases that several tests need."""

import numpy as np
import scipy.sparse as sp


def random_graph(seed, n=60, density=0.08, *, weighted=False, n_features=10, sparse=False):
    """A symmetric random graph with isolated nodes, several components and rows without features."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1).astype(float)
    if weighted:
        upper *= rng.uniform(0.1, 3.0, (n, n))
    quiet = rng.random(n) < 0.15
    upper[quiet, :] = upper[:, quiet] = 0
    A = upper + upper.T
    X = rng.normal(size=(n, n_features))
    if sparse:
        X = np.abs(X) * (rng.random(X.shape) < 0.3)
    X[rng.random(n) < 0.1] = 0
    return sp.csr_array(A), X


def hub_graph(n_features, *, weighted=False):
    """Nodes with more than one block of neighbours, as a dense matrix, and features."""
    rng = np.random.default_rng(0)
    A = np.zeros((330, 330))
    A[0, 1:311] = rng.uniform(0.5, 2.0, 310) if weighted else 1.0
    A[1:320, 320] = 1.0
    return np.maximum(A, A.T), rng.normal(size=(330, n_features))
