"""The method in float64, straight from the definitions, with dense matrices and without optimisation.

Everything that the package computes is compared with this file.
"""

import numpy as np

LINEAR_FLOOR = 1e-6  # cosines below this are rounding even here


def normalized(A, r):
    """Â_r = D̃^(r-1) Ã D̃^(-r)."""
    loops = A + np.eye(len(A))
    degrees = loops.sum(axis=1)
    return degrees[:, None] ** (r - 1) * loops * degrees[None, :] ** -r


def components(A):
    """Connected components by flooding."""
    label = np.full(len(A), -1)
    for seed in range(len(A)):
        if label[seed] < 0:
            todo = [seed]
            while todo:
                i = todo.pop()
                if label[i] < 0:
                    label[i] = seed
                    todo.extend(np.flatnonzero(A[i]))
    return label


def stationary(A, X, r):
    """Row i: d̃_i^r / vol(C) · Σ_{j∈C} d̃_j^(1-r) X_j."""
    degrees = (A + np.eye(len(A))).sum(axis=1)
    label = components(A)
    out = np.zeros_like(X)
    for i in range(len(A)):
        members = label == label[i]
        total = (degrees[members, None] ** (1 - r) * X[members]).sum(axis=0)
        out[i] = degrees[i] ** r / degrees[members].sum() * total
    return out


def cosine(a, b):
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / norms if norms > 0 else 0.0


def hops(A, X, n_hops, r):
    """X⁽⁰⁾ … X⁽ᴷ⁾."""
    operator = normalized(A, r)
    states = [X]
    for _ in range(n_hops):
        states.append(operator @ states[-1])
    return states


def distances(A, X, n_hops, r, distance):
    """D_i(k), shape (n, K + 1)."""
    states = hops(A, X, n_hops, r)
    D = np.empty((len(A), n_hops + 1))
    limit = None if distance == "cosine" else stationary(A, X, r)
    for k, state in enumerate(states):
        for i in range(len(A)):
            if distance == "cosine":
                D[i, k] = cosine(state[i], X[i])
            elif distance == "euclidean":
                D[i, k] = np.linalg.norm(state[i] - limit[i])
            else:
                D[i, k] = 1 - cosine(state[i], limit[i])
    return D


def weights(D, weighting, distance):
    """w_i(k), rows adding up to 1."""
    if weighting == "adaptive":
        raw = np.exp(D - D.max(axis=1, keepdims=True))
    elif weighting == "linear":
        raw = np.where(D > (0.0 if distance == "euclidean" else LINEAR_FLOOR), D, 0.0)
        raw[raw.sum(axis=1) == 0] = 1.0
    elif weighting == "average":
        raw = np.ones_like(D)
    else:
        raw = np.zeros_like(D)
        raw[:, -1] = 1.0
    return raw / raw.sum(axis=1, keepdims=True)


def embedding(A, X, n_hops, r, ensemble, weighting, distance):
    """The embedding Z."""
    A, X = np.asarray(A, dtype=np.float64), np.asarray(X, dtype=np.float64)
    parts = []
    for value in r:
        W = weights(distances(A, X, n_hops, value, distance), weighting, distance)
        states = hops(A, X, n_hops, value)
        parts.append(sum(W[:, k, None] * state for k, state in enumerate(states)))
    if ensemble == "mean":
        return np.mean(parts, axis=0)
    if ensemble == "max":
        return np.max(parts, axis=0)
    return np.concatenate(parts, axis=1)
