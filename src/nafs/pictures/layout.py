"""t-SNE maps of embeddings.

Up to `FULL` rows openTSNE lays out all of them, from exact nearest neighbours on the leading directions.
Beyond that, it lays out landmarks drawn at random, and every other row is placed between its nearest
landmarks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import MissingExtraError
from nafs.similarity.nearest import nearest, unit_rows

FULL = 30_000  # rows laid out one by one
LANDMARKS = 15_000
_DIRECTIONS = 48  # leading directions that the map is made from
_PERPLEXITY = 20
_ANCHORS = 8  # nearest landmarks that determine the place of a row
_SMALL = 1e-4  # standard deviation of the initial map, as t-SNE expects it
_ALIKE = 1e-6  # unit rows that differ by less count as equal
_FFT = 6_000  # rows from which gradients by FFT are faster than by trees
_BLOCK = 1 << 16  # rows placed at a time
_REPORTED = 10  # iterations between two reports of progress; a divisor of all numbers of iterations

ShareDone = Callable[[float], None]


def layout(
    matrix: NDArray[Any],
    *,
    seed: int = 0,
    n_threads: int = 1,
    progress: ShareDone | None = None,
) -> NDArray[np.float64]:
    """A map of any number of rows: t-SNE of all, or of landmarks with the other rows between them.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
    seed : int
    n_threads : int
    progress : callable, optional
        Called with the share of the work done since the last call.

    Returns
    -------
    ndarray of shape (n, 2)
    """
    if len(matrix) <= FULL:
        return tsne(matrix, seed=seed, n_threads=n_threads, progress=progress)
    return landmark_layout(matrix, seed=seed, n_threads=n_threads, progress=progress)


def landmark_layout(
    matrix: NDArray[Any],
    *,
    n_landmarks: int = LANDMARKS,
    seed: int = 0,
    n_threads: int = 1,
    progress: ShareDone | None = None,
) -> NDArray[np.float64]:
    """A t-SNE map of some rows, with every other row among its most similar landmarks.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
    n_landmarks : int
        Drawn at random.
    seed, n_threads, progress
        As in :func:`layout`.

    Returns
    -------
    ndarray of shape (n, 2)
    """
    from sklearn.neighbors import NearestNeighbors
    from threadpoolctl import threadpool_limits

    rows = unit_rows(leading_directions(unit_rows(matrix)))
    rng = np.random.default_rng(seed)
    landmarks = np.sort(rng.choice(len(rows), n_landmarks, replace=False))
    half = None if progress is None else lambda share: progress(share / 2)
    anchors = tsne(rows[landmarks], seed=seed, n_threads=n_threads, progress=half)
    search = NearestNeighbors(n_neighbors=min(_ANCHORS, n_landmarks), algorithm="brute").fit(rows[landmarks])
    places = np.empty((len(rows), 2))
    with threadpool_limits(n_threads):
        for begin in range(0, len(rows), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            apart, near = search.kneighbors(rows[part])
            between, reach = between_anchors(apart.astype(np.float64), anchors[near])
            # A little noise separates equal places.
            noise = rng.normal(size=between.shape) * 0.15 * np.minimum(reach, np.median(reach) * 2)
            places[part] = between + noise
            if progress is not None:
                progress(0.5 * len(near) / len(rows))
    places[landmarks] = anchors
    return places


def between_anchors(
    apart: NDArray[np.float64], anchors: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places between anchors on a map, closest to the most similar one, and how far the anchors reach.

    Parameters
    ----------
    apart : ndarray of shape (n, k)
        Distances of each row to its anchors, in the embedding.
    anchors : ndarray of shape (n, k, 2)
        Where its anchors are on the map.

    Returns
    -------
    places : ndarray of shape (n, 2)
    reach : ndarray of shape (n, 1)
    """
    scale = np.maximum(np.median(apart, axis=1, keepdims=True), 1e-9)
    weights = np.exp(-((2 * apart / scale) ** 2)) + 1e-12
    weights /= weights.sum(axis=1, keepdims=True)
    # The median of the anchors rather than their mean: one anchor in another group must not pull a node
    # into the empty space between the groups.
    centre = np.take_along_axis(anchors, weights.argmax(axis=1)[:, None, None], 1)[:, 0]
    near = np.sqrt(((anchors - centre[:, None]) ** 2).sum(axis=2))
    reach = np.median(near, axis=1, keepdims=True) * 1.5 + 1e-9
    weights = np.where(near <= reach, weights, 0)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("ij,ijk->ik", weights, anchors), reach


