"""Nearest rows of a matrix: by exact comparison in blocks of rows, or through an index for many rows.

The exact search compares each query with every row. Where that would take long, an HNSW index (usearch) finds
candidates. One thread builds the index, so that it is reproducible. The width of the search is chosen on a
sample of rows whose nearest rows are known exactly. Scores are always computed from the rows themselves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import check_limit
from nafs._support.checks import check_choice
from nafs._support.errors import InputError, MissingExtraError, Parameter
from nafs.links import SCORES

EXACT_WORK = 3.0e13  # multiplications above which an index built by one thread is faster
_BLOCK = 1 << 24  # scores per block
_SPARE = 8  # extra candidates, so that rounding in a product cannot lose one
_CHUNK = 64  # scores whose maximum is compared first
_CONNECTIVITY, _EXPANSION_ADD = 24, 160
_EXPANSIONS = (64, 128, 256, 512, 1024, 2048, 4096)  # search widths to try
_SAMPLE, _JUDGED = 200, 64  # rows in the sample, and nearest rows compared for each
_RECALL = 0.97  # target on the sample
_ADDED = 4096  # rows added to an index between checks for signals
BUILDING = 0.5  # approximate share of the time that building takes if all rows are queried

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
    memory_limit: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k nearest other rows of each query, best first.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
    queries : ndarray of row numbers
    k : int
        Neighbours per query; at most all other rows.
    score : {"cosine", "inner"}
    exact : bool, optional
        Compare with every row, or search an index. By default exact unless an index is faster (from about
        half a million rows of 128 columns on, if all are queried); a warning then reports its recall.
    n_threads : int
        Threads that search an index.
    progress : callable, optional
        Called with the share of the work done since the last call.
    memory_limit : int, optional
        Bytes that may be used besides the matrix. Fewer queries are compared at a time where it is small.

    Returns
    -------
    ndarray of row numbers, shape (len(queries), k)
        Ties are ordered by row number.
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
    automatic = exact is None
    if exact is None:
        exact = float(len(queries)) * matrix.size <= EXACT_WORK
    n_candidates = min(n, k + 1 + _SPARE)  # the query itself is among them
    step = _queries_at_a_time(matrix.shape, len(queries), n_candidates, exact, memory_limit)
    rows = scored_rows(matrix, score)
    index = None
    if not exact:
        index = build_index(rows, score, progress)
        recall = widen(index, rows, k, n_threads)
        if automatic:
            warnings.warn(recall_note(recall), stacklevel=2)
    remaining = 1.0 if index is None else 1.0 - BUILDING
    neighbors, scores = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
    for begin in range(0, len(queries), step):
        batch = queries[begin : begin + step]
        if exact:
            candidates = _best(rows[batch] @ rows.T, n_candidates)
        else:
            candidates = search_index(index, rows[batch], n_candidates, n_threads)
        near, near_scores = _ranked(rows, batch, candidates, k)
        for row in np.flatnonzero(np.isneginf(near_scores).any(axis=1)):  # the index found too few
            exhaustive = _best(rows[batch[[row]]] @ rows.T, n_candidates)
            near[row], near_scores[row] = (line[0] for line in _ranked(rows, batch[[row]], exhaustive, k))
        neighbors[begin : begin + step], scores[begin : begin + step] = near, near_scores
        if progress is not None:
            progress(remaining * len(batch) / len(queries))
    return neighbors, bounded(scores, score)


def _queries_at_a_time(
    shape: tuple[int, ...], n_queries: int, n_candidates: int, exact: bool, limit: int | None
) -> int:
    """How many queries are compared in one block; raises if the limit is too small for one."""
    n, d = shape
    step = max(1, _BLOCK // max(n if exact else 1, n_candidates * d))
    if limit is None:
        return step
    # Unit rows and their norms, the index, and the results; then the scores and candidates of a query.
    fixed = 4 * n * d + 24 * n + (0 if exact else 5 * n * d + 700 * n) + 40 * n_queries * n_candidates
    each = (5 * n if exact else 0) + n_candidates * (24 * _CHUNK + 8 * d) + 64
    check_limit(fixed + each, limit, "comparing the vectors needs", "raise it")
    return min(step, (limit - fixed) // each)


def scored_rows(matrix: NDArray[Any], score: str) -> NDArray[np.float32]:
    """Rows transformed so that their inner products are the scores."""
    if matrix.size and not (np.isfinite(matrix.min()) and np.isfinite(matrix.max())):
        raise InputError("the embedding contains NaN or inf: scores of such rows are undefined")
    if score == "cosine":
        return unit_rows(matrix)
    largest = float(np.abs(matrix).max()) if matrix.size else 0.0
    if largest**2 * matrix.shape[1] > float(np.finfo(np.float32).max):
        raise InputError(
            f"the embedding reaches {largest:.3g}, too large for inner products; rescale it, or use ",
            Parameter("score", "cosine"),
        )
    return np.asarray(matrix, np.float32)


def bounded(scores: NDArray[np.float32], score: str) -> NDArray[np.float32]:
    """The scores; cosines that rounding has carried beyond -1 or 1 are cut off there."""
    return np.clip(scores, -1, 1) if score == "cosine" else scores


def unit_rows(matrix: NDArray[Any]) -> NDArray[np.float32]:
    """Rows scaled to length 1; rows of zeros are unchanged."""
    sizes = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)).astype(np.float32)
    return np.asarray(matrix / np.where(sizes > 0, sizes, 1)[:, None], np.float32)


def _best(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Columns of the largest scores of each row; among ties, the first columns.

    They lie in the chunks with the largest maxima, which one pass over the scores finds.
    """
    n_rows, n = scores.shape
    whole, chunks = n // _CHUNK, -(-n // _CHUNK)
    if chunks <= 2 * count:
        return _best_of_few(scores, count)
    peaks = np.empty((n_rows, chunks), np.float32)
    peaks[:, :whole] = scores[:, : whole * _CHUNK].reshape(n_rows, whole, _CHUNK).max(axis=2)
    if whole < chunks:
        peaks[:, whole] = scores[:, whole * _CHUNK :].max(axis=1)
    best_chunks = np.sort(np.argpartition(-peaks, count - 1, axis=1)[:, :count], axis=1)
    places = (best_chunks[:, :, None] * _CHUNK + np.arange(_CHUNK)).reshape(n_rows, -1)
    values = np.take_along_axis(scores, np.minimum(places, n - 1), 1)
    values[places >= n] = -np.inf
    inner = _best_of_few(values, count)
    best = np.take_along_axis(places, inner, 1)
    least = np.take_along_axis(values, inner, 1).min(axis=1)
    for row in np.flatnonzero((peaks >= least[:, None]).sum(axis=1) > count):  # ties in other chunks
        best[row] = _best_of_few(scores[row : row + 1], count)[0]
    return best


