"""Clusters in words: size, cohesion, typical nodes, and what distinguishes each from the other nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

TYPICAL = 5
_REASONS = 3  # in the words of one cluster
_LIFT, _SHARE = 1.5, 0.25  # a value that names a cluster occurs this much more often, and this often
_DEVIATIONS = 0.6  # standard deviations by which the mean of a cluster must differ in a column that names it
_RARE_LIFT = 3.0  # a word that is not frequent in a cluster has to occur this much more often than elsewhere
_FREQUENT, _RARE, _FEWEST = 0.1, 0.02, 5  # shares of a cluster with a word, and its nodes with a rare one
_CHANCE = 0.01  # probability from which on a rare word may be there by chance
_IN_NAME = 0.5  # share of the most frequent word of a name that the others must have
_NUMERIC = 0.5  # share of the rows with a value from which on a sparse column is described as a number
_MOST_NUMERIC = 1 << 24  # values of such columns
_WORD = re.compile(r"[^\W\d_]{3,}")
_MOST_WORDS = 50_000
_MOST_TEXTS = 100_000
_SHORT = 28  # letters of a value in a name


@dataclass(frozen=True)
class Cluster:
    """One cluster in words.

    Attributes
    ----------
    name : str
        Short and unique.
    words : str
        What distinguishes it, in a sentence.
    size : int
    cohesion : float
        Mean cosine of its nodes with its centre: 1 if all vectors point the same way.
    typical : list of int
        Rows of the nodes closest to its centre.
    """

    name: str
    words: str
    size: int
    cohesion: float
    typical: list[int]


@dataclass(frozen=True)
class NodeFacts:
    """Known facts about the nodes, used to describe clusters.

    Attributes
    ----------
    categories : mapping from title to (codes, names)
        Codes are -1 where unknown.
    numbers : mapping from title to ndarray
        NaN where unknown.
    texts : mapping from title to sequence of str or None
    features : (matrix, names), optional
        Many numeric columns, dense or sparse.
    """

    categories: Mapping[str, tuple[NDArray[Any], Sequence[str]]] = field(default_factory=dict)
    numbers: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    texts: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    features: tuple[Any, Sequence[str]] | None = None


@dataclass(frozen=True)
class _Reason:
    strength: float
    short: str
    long: str


def describe_clusters(
    clusters: NDArray[Any], matrix: NDArray[Any], ids: Sequence[Any], facts: NodeFacts | None = None
) -> list[Cluster]:
    """Describe each cluster 0..k-1.

    Parameters
    ----------
    clusters : ndarray of shape (n,)
    matrix : ndarray of shape (n, d)
        The embedding.
    ids : sequence of n ids
    facts : NodeFacts, optional
        Without facts, clusters are named after their most typical node.

    Returns
    -------
    list of Cluster

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.description import NodeFacts, describe_clusters
    >>> vectors = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]])
    >>> facts = NodeFacts(categories={"city": (np.array([0, 0, 1, 1]), ["Oslo", "Rome"])})
    >>> [one.name for one in describe_clusters(np.array([0, 0, 1, 1]), vectors, "abcd", facts)]
    ['Oslo', 'Rome']
    """
    facts = facts or NodeFacts()
    count = int(clusters.max(initial=-1)) + 1
    sizes = np.bincount(clusters, minlength=count)
    typical, cohesion = _centres(clusters, matrix, count)
    reasons: list[list[_Reason]] = [[] for _ in range(count)]
    member = sp.csr_array(
        (np.ones(len(clusters), np.float32), (clusters, np.arange(len(clusters)))),
        shape=(count, len(clusters)),
    )
    for title, (codes, names) in facts.categories.items():
        _add_categories(reasons, clusters, title, np.asarray(codes), names)
    for title, values in facts.numbers.items():
        _add_numbers(reasons, clusters, title, np.asarray(values, np.float64))
    for title, texts in facts.texts.items():
        _add_words(reasons, clusters, title, texts, count)
    if facts.features is not None:
        _add_features(reasons, member, sizes, *facts.features)
    used_names: set[str] = set()
    described = []
    for cluster in range(count):
        best = sorted(reasons[cluster], key=lambda reason: -reason.strength)[:_REASONS]
        around = f"around {ids[typical[cluster][0]]}" if typical[cluster] else f"cluster {cluster + 1}"
        names = [reason.short for reason in best]
        names.append(f"{names[0]}, {around}" if names else around)
        name = next((candidate for candidate in names if candidate not in used_names), names[-1])
        name = name if name not in used_names else f"{name} ({cluster + 1})"
        used_names.add(name)
        words = "; ".join(reason.long for reason in best) or "Named after its most typical node."
        described.append(
            Cluster(
                name, words[:1].upper() + words[1:], int(sizes[cluster]), cohesion[cluster], typical[cluster]
            )
        )
    return described


def _centres(clusters: NDArray[Any], matrix: NDArray[Any], count: int) -> tuple[list[list[int]], list[float]]:
    """Rows closest to the centre of each cluster, and the mean cosine with it."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    typical, cohesion = [], []
    order = np.argsort(clusters, kind="stable")
    bounds = np.searchsorted(clusters[order], np.arange(count + 1))
    for cluster in range(count):
        rows = order[bounds[cluster] : bounds[cluster + 1]]
        units = matrix[rows] / np.maximum(lengths[rows], 1e-30)[:, None]
        centre = units.mean(axis=0, dtype=np.float64) if len(rows) else np.zeros(matrix.shape[1])
        cosines = units @ (centre / max(float(np.linalg.norm(centre)), 1e-30))
        best = np.lexsort((rows, -cosines.round(9)))[:TYPICAL]
        typical.append([int(row) for row in rows[best]])
        cohesion.append(float(cosines.mean()) if len(rows) else 0.0)
    return typical, cohesion


