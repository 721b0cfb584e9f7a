"""Nearest rows of a matrix: exactly, a block of rows at a time, or through an index where there are many.

The exact way compares every row asked for with every row. Where that would take long, a graph index
(HNSW, by usearch) finds candidates. It is filled by one thread, so that it is the same each time, and
searched as widely as a sample of rows needs whose nearest are known exactly; scores are always computed from
the rows themselves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, MissingExtraError, Parameter
from nafs.links import SCORES

EXACT_WORK = 3.0e13  # multiplications above which an index takes less time, if filled by one thread
_BLOCK = 1 << 24  # scores held at a time
_SPARE = 8  # candidates beyond those asked for, so that rounding in a product cannot lose one
_CHUNK = 64  # scores of which the largest is looked at first
_CONNECTIVITY, _EXPANSION_ADD = 24, 160
_EXPANSIONS = (64, 128, 256, 512, 1024, 2048, 4096)  # how widely an index is searched
_SAMPLE, _JUDGED = 200, 64  # rows by which that is chosen, and how many nearest of each at most
_RECALL = 0.97  # share of them to be found
_ADDED = 4096  # rows put into an index between signals
BUILDING = 0.5  # of the time goes into building an index, about, where all rows are then searched

ShareDone = Callable[[float], None]


def nearest(
    matrix: NDArray[np.float32],
    queries: NDArray[np.int64],
    k: int,
    *,
    score: str = "cosine",
    exact: bool | None = None,
    n_threads: int = 1,
    progress: ShareDone | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k best other rows for each row asked for, best first.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
    queries : ndarray of row numbers
    k : int
        As many as there are other rows, if those are fewer.
    score : {"cosine", "inner"}
    exact : bool, optional
        By default unless an index takes less time (from half a million nodes of 128 columns on, if all are
        asked for); then a warning tells how many it finds.
    n_threads : int
        For searching an index.
    progress : callable, optional
        Called with the share of the work done since the last call.

    Returns
    -------
    ndarray of row numbers, shape (len(queries), k)
        Of rows that score alike the first comes first.
    ndarray of float32
        Their scores.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.similarity import nearest
    >>> rows, scores = nearest(np.array([[1, 0], [1, 1], [0, 1]], np.float32), np.array([0]), 2)
    >>> rows, scores.round(2)
    (array([[1, 2]]), array([[0.71, 0.  ]], dtype=float32))
    """
    check_choice("score", score, SCORES)
    n = len(matrix)
    if k < 1:
        raise InputError(Parameter("k"), f" must be at least 1; got {k}")
    k = min(k, n - 1)
    rows = scored_rows(matrix, score)
    chosen = exact is None
    if exact is None:
        exact = float(len(queries)) * matrix.size <= EXACT_WORK
    wanted = min(n, k + 1 + _SPARE)  # itself among them
    index = None
    if not exact:
        index = build_index(rows, score, progress)
        recall = widen(index, rows, k, n_threads)
        if chosen:
            warnings.warn(tell(recall), stacklevel=2)
    left = 1.0 if index is None else 1.0 - BUILDING
    step = max(1, _BLOCK // max(n if exact else 1, wanted * matrix.shape[1]))
    found, scores = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
    for begin in range(0, len(queries), step):
        some = queries[begin : begin + step]
        if exact:
            candidates = _best(rows[some] @ rows.T, wanted)
        else:
            candidates = search_index(index, rows[some], wanted, n_threads)
        near, how_near = _ranked(rows, some, candidates, k)
        for row in np.flatnonzero(np.isneginf(how_near).any(axis=1)):  # an index may not lead to enough
            all_of_them = _best(rows[some[[row]]] @ rows.T, wanted)
            near[row], how_near[row] = (line[0] for line in _ranked(rows, some[[row]], all_of_them, k))
        found[begin : begin + step], scores[begin : begin + step] = near, how_near
        if progress is not None:
            progress(left * len(some) / len(queries))
    return found, scores


def scored_rows(matrix: NDArray[Any], score: str) -> NDArray[np.float32]:
    """Rows whose inner products are the scores."""
    if matrix.size and not (np.isfinite(matrix.min()) and np.isfinite(matrix.max())):
        raise InputError("the embedding contains NaN or inf: no node is near to such a row")
    return unit_rows(matrix) if score == "cosine" else np.asarray(matrix, np.float32)


def unit_rows(matrix: NDArray[Any]) -> NDArray[np.float32]:
    """Rows of length 1; rows of zeros stay."""
    sizes = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)).astype(np.float32)
    return np.asarray(matrix / np.where(sizes > 0, sizes, 1)[:, None], np.float32)


