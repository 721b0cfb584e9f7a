"""Two-dimensional t-SNE maps of embeddings; consecutive maps are rotated to match each other."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import MissingExtraError
from nafs.similarity.nearest import unit_rows

_SMALL = 1e-4  # standard deviation of the initial map, as t-SNE expects
_ALIKE = 1e-6  # unit rows that differ by less count as equal


def tsne(
    matrix: NDArray[Any],
    *,
    start: NDArray[np.float64] | None = None,
    seed: int = 0,
    n_threads: int = 1,
    iterations: int = 500,
) -> NDArray[np.float64]:
    """A t-SNE map of the rows by cosine distance.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
    start : ndarray of shape (n, 2), optional
        A map of the same rows to start from; the result is rotated to match it. By default principal
        components.
    seed : int
    n_threads : int
    iterations : int
        Iterations after early exaggeration.

    Returns
    -------
    ndarray of shape (n, 2)
    """
    n = len(matrix)
    if n < 4:
        return np.column_stack([np.arange(n, dtype=np.float64), np.zeros(n)])
    try:
        from openTSNE import TSNE
    except ImportError:
        raise MissingExtraError("maps need openTSNE: pip install 'nafs[plot]'") from None
    rows = unit_rows(matrix)
    if float(np.ptp(rows, axis=0).max()) < _ALIKE:  # all rows are equal
        return np.random.default_rng(seed).normal(size=(n, 2))
    # Identical rows would start, and stay, at one point.
    jitter = np.random.default_rng(seed).normal(scale=_SMALL / 100, size=(n, 2))
    # A map of the same rows needs less early exaggeration.
    early: dict[str, Any] = {"early_exaggeration_iter": 60, "early_exaggeration": 4}
    if start is None:
        begin, early = principal_plane(rows), {}
        begin = begin / max(float(begin.std(axis=0).max()), 1e-30) * _SMALL + jitter
    else:
        begin = start - start.mean(axis=0) + jitter
    logging.getLogger("openTSNE").setLevel(logging.ERROR)  # it warns about any initial map
    embedding = TSNE(
        perplexity=min(30, (n - 1) / 3),
        metric="euclidean",  # equivalent to cosine on unit rows, and defined for rows of zeros
        initialization=begin,
        random_state=seed,
        n_jobs=n_threads,
        n_iter=iterations,
        **early,
    ).fit(rows)
    places = np.asarray(embedding, np.float64)
    return places if start is None else turned_like(places, start)


def principal_plane(matrix: NDArray[Any]) -> NDArray[np.float64]:
    """Project the rows on their two leading principal components, with reproducible signs."""
    from sklearn.decomposition import PCA

    pca = PCA(2, svd_solver="randomized", random_state=0) if min(matrix.shape) > 2 else None
    if pca is None:
        plane = np.zeros((len(matrix), 2))
        plane[:, : min(2, matrix.shape[1])] = matrix[:, :2]
        return np.asarray(plane - plane.mean(axis=0))
    return np.asarray(pca.fit_transform(np.asarray(matrix, np.float64)))


def turned_like(places: NDArray[np.float64], model: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotate and mirror ``places``, without scaling, to match ``model`` (orthogonal Procrustes).

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.pictures.layout import turned_like
    >>> corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> np.allclose(np.diff(turned_like(corner[:, ::-1], corner), axis=0), np.diff(corner, axis=0))
    True
    """
    centred, towards = places - places.mean(axis=0), model - model.mean(axis=0)
    left, _, right = np.linalg.svd(centred.T @ towards)
    return np.asarray(centred @ (left @ right))