def _add_categories(
    reasons: list[list[_Reason]],
    clusters: NDArray[Any],
    title: str,
    codes: NDArray[Any],
    names: Sequence[str],
) -> None:
    table = np.zeros((len(reasons), len(names)), np.int64)
    known = codes >= 0
    np.add.at(table, (clusters[known], codes[known]), 1)
    overall = table.sum(axis=0) / max(1, table.sum())
    shares = table / np.maximum(1, table.sum(axis=1, keepdims=True))
    for cluster, row in enumerate(shares):
        lifts = row / np.maximum(overall, 1e-12)
        value = int(np.argmax(row * np.log(np.maximum(lifts, 1e-12)))) if len(row) else 0
        if len(row) and row[value] >= _SHARE and lifts[value] >= _LIFT:
            long = (
                f"{100 * row[value]:.0f} % have {title} {names[value]} ({100 * overall[value]:.0f} % of all)"
            )
            strength = 1 + float(row[value] * np.log(lifts[value]))
            short = f"{title} {names[value]}" if str(names[value]).isdigit() else str(names[value])
            reasons[cluster].append(_Reason(strength, _cut(short), long))


def _add_numbers(
    reasons: list[list[_Reason]], clusters: NDArray[Any], title: str, values: NDArray[np.float64]
) -> None:
    known = np.isfinite(values)
    largest = float(np.abs(values[known]).max(initial=0))
    values = values / (largest or 1)  # so that squares and sums do not overflow
    deviation = float(values[known].std()) if known.any() else 0.0
    if not deviation:
        return
    sums = np.bincount(clusters[known], weights=values[known], minlength=len(reasons))
    counts = np.bincount(clusters[known], minlength=len(reasons))
    mean = float(values[known].mean())
    for cluster in np.flatnonzero(counts):
        own = sums[cluster] / counts[cluster]
        shift = (own - mean) / deviation
        if abs(shift) >= _DEVIATIONS:
            side = "high" if shift > 0 else "low"
            long = f"{side} {title} ({own * largest:.3g} on average, {mean * largest:.3g} overall)"
            reasons[cluster].append(_Reason(float(min(1, abs(shift) / 4)), f"{side} {_cut(title)}", long))


