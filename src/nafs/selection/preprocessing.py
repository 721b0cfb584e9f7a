"""Prepare features for smoothing: scale and centre them.

``judge`` chooses the scaling from the values alone, never from labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice
from nafs._support.checksum import crc_of
from nafs.clustering.own_features import OwnFeatures
from nafs.graph import Adjacency, Features, Graph, read_features
from nafs.selection.reduction import projected

KINDS = ("none", "l2", "tfidf", "standardize", "components")
SHIFTED = ("standardize", "components")  # the mean of each column is subtracted; all values are stored
CENTERS = ("none", "mean", "stationary")
_BLOCK = 1 << 22  # values per block
_SPARSE = 0.5  # density below which non-negative integers are treated as counts
_MOST = 0.9  # share of the squared lengths of rows that columns must make up together to outweigh all others
_SAMPLE = 10_000  # rows that are looked at for a column that outweighs the others
_ENTRIES = 1 << 20  # values that are looked at for counts
_EXACT = 0.01  # error of whole multiples that were divided by a number and rounded
_LARGEST = 1000  # multiple; larger ones do not have that precision
_SAME = 0.5  # share of the rows that may have the same smallest value; more is a unit, such as cents
_OUTWEIGHS = 0.95  # share of the variance
_FALLING = 0.95  # rank correlation of the lengths and the places of columns that are principal components
_ORTHOGONAL = 0.1  # largest cosine between such columns; components of other rows are not exactly orthogonal
_ROUNDED = 1e-3  # error of a length that was 1 before values were rounded
_FEW = 8  # columns; where fewer make up the lengths of rows, all rows have nearly the same direction


def judge(features: Features) -> tuple[str, str]:
    """Choose the preprocessing for features, with the reason.

    Examples
    --------
    >>> from nafs.graph import read_features
    >>> from nafs.selection.preprocessing import judge
    >>> judge(read_features([[1, 0, 0], [0, 1, 0]]))
    ('tfidf', 'values are counts: whole numbers, 33 % of them nonzero')
    """
    if features.encoding is not None:
        return "none", "the columns were scaled when the table was encoded"
    negative, whole, share = _kinds_of_values(features)
    if negative:
        return _judge_signed(features)
    if whole and share < _SPARSE and not _has_measurements(features):
        return "tfidf", f"values are counts: whole numbers, {100 * share:.2g} % of them nonzero"
    if features.dense is not None and _columns_that_count(features.dense) < _FEW:
        return (
            "standardize",
            "few columns, or a few that outweigh the others: columns are scaled to mean 0 and deviation 1",
        )
    if share < _SPARSE and _are_scaled_counts(features):
        return "tfidf", "values are counts, divided by a number for each row"
    return "l2", "non-negative values that are not counts: rows are scaled to length 1"


def _judge_signed(features: Features) -> tuple[str, str]:
    """Choose the preprocessing for values of both signs."""
    scaling = "the mean is subtracted, and each column divided by the square root of its deviation"
    if _have_length_one(features):
        return "components", f"all rows have length 1, so columns share a unit: {scaling}"
    if _are_components(features):
        return (
            "components",
            f"columns are orthogonal and sorted by length, as principal components are: {scaling}",
        )
    return "standardize", "values of both signs: columns are scaled to mean 0 and deviation 1"


def _have_length_one(features: Features) -> bool:
    """Whether all rows have length 1, except for rows of zeros, and many columns make them up."""
    lengths = features.norms[features.norms > 0]
    return features.shape[1] >= _FEW and bool((np.abs(lengths - 1) < _ROUNDED).all())


def _are_scaled_counts(features: Features) -> bool:
    """Whether each row is a row of counts that was divided by a number, such as the sum of the row.

    Its values are then whole multiples of its smallest one, which differs from row to row.
    """
    n, f = features.shape
    rows = min(n, max(1, _ENTRIES // max(1, features.values.size // n if features.is_sparse else f)))
    sample = features.take(np.arange(0, n, -(-n // rows)))
    if sample.dense is None:
        rows_of_entries, _, entries = sample.entries(0, sample.shape[0])
        row, values = rows_of_entries[entries > 0].astype(np.int64), entries[entries > 0]
    else:
        row, values = np.asarray(sample.dense.nonzero()[0], np.int64), sample.dense[sample.dense > 0]
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    sizes = np.diff(starts, append=len(row))
    several = sizes > 1
    if not several.any():
        return False
    smallest = np.minimum.reduceat(values, starts)
    _, repeats = np.unique(np.rint(1000 * np.log(smallest[several])), return_counts=True)
    if repeats.max() > _SAME * several.sum():
        return False
    multiples = values / np.repeat(smallest, sizes)
    exact = (np.abs(multiples - np.rint(multiples)) < _EXACT) & (multiples <= _LARGEST)
    return bool(np.logical_and.reduceat(exact, starts)[several].mean() >= _MOST)


def _has_measurements(features: Features) -> bool:
    """Whether a few of many columns outweigh all others, such as a year beside counts of words."""
    few = min(_FEW, features.shape[1] / 4)
    return features.dense is not None and _columns_that_count(features.dense) < few


def _columns_that_count(matrix: NDArray[np.float32]) -> float:
    """How many columns make up the squared lengths of rows: all if they are alike, 1 if one is far larger.

    Such columns are measurements with units of their own, such as age and income. The direction of a row says
    nothing about them.
    """
    squares = _squares(matrix)
    total = squares.sum()
    return float(1 / ((squares / total) ** 2).sum()) if total > 0 else float(matrix.shape[1])


def _are_components(features: Features) -> bool:
    """Whether columns are orthogonal and sorted by falling length, as principal components are.

    Scaling these to the same length would stress directions in which rows hardly differ.
    """
    if features.dense is None:
        return False
    squares = _squares(features.dense)
    present = squares > 0
    lengths, places = squares[present], np.arange(int(present.sum()))
    if len(lengths) < _FEW or len(np.unique(lengths)) < len(lengths):
        return False
    ranks = np.argsort(np.argsort(-lengths))
    if np.corrcoef(ranks, places)[0, 1] < _FALLING:
        return False
    products = _products(features.dense)[present][:, present]
    np.fill_diagonal(products, 0)
    return bool((np.abs(products) <= _ORTHOGONAL * np.sqrt(np.outer(lengths, lengths))).all())


def _kinds_of_values(features: Features) -> tuple[bool, bool, float]:
    """Whether some values are negative, whether all are whole numbers, and the share that is not 0."""
    values = features.values
    negative, whole, filled = False, True, 0
    for top in range(0, values.size, _BLOCK):
        block = values[top : top + _BLOCK]
        negative |= bool((block < 0).any())
        whole &= bool((block == np.rint(block)).all())
        filled += int(np.count_nonzero(block))
    n, f = features.shape
    return negative, whole, filled / max(1, n * f)


def _squares(matrix: NDArray[np.float32]) -> NDArray[np.float64]:
    """The sum of the squares of each column."""
    squares = np.zeros(matrix.shape[1])
    step = max(1, _BLOCK // matrix.shape[1])
    for top in range(0, len(matrix), step):
        block = matrix[top : top + step].astype(np.float64)
        squares += np.einsum("ij,ij->j", block, block)
    return squares


def _products(matrix: NDArray[np.float32]) -> NDArray[np.float64]:
    """The inner products of all pairs of columns."""
    products = np.zeros((matrix.shape[1], matrix.shape[1]))
    step = max(1, _BLOCK // matrix.shape[1])
    for top in range(0, len(matrix), step):
        block = matrix[top : top + step].astype(np.float64)
        products += block.T @ block
    return products


def measurements_note(features: Features, names: Sequence[str] | None = None) -> list[str]:
    """A note that names the few columns that outweigh counts in all others, such as a year beside words.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.graph import read_features
    >>> from nafs.selection.preprocessing import measurements_note
    >>> papers = read_features(np.c_[np.eye(12), 2000 + np.arange(12)])
    >>> measurements_note(papers, [*"abcdefghijkl", "year"])[0].split(" and ")[0]
    "column 'year' outweighs the counts in the other columns"
    """
    if features.dense is None or features.encoding is not None:
        return []
    negative, whole, share = _kinds_of_values(features)
    if negative or not whole or share >= _SPARSE or not _has_measurements(features):
        return []
    squares = _squares(features.dense)
    largest = np.argsort(-squares, kind="stable")[:_FEW]
    reached = np.cumsum(squares[largest]) >= _MOST * squares.sum()
    heavy = largest[: int(reached.argmax()) + 1] if reached.any() else largest
    shown = ", ".join(f"number {place + 1}" if names is None else repr(names[place]) for place in heavy)
    subject = f"column {shown} outweighs" if len(heavy) == 1 else f"columns {shown} outweigh"
    return [
        f"{subject} the counts in the other columns and cannot be weighted like them; compare with a run "
        "without: then the others are weighted as counts, which is often better"
    ]


def outweighing_note(features: Features, names: Sequence[str] | None = None) -> list[str]:
    """A note if one column of unscaled features varies far more than all others.

    Examples
    --------
    >>> from nafs.graph import read_features
    >>> from nafs.selection.preprocessing import outweighing_note
    >>> note = outweighing_note(read_features([[30.0, 0.5], [52.0, 1.5]]))[0]
    >>> note.split(", and ")[1].split(";")[0]
    'column number 1 outweighs the others with 100 % of the variance'
    """
    if features.dense is None or features.shape[1] < 2 or features.encoding is not None:
        return []
    sample = features.dense[:: max(1, len(features.dense) // _SAMPLE)]
    if not np.isfinite(sample).all():  # refused later
        return []
    variances = sample.var(axis=0, dtype=np.float64)
    largest = int(variances.argmax())
    if np.count_nonzero(variances) < 2 or variances[largest] < _OUTWEIGHS * variances.sum():
        return []
    column = repr(names[largest]) if names is not None else f"number {largest + 1}"
    return [
        f"preprocessing none: features are used as they are, and column {column} outweighs the others with "
        f"{100 * variances[largest] / variances.sum():.0f} % of the variance; "
        '"standardize" would give all columns the same weight'
    ]


@dataclass(frozen=True, eq=False)
class Preparation:
    """A fitted preparation of features.

    Rows are shifted by ``-shift``, columns multiplied by ``scale``, ``common`` is subtracted from all rows,
    and the result is projected on ``directions``.
    """

    kind: str
    center: str
    scale: NDArray[np.float64] | None = None
    shift: NDArray[np.float64] | None = None
    common: NDArray[np.float64] | None = None
    directions: NDArray[np.float32] | None = None

    @property
    def checksum(self) -> str:
        """The identity of the preparation: its kind, its centre, and a CRC-32 of each fitted array."""
        arrays = (self.scale, self.shift, self.common, self.directions)
        numbers = ("none" if array is None else f"{crc_of(array):08x}" for array in arrays)
        return "-".join([self.kind, self.center, *numbers])

    def apply(self, features: Features) -> Features:
        """Apply the preparation to features; returns the same object if there is nothing to do."""
        if self.shift is not None and self.scale is not None:
            matrix = _own_dense(features)
            matrix -= self.shift.astype(np.float32)
            matrix *= self.scale.astype(np.float32)
            features = read_features(matrix)
        elif self.kind != "none":
            features = features.unit_rows(self.scale)
        if self.common is not None:
            matrix = _own_dense(features)
            matrix -= self.common.astype(np.float32)
            features = read_features(matrix)
        return features if self.directions is None else projected(features, self.directions)


def _own_dense(features: Features) -> NDArray[np.float32]:
    """The features as a dense array that may be changed."""
    matrix = features.toarray()
    return matrix.copy() if matrix is features.dense else matrix


def find_preparation(
    features: Features, graph: Adjacency, kind: str = "none", center: str = "none"
) -> tuple[Preparation, Features]:
    """Fit a preparation, and return it with the prepared features; parameters as in :func:`prepare`."""
    check_choice("preprocessing", kind, KINDS)
    check_choice("center", center, CENTERS)
    scale = shift = common = None
    if kind == "tfidf":
        scale = _idf(features)
    elif kind in SHIFTED:
        shift, spread = _moments(features)
        if kind == "components":
            spread = np.sqrt(spread * spread.max(initial=0))
        scale = 1 / np.where(spread > 0, spread, 1)
    prepared = Preparation(kind, center, scale, shift).apply(features)
    if center != "none":
        weights = np.ones(len(graph.degrees)) if center == "mean" else graph.degrees
        common = prepared.weighted_sum(weights / weights.sum())
        prepared = Preparation("none", center, common=common).apply(prepared)
    return Preparation(kind, center, scale, shift, common), prepared


def prepare(features: Features, graph: Adjacency, kind: str = "none", center: str = "none") -> Features:
    """Scale and centre features.

    Parameters
    ----------
    features : Features
    graph : Adjacency
        Its degrees weight the stationary state.
    kind : {"none", "l2", "tfidf", "standardize", "components"}
        "l2" scales rows to length 1. "tfidf" multiplies each column by ln((1 + n) / (1 + number of nonzero
        rows)) + 1, then scales rows to length 1. "standardize" scales columns to mean 0 and deviation 1.
        "components" is for principal components: the mean of each column is subtracted, and each is divided
        by the square root of its deviation, so that long ones stay longer, but less so. The longest column
        has deviation 1.
    center : {"none", "mean", "stationary"}
        Row that is subtracted from all rows. "mean" is the mean row. "stationary" is the mean row weighted by
        degree, the limit of smoothing a connected graph by the random walk. It is computed over the whole
        graph: with one centre per component, small components would lose all their information. Sparse
        features become dense.

    Returns
    -------
    Features
        The same object if there is nothing to do.
    """
    return find_preparation(features, graph, kind, center)[1]


def own_features_of(graph: Graph) -> Features | None:
    """The features of a graph, scaled by their values; ``None`` if they cannot speak for themselves.

    That is so if there are none, some are negative, or they are measurements in a few columns, such as age
    and income. They are used unsmoothed, beside an embedding; see :mod:`nafs.clustering.own_features`.
    """
    if graph.features is None:
        return None
    kind, _ = judge(graph.features)
    if kind in SHIFTED or not OwnFeatures.can_use(graph.features):
        return None
    return prepare(graph.features, graph.adjacency, kind)


def prepared_nbytes(features: Features, kind: str, center: str) -> int:
    """Size in bytes of the copy that a preparation makes."""
    if kind in SHIFTED or center != "none":
        n, f = features.shape
        return 4 * n * f
    return 0 if kind == "none" else features.nbytes


def _idf(features: Features) -> NDArray[np.float64]:
    return np.log((1 + features.shape[0]) / (1 + features.count_nonzero())) + 1


def _moments(features: Features) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column."""
    n, f = features.shape
    step = max(1, _BLOCK // f)
    mean, square = np.zeros(f), np.zeros(f)
    for begin in range(0, n, step):
        mean += features.rows(begin, min(n, begin + step)).sum(axis=0)
    mean /= n
    for begin in range(0, n, step):
        square += ((features.rows(begin, min(n, begin + step)) - mean) ** 2).sum(axis=0)
    return mean, np.sqrt(square / n)