def _best_of_few(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    if count >= scores.shape[1]:
        return np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    least = np.take_along_axis(scores, best, 1).min(axis=1)
    for row in np.flatnonzero((scores >= least[:, None]).sum(axis=1) > count):
        above = np.flatnonzero(scores[row] > least[row])
        tied = np.flatnonzero(scores[row] == least[row])
        best[row] = np.concatenate([above, tied[: count - len(above)]])
    return best


def _ranked(
    rows: NDArray[np.float32], queries: NDArray[np.int64], candidates: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k best candidates. Scores are recomputed, so that they do not depend on the search method."""
    scores = np.einsum("qd,qcd->qc", rows[queries], rows[candidates], dtype=np.float32)
    scores[(candidates == queries[:, None]) | (candidates < 0)] = -np.inf
    order = np.lexsort((candidates, -scores), axis=1)[:, :k]
    return np.take_along_axis(candidates, order, 1), np.take_along_axis(scores, order, 1)


def build_index(rows: NDArray[np.float32], score: str, progress: ShareDone | None = None) -> Any:
    """Build a usearch index of the rows, keyed by row number."""
    try:
        from usearch.index import Index
    except ImportError:
        raise MissingExtraError(
            "searching this many nodes needs usearch: pip install 'nafs[similar]'"
        ) from None
    index = Index(
        ndim=rows.shape[1],
        metric="cos" if score == "cosine" else "ip",
        dtype="f32",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION_ADD,
    )
    for begin in range(0, len(rows), _ADDED):
        batch = rows[begin : begin + _ADDED]
        index.add(np.arange(begin, begin + len(batch)), batch, threads=1)
        if progress is not None:
            progress(BUILDING * len(batch) / len(rows))
    return index


def widen(index: Any, rows: NDArray[np.float32], k: int, n_threads: int) -> float:
    """Choose the search width of an index on a sample of rows, and return the recall on the sample."""
    n, k = len(rows), min(k, _JUDGED, len(rows) - 1)
    if k < 1:
        return 1.0
    sample = np.random.default_rng(0).choice(n, min(_SAMPLE, n), replace=False)
    least = np.empty((len(sample), 1), np.float32)
    for i, row in enumerate(sample):
        scores = rows @ rows[row]
        scores[row] = -np.inf
        least[i] = np.partition(scores, n - k)[n - k]
    least -= 1e-5 * np.abs(least)  # tolerance for ties and rounding
    recall = 0.0
    for expansion in _EXPANSIONS:
        index.expansion_search = expansion
        near = search_index(index, rows[sample], min(k + 1 + _SPARE, n), n_threads)
        recall = float((_ranked(rows, sample, near, k)[1] >= least).mean())
        if recall >= _RECALL:
            break
    return recall


def recall_note(recall: float) -> str:
    """The message that a search used an index, with its recall."""
    share = f"{100 * min(recall, 0.99):.0f} %"
    return f"the embedding is large, so an index was searched; it finds about {share} of the nearest nodes"


def search_index(index: Any, rows: NDArray[np.float32], count: int, n_threads: int) -> NDArray[np.int64]:
    """Row numbers of the nearest rows of each query; -1 where the index found fewer."""
    matches = index.search(rows, count, threads=n_threads)
    keys = np.full((len(rows), count), -1, np.int64)
    nearest_keys = np.asarray(matches.keys).reshape(len(rows), -1).astype(np.int64)
    width = nearest_keys.shape[1]
    counts = np.asarray(matches.counts) if hasattr(matches, "counts") else np.full(len(rows), width)
    valid = np.arange(width)[None, :] < counts.reshape(-1, 1)
    keys[:, :width] = np.where(valid, nearest_keys, -1)
    return keys