def _add_words(
    reasons: list[list[_Reason]],
    clusters: NDArray[Any],
    title: str,
    texts: Sequence[str | None],
    count: int,
) -> None:
    """Words of a text column that occur in a cluster far more often than elsewhere."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    step = max(1, len(texts) // _MOST_TEXTS)
    numbers: dict[str, int] = {}
    rows, columns = [], []
    sizes = np.zeros(count, np.int64)
    for node in range(0, len(texts), step):
        text = texts[node]
        sizes[clusters[node]] += 1
        for word in set(_WORD.findall((text or "").lower())) - ENGLISH_STOP_WORDS:
            if word in numbers or len(numbers) < _MOST_WORDS:
                rows.append(int(clusters[node]))
                columns.append(numbers.setdefault(word, len(numbers)))
    if not numbers:
        return
    table = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(count, len(numbers)))
    _add_frequent(reasons, table.toarray(), sizes, list(numbers), f"{title} with")


def _add_frequent(
    reasons: list[list[_Reason]],
    table: NDArray[Any],
    sizes: NDArray[np.int64],
    words: Sequence[str],
    label: str,
) -> None:
    from scipy.special import pdtrc

    overall = table.sum(axis=0) / max(1, sizes.sum())
    for cluster in range(len(table)):
        shares = table[cluster] / max(1, sizes[cluster])
        lifts = shares / np.maximum(overall, 1e-12)
        frequent = (shares >= _FREQUENT) & (lifts >= _LIFT)
        outside = (table.sum(axis=0) - table[cluster]) / max(1, sizes.sum() - sizes[cluster])
        rare = (shares >= _RARE) & (shares >= _RARE_LIFT * outside) & (table[cluster] >= _FEWEST)
        # By chance so many would hardly have any of these words in any of these clusters.
        rare &= table.size * pdtrc(table[cluster] - 1, outside * sizes[cluster]) < _CHANCE
        gains = np.where(frequent | rare, shares * np.log(np.maximum(lifts, 1e-12)), 0)
        best = [int(i) for i in np.argsort(-gains, kind="stable")[:3] if gains[i] > 0]
        if best:
            most = _IN_NAME * max(shares[i] for i in best)
            short = ", ".join(_cut(_bare(words[i]), 14) for i in best if shares[i] >= most)
            long = f"{label} " + ", ".join(f"{words[i]} ({100 * shares[i]:.0f} %)" for i in best)
            reasons[cluster].append(_Reason(1.2 + float(gains[best].sum()), short, long))


def _add_features(
    reasons: list[list[_Reason]],
    member: Any,
    sizes: NDArray[np.int64],
    matrix: Any,
    names: Sequence[str],
) -> None:
    """Feature columns: frequent words of a bag of words, or unusually high or low numbers."""
    if sp.issparse(matrix):  # words and categories, and perhaps numbers beside them
        columns = sp.csc_array(matrix)
        filled = np.diff(columns.indptr)
        often = np.flatnonzero(filled > _NUMERIC * matrix.shape[0])
        values = (columns.data[columns.indptr[i] : columns.indptr[i + 1]] for i in often)
        varies = np.array(
            [bool((some != some[0]).any()) for some in values], bool
        )  # unlike a word or category
        numeric = often[varies][: _MOST_NUMERIC // max(1, matrix.shape[0])]
        others = np.setdiff1d(np.arange(len(names)), numeric)
        present = member @ (columns[:, others] != 0).astype(np.float32)
        _add_frequent(reasons, np.asarray(present.toarray()), sizes, [names[i] for i in others], "frequent:")
        if not len(numeric):
            return
        matrix, names = columns[:, numeric].toarray(), [names[i] for i in numeric]
    sums = np.asarray(member @ matrix, np.float64)
    mean = sums.sum(axis=0) / max(1, sizes.sum())
    deviation = np.asarray(matrix, np.float64).std(axis=0) if matrix.size < 1 << 26 else np.ones(len(mean))
    for cluster in np.flatnonzero(sizes):
        shifts = (sums[cluster] / sizes[cluster] - mean) / np.where(deviation > 0, deviation, np.inf)
        best = [
            int(i) for i in np.argsort(-np.abs(shifts), kind="stable")[:3] if abs(shifts[i]) >= _DEVIATIONS
        ]
        if best:
            words = [f"{'high' if shifts[i] > 0 else 'low'} {names[i]}" for i in best]
            strength = float(min(0.9, np.abs(shifts[best]).mean() / 4))
            reasons[cluster].append(_Reason(strength, _cut(", ".join(words[:2]), 40), ", ".join(words)))


def _bare(feature: str) -> str:
    """The word or value of an encoded column such as "title: graph", for a name."""
    return feature.split(": ", 1)[-1] or feature


def _cut(text: str, most: int = _SHORT) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
