"""Features made ready for smoothing: scaled by what they are, freed of what all rows share, made narrower.

``judge`` looks at the values alone, never at labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice
from nafs._support.checksum import crc_of
from nafs._support.errors import InputError
from nafs.graph import Adjacency, Features, read_features

KINDS = ("none", "l2", "tfidf", "standardize")
CENTERS = ("none", "mean", "stationary")
REDUCTIONS = ("svd", "random")
_BLOCK = 1 << 22  # values looked at in one go
_SPARSE = 0.5  # share of values other than 0 below which whole numbers are taken as counts of something


def judge(features: Features) -> tuple[str, str]:
    """The kind of preprocessing that features call for, and why.

    Examples
    --------
    >>> from nafs.graph import read_features
    >>> from nafs.selection.preprocessing import judge
    >>> judge(read_features([[1, 0, 0], [0, 1, 0]]))
    ('tfidf', 'counts: whole numbers, 33 % of them not 0')
    """
    n, f = features.shape
    values = features.values
    negative, whole, filled = False, True, 0
    for top in range(0, values.size, _BLOCK):
        block = values[top : top + _BLOCK]
        negative |= bool((block < 0).any())
        whole &= bool((block == np.rint(block)).all())
        filled += int(np.count_nonzero(block))
    share = filled / max(1, n * f)
    if negative:
        return "standardize", "numbers of both signs: columns brought to mean 0 and deviation 1"
    if whole and share < _SPARSE:
        return "tfidf", f"counts: whole numbers, {100 * share:.2g} % of them not 0"
    return "l2", "numbers from 0 up that are no counts: rows brought to length 1"


@dataclass(frozen=True, eq=False)
class Preparation:
    """What is done to features, with the numbers that it was found to take.

    ``scale`` are factors of columns, ``shift`` is taken away from rows before, ``common`` after; at last rows
    are projected on ``directions``.
    """

    kind: str
    center: str
    scale: NDArray[np.float64] | None = None
    shift: NDArray[np.float64] | None = None
    common: NDArray[np.float64] | None = None
    directions: NDArray[np.float32] | None = None

    @property
    def checksum(self) -> str:
        """CRC-32 of the numbers, to tell one preparation from another."""
        numbers = (self.scale, self.shift, self.common, self.directions)
        return f"{crc_of(*(array for array in numbers if array is not None)):08x}"

    def apply(self, features: Features) -> Features:
        """Features treated like those that this was found with; the same object where nothing is done."""
        if self.shift is not None and self.scale is not None:
            moved = features.toarray() - self.shift.astype(np.float32)
            features = read_features(moved * self.scale.astype(np.float32))
        elif self.kind != "none":
            features = features.unit_rows(self.scale)
        if self.common is not None:
            features = read_features(features.toarray() - self.common.astype(np.float32))
        return features if self.directions is None else _projected(features, self.directions)


def find_preparation(
    features: Features, graph: Adjacency, kind: str = "none", center: str = "none"
) -> tuple[Preparation, Features]:
    """The numbers that a preparation takes, and the features prepared; parameters as in :func:`prepare`."""
    check_choice("preprocessing", kind, KINDS)
    check_choice("center", center, CENTERS)
    scale = shift = common = None
    if kind == "tfidf":
        scale = _idf(features)
    elif kind == "standardize":
        shift, spread = _moments(features)
        scale = 1 / np.where(spread > 0, spread, 1)
    prepared = Preparation(kind, center, scale, shift).apply(features)
    if center != "none":
        weights = np.ones(len(graph.degrees)) if center == "mean" else graph.degrees
        common = prepared.weighted_sum(weights / weights.sum())
        prepared = Preparation("none", center, common=common).apply(prepared)
    return Preparation(kind, center, scale, shift, common), prepared


def prepare(features: Features, graph: Adjacency, kind: str = "none", center: str = "none") -> Features:
    """Scaled and centred features.

    Parameters
    ----------
    features : Features
    graph : Adjacency
        Its degrees are what the stationary state is weighed by.
    kind : {"none", "l2", "tfidf", "standardize"}
        Nothing; rows of length 1; columns weighed by ln((1 + n) / (1 + rows that have it)) + 1, then rows of
        length 1; columns of mean 0 and deviation 1.
    center : {"none", "mean", "stationary"}
        What is taken away from every row: nothing; the mean row; the mean row weighed by degree, which is
        what endless smoothing by the random walk leaves of a connected graph. (By component, as the
        definition has it, small components would lose everything that they have.) Sparse features
        become dense.

    Returns
    -------
    Features
        The same object where nothing is to be done.
    """
    return find_preparation(features, graph, kind, center)[1]


def prepared_nbytes(features: Features, kind: str, center: str) -> int:
    """Bytes of the copy that a preparation makes."""
    if kind == "standardize" or center != "none":
        n, f = features.shape
        return 4 * n * f
    return 0 if kind == "none" else features.nbytes


def _idf(features: Features) -> NDArray[np.float64]:
    return np.log((1 + features.shape[0]) / (1 + features.count_nonzero())) + 1


def _moments(features: Features) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of each column."""
    n, f = features.shape
    step = max(1, _BLOCK // f)
    mean, square = np.zeros(f), np.zeros(f)
    for begin in range(0, n, step):
        mean += features.rows(begin, min(n, begin + step)).sum(axis=0)
    mean /= n
    for begin in range(0, n, step):
        square += ((features.rows(begin, min(n, begin + step)) - mean) ** 2).sum(axis=0)
    return mean, np.sqrt(square / n)


def reduce(features: Features, n_columns: int, how: str = "svd", seed: int = 0) -> tuple[Features, float]:
    """Fewer columns, and how much that costs.

    Smoothing acts on columns alike, so that an orthogonal map commutes with it: what is cut off here is all
    that is lost.

    Parameters
    ----------
    features : Features
    n_columns : int
        Features that have no more come back as they are.
    how : {"svd", "random"}
        The leading singular directions; or a Gaussian random projection, which needs no pass over the
        features before.
    seed : int

    Returns
    -------
    Features
    float
        SVD: the share of the squared values that is lost. Random: the deviation of squared lengths
        relative to themselves.
    """
    directions = find_directions(features, n_columns, how, seed)
    if directions is None:
        return features, 0.0
    reduced = _projected(features, directions)
    return reduced, reduction_error(features, reduced, how)


def find_directions(
    features: Features, n_columns: int, how: str = "svd", seed: int = 0
) -> NDArray[np.float32] | None:
    """What rows are projected on for fewer columns; parameters as in :func:`reduce`."""
    from sklearn.utils.extmath import randomized_svd

    check_choice("reduction", how, REDUCTIONS)
    if n_columns < 1:
        raise InputError(f"features can be reduced to 1 column or more; got {n_columns}")
    n, f = features.shape
    if f <= n_columns:
        return None
    if how == "random":
        rng = np.random.default_rng(seed)
        return rng.standard_normal((f, n_columns), dtype=np.float32) / np.float32(np.sqrt(n_columns))
    _, _, right = randomized_svd(features.matrix, min(n_columns, n), n_iter=4, random_state=seed)
    return np.ascontiguousarray(right.T, dtype=np.float32)


def reduction_error(features: Features, reduced: Features, how: str) -> float:
    """What a reduction costs; see :func:`reduce`."""
    before, after = (found.norms.astype(np.float64) ** 2 for found in (features, reduced))
    if how == "random":
        some = before > 0
        return float(np.std(after[some] / before[some])) if some.any() else 0.0
    return max(0.0, 1 - float(after.sum() / before.sum())) if before.any() else 0.0


def _projected(features: Features, directions: NDArray[np.float32]) -> Features:
    return read_features(features.project(directions))