def _best(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Places of the largest of each row; of those that are alike, the first.

    They lie in the chunks with the largest maxima, and finding those reads the scores once.
    """
    n_rows, n = scores.shape
    whole, chunks = n // _CHUNK, -(-n // _CHUNK)
    if chunks <= 2 * count:
        return _best_of_few(scores, count)
    peaks = np.empty((n_rows, chunks), np.float32)
    peaks[:, :whole] = scores[:, : whole * _CHUNK].reshape(n_rows, whole, _CHUNK).max(axis=2)
    if whole < chunks:
        peaks[:, whole] = scores[:, whole * _CHUNK :].max(axis=1)
    taken = np.sort(np.argpartition(-peaks, count - 1, axis=1)[:, :count], axis=1)
    places = (taken[:, :, None] * _CHUNK + np.arange(_CHUNK)).reshape(n_rows, -1)
    values = np.take_along_axis(scores, np.minimum(places, n - 1), 1)
    values[places >= n] = -np.inf
    inner = _best_of_few(values, count)
    found = np.take_along_axis(places, inner, 1)
    least = np.take_along_axis(values, inner, 1).min(axis=1)
    for row in np.flatnonzero((peaks >= least[:, None]).sum(axis=1) > count):  # some that are alike elsewhere
        found[row] = _best_of_few(scores[row : row + 1], count)[0]
    return found


def _best_of_few(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    if count >= scores.shape[1]:
        return np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    found = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    least = np.take_along_axis(scores, found, 1).min(axis=1)
    for row in np.flatnonzero((scores >= least[:, None]).sum(axis=1) > count):
        above = np.flatnonzero(scores[row] > least[row])
        alike = np.flatnonzero(scores[row] == least[row])
        found[row] = np.concatenate([above, alike[: count - len(above)]])
    return found


def _ranked(
    rows: NDArray[np.float32], queries: NDArray[np.int64], candidates: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k best of some candidates, by scores that do not depend on how they were found."""
    scores = np.einsum("qd,qcd->qc", rows[queries], rows[candidates], dtype=np.float32)
    scores[(candidates == queries[:, None]) | (candidates < 0)] = -np.inf
    order = np.lexsort((candidates, -scores), axis=1)[:, :k]
    return np.take_along_axis(candidates, order, 1), np.take_along_axis(scores, order, 1)


def build_index(rows: NDArray[np.float32], score: str, progress: ShareDone | None = None) -> Any:
    """A usearch index of the rows, keyed by their numbers."""
    try:
        from usearch.index import Index
    except ImportError:
        raise MissingExtraError(
            "an index of this many nodes needs usearch: pip install 'nafs[similar]'"
        ) from None
    index = Index(
        ndim=rows.shape[1],
        metric="cos" if score == "cosine" else "ip",
        dtype="f32",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION_ADD,
    )
    for begin in range(0, len(rows), _ADDED):
        some = rows[begin : begin + _ADDED]
        index.add(np.arange(begin, begin + len(some)), some, threads=1)
        if progress is not None:
            progress(BUILDING * len(some) / len(rows))
    return index


def widen(index: Any, rows: NDArray[np.float32], k: int, n_threads: int) -> float:
    """Search an index as widely as it takes to find the nearest; the share of them found in a sample."""
    n, k = len(rows), min(k, _JUDGED, len(rows) - 1)
    if k < 1:
        return 1.0
    sample = np.random.default_rng(0).choice(n, min(_SAMPLE, n), replace=False)
    least = np.empty((len(sample), 1), np.float32)
    for i, row in enumerate(sample):
        scores = rows @ rows[row]
        scores[row] = -np.inf
        least[i] = np.partition(scores, n - k)[n - k]
    least -= 1e-5 * np.abs(least)  # rows that score alike are as good; so is one that rounding puts first
    recall = 0.0
    for expansion in _EXPANSIONS:
        index.expansion_search = expansion
        near = search_index(index, rows[sample], min(k + 1 + _SPARE, n), n_threads)
        recall = float((_ranked(rows, sample, near, k)[1] >= least).mean())
        if recall >= _RECALL:
            break
    return recall


def tell(recall: float) -> str:
    """What a search through an index finds, in words."""
    share = f"{100 * min(recall, 0.99):.0f} %"
    return f"so many nodes are searched through an index, which finds about {share} of the nearest"


def search_index(index: Any, rows: NDArray[np.float32], count: int, n_threads: int) -> NDArray[np.int64]:
    """Numbers of the nearest rows in an index for each row given; -1 where it found fewer."""
    found = index.search(rows, count, threads=n_threads)
    keys = np.full((len(rows), count), -1, np.int64)
    got = np.asarray(found.keys).reshape(len(rows), -1).astype(np.int64)
    counts = np.asarray(found.counts) if hasattr(found, "counts") else np.full(len(rows), got.shape[1])
    there = np.arange(got.shape[1])[None, :] < counts.reshape(-1, 1)
    keys[:, : got.shape[1]] = np.where(there, got, -1)
    return keys