def tsne(
    matrix: NDArray[Any],
    *,
    start: NDArray[np.float64] | None = None,
    seed: int = 0,
    n_threads: int = 1,
    iterations: int = 250,
    progress: ShareDone | None = None,
) -> NDArray[np.float64]:
    """A t-SNE map of the rows, by cosine.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
    start : ndarray of shape (n, 2), optional
        A map of the same rows to start from and to align with; by default principal components.
    seed : int
    n_threads : int
    iterations : int
        After those of early exaggeration.
    progress : callable, optional
        Called with the share of the work done since the last call.

    Returns
    -------
    ndarray of shape (n, 2)
    """
    n = len(matrix)
    if n < 4:
        return np.column_stack([np.arange(n, dtype=np.float64), np.zeros(n)])
    try:
        from openTSNE import TSNEEmbedding
        from openTSNE.affinity import PerplexityBasedNN
        from openTSNE.nearest_neighbors import PrecomputedNeighbors
    except ImportError:
        raise MissingExtraError("maps need openTSNE: pip install 'nafs[plot]'") from None
    rows = leading_directions(unit_rows(matrix))
    if float(np.ptp(rows, axis=0).max()) < _ALIKE:  # all rows are equal
        return np.random.default_rng(seed).normal(size=(n, 2))
    perplexity = min(_PERPLEXITY, (n - 1) / 3)
    near, cosines = nearest(rows, np.arange(n), min(n - 1, round(3 * perplexity)), exact=True)
    apart = np.sqrt(np.maximum(2 - 2 * cosines.astype(np.float64), 0))
    logging.getLogger("openTSNE").setLevel(logging.ERROR)  # it warns about any start that is not tiny
    affinities = PerplexityBasedNN(
        perplexity=perplexity,
        knn_index=PrecomputedNeighbors(near, apart),
        n_jobs=n_threads,
        random_state=seed,
    )
    # Copies of a row would start, and stay, in one place.
    jitter = np.random.default_rng(seed).normal(scale=_SMALL / 100, size=(n, 2))
    if start is None:
        begin = principal_plane(rows)
        begin = begin / max(float(begin.std(axis=0).max()), 1e-30) * _SMALL + jitter
        early = {"n_iter": 120, "exaggeration": 12.0}
    else:  # a map of the same rows needs fewer iterations
        begin = start - start.mean(axis=0) + jitter
        early = {"n_iter": 20, "exaggeration": 3.0}
    places = TSNEEmbedding(
        begin,
        affinities,
        negative_gradient_method="bh" if n < _FFT else "fft",
        learning_rate="auto",
        n_jobs=n_threads,
        random_state=seed,
    )
    total = early["n_iter"] + iterations
    for phase in (early | {"momentum": 0.5}, {"n_iter": iterations, "momentum": 0.8}):
        every = min(_REPORTED, phase["n_iter"])

        def report(*_: object, share: float = every / total) -> None:
            if progress is not None:
                progress(share)

        watched = {} if progress is None else {"callbacks": report, "callbacks_every_iters": every}
        places = places.optimize(**phase, **watched, use_callbacks=progress is not None)
    result = np.asarray(places, np.float64)
    return result if start is None else turned_like(result, start)


def leading_directions(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Rows along their leading directions, if they have many columns."""
    width = rows.shape[1]
    if width <= _DIRECTIONS:
        return np.asarray(rows, np.float32)
    sample = rows[:: max(1, len(rows) // 50_000)]
    if width <= 2048:
        moments = np.asarray(sample.T @ sample, np.float64)
        _, directions = np.linalg.eigh(moments)
        directions = directions[:, ::-1][:, :_DIRECTIONS]
    else:
        from sklearn.utils.extmath import randomized_svd

        _, _, right = randomized_svd(np.asarray(sample), _DIRECTIONS, n_iter=4, random_state=0)
        directions = right.T
    return np.asarray(rows @ directions.astype(np.float32), np.float32)


def principal_plane(matrix: NDArray[Any]) -> NDArray[np.float64]:
    """The rows along their two leading principal components, with deterministic signs."""
    centred = np.asarray(matrix, np.float64) - np.asarray(matrix, np.float64).mean(axis=0)
    if min(matrix.shape) <= 2:
        plane = np.zeros((len(matrix), 2))
        plane[:, : min(2, matrix.shape[1])] = centred[:, :2]
        return plane
    from sklearn.decomposition import PCA

    return np.asarray(PCA(2, svd_solver="randomized", random_state=0).fit_transform(centred))


def turned_like(places: NDArray[np.float64], model: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places rotated and mirrored, but not scaled, to be as close as possible to a model.

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


def quantised(places: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Places in a square as 16-bit integers; the aspect ratio is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.pictures.layout import quantised
    >>> quantised(np.array([[0.0, 0.0], [2.0, 1.0]]))
    array([[    0, 16384],
           [65535, 49151]], dtype=uint16)
    """
    return np.asarray(np.rint(in_square(places, places) * 65535), np.uint16)


def in_square(places: NDArray[np.float64], model: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places as shares of the square around a model; what lies outside goes to its border."""
    low, high = model.min(axis=0), model.max(axis=0)
    middle, size = (low + high) / 2, max(float((high - low).max()), 1e-30)
    return np.asarray(np.clip((places - middle) / size + 0.5, 0, 1))
