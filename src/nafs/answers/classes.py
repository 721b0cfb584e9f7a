"""Classes of all nodes from the labels of some: logistic regression, with calibrated probabilities.

The strength of the regression is chosen by the log-loss of cross-validation on the labelled nodes. The same
held-out predictions then set a temperature: logits are divided by the number that makes the held-out labels
likeliest, so that about 80 % of the nodes predicted with probability 0.8 are right. A few labels say little,
so one more is counted that could be of any class, and so is every label of a class that was seen only once:
held out, it could not be predicted. The reported accuracy is that of the held-out predictions. It is a
little too high where labels are few, because the same predictions made the choices.

If the features before smoothing are known, each node's own features are heard beside its vector (see
:mod:`nafs.clustering.own_features`), with the weight that makes the held-out labels likeliest. They are left
out unless the gain in log-loss exceeds its standard error.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs._support.blas import one_blas_thread
from nafs._support.budget import show_bytes
from nafs._support.errors import InputError, Parameter
from nafs._support.extras import require
from nafs._support.markup import html_table
from nafs.clustering.own_features import OwnFeatures
from nafs.graph import Features, Graph, Labels, read_labels
from nafs.graph.ids import id_column, positions
from nafs.graph.label_tables import is_frame, keyed_labels, unmatched_ids
from nafs.graph.labels import PERHAPS_MARKS, alike_note
from nafs.graph.spellings import whole_like
from nafs.pipeline.decide import AUTO_DIM
from nafs.readers.joined import with_id_name

STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # C of the logistic regression
FOLDS = 5
_FEW_LABELS = 50  # below this, the accuracy is a rough estimate
_MOST_BYTES = 1 << 30  # of an embedding that keeps all columns by default
_MOST_LABELLED = 1 << 24  # values of the labelled rows of one
_VALUES = 1 << 22  # per block of rows
OWN_WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)  # of own features
_SAMPLE = 20_000  # nodes without a label from which the odds of features are estimated
_TEMPERATURES = np.geomspace(0.05, 20, 121)


@dataclass(frozen=True, eq=False)
class Classification:
    """The class of every node.

    Attributes
    ----------
    ids : Arrow array
    classes : Arrow array
        Names of the classes.
    codes : ndarray of int, shape (n,)
        Predicted class of each node, as a position in ``classes``.
    probabilities : ndarray of shape (n, classes)
    known : ndarray of int, shape (n,)
        The label; -1 if there was none.
    accuracy, deviation : float or None
        Accuracy on held-out labelled nodes, mean and deviation over folds; ``None`` if there were too few
        labels.
    notes : tuple of str
        What the user should know before trusting this.
    id_name : str
        What the user's own table calls the ids.
    """

    ids: Any
    classes: Any
    codes: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    known: NDArray[np.int64]
    accuracy: float | None
    deviation: float | None
    notes: tuple[str, ...]
    id_name: str = "id"

    def __repr__(self) -> str:
        accuracy = "unknown" if self.accuracy is None else f"{self.accuracy:.3f}"
        return f"Classification({len(self.ids)} nodes, {len(self.classes)} classes, accuracy {accuracy})"

    def _repr_html_(self) -> str:
        table = self.to_arrow()
        rows = [
            [str(node), str(predicted), f"{probability:.3f}", str(label or "")]
            for node, predicted, probability, label in (
                row.values() for row in table.slice(0, 10).to_pylist()
            )
        ]
        caption = "\n".join([repr(self), *self.notes])
        return html_table(rows, caption=caption, header=table.column_names)

    def explain(self) -> str:
        """How far the predictions can be trusted, one line each."""
        return "\n".join(self.notes)

    def to_arrow(self) -> Any:
        """An Arrow table: ids, predicted class, its probability, and the label if there was one."""
        import pyarrow as pa

        labels = pa.array(np.maximum(self.known, 0), mask=self.known < 0)
        columns = {
            "id": self.ids,
            "predicted": self.classes.take(pa.array(self.codes)),
            "probability": self.probabilities[np.arange(len(self.codes)), self.codes],
            "label": self.classes.take(labels),
        }
        return with_id_name(pa.table(columns), self.id_name)

    def to_pandas(self) -> Any:
        """The same as a pandas data frame."""
        require("pandas", "to_pandas()")
        return self.to_arrow().to_pandas()


def width_for_classes(graph: Graph, memory_limit: int | None = None) -> tuple[str, tuple[str, ...]]:
    """The width of an embedding for predicting classes, and a note if it is not the full width.

    The leading directions of wide features are those that most nodes share. Some of what distinguishes
    classes is in the other directions, so all columns are kept unless they take too much memory or time.

    Parameters
    ----------
    graph : Graph
        With the labels that are known.
    memory_limit : int, optional
        Bytes; the embedding may take a quarter of it.

    Returns
    -------
    {"full", "auto"}
    tuple of str
    """
    if graph.features is None:
        return "auto", ()
    width = graph.features.shape[1]
    nbytes = 4 * graph.n_nodes * width
    most = _MOST_BYTES if memory_limit is None else min(_MOST_BYTES, memory_limit // 4)
    labelled = 0 if graph.labels is None else int(graph.labels.known.sum())
    if width <= AUTO_DIM or (nbytes <= most and labelled * width <= _MOST_LABELLED):
        return "full", ()
    reason = f"all columns would take {show_bytes(nbytes)}"
    if nbytes <= most:
        reason = f"fitting {labelled:,} labelled rows of all columns would take long"
    return "auto", (f"{reason}, so {AUTO_DIM} leading directions of the {width:,} features are used",)


@one_blas_thread()
def classify(
    matrix: NDArray[Any], ids: Any, labels: Any, *, features: Features | None = None, seed: int = 0
) -> Classification:
    """Predict the class of every node from the labels of some.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)
        An embedding.
    ids : Arrow array of n ids
    labels : Labels, mapping of id to class, Series, data frame, or sequence of n classes
        A sequence has None where the class is unknown. A Series is keyed by its index; a data frame has
        the two columns id and class.
    features : Features, optional
        The features before smoothing, n rows. If none is negative, they may count beside the vectors.
    seed : int
        Of the folds.

    Returns
    -------
    Classification

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from nafs.answers import classify
    >>> corners = np.repeat(np.eye(2), 20, axis=0) + 0.1 * np.random.default_rng(0).random((40, 2))
    >>> few = {0: "red", 1: "red", 2: "red", 20: "blue", 21: "blue", 22: "blue"}
    >>> answer = classify(corners, pa.array(range(40)), few)
    >>> answer.to_pandas().predicted.value_counts().to_dict()
    {'red': 20, 'blue': 20}
    """
    import pyarrow as pa
    from sklearn.linear_model import LogisticRegression

    known = _labels(labels, ids, len(matrix))
    nodes = np.flatnonzero(known.codes >= 0)
    codes = known.codes[nodes]
    present, counts = np.unique(codes, return_counts=True)
    names = known.classes
    _check(known, len(present))
    scales = _scales(matrix, nodes)
    vectors = _Vectors(matrix, scales)
    own = None if features is None else _Own.of(features, nodes, len(matrix), seed)
    notes = [f"{len(nodes):,} of {len(matrix):,} nodes have a label, of {len(present)} classes"]
    doubtful = [names[code] for code in present if str(names[code]).lower() in PERHAPS_MARKS]
    if doubtful:
        which = " and ".join(map(repr, doubtful))
        notes.append(f"{which} counts as a class; where it means that the label is missing, leave it empty")
    if known.marks:
        notes.append(f"labels written {' or '.join(map(repr, known.marks))} are missing")
    notes += alike_note([names[code] for code in present])
    single = present[counts == 1]
    if len(single):
        shown = ", ".join(str(names[code]) for code in single[:5])
        notes.append(f"classes with a single label, whose accuracy cannot be estimated: {shown}")
    fit = _validate(vectors, nodes, codes, own, seed)
    accuracy, deviation = fit.accuracy, fit.deviation
    if accuracy is None:
        notes.append(
            "too few labels to estimate the accuracy: at least two of each of two classes are needed"
        )
    else:
        counted = counts[counts > 1]  # single labels cannot be held out
        chance, n_labels = counted.max() / counted.sum(), int(counted.sum())
        notes.append(
            f"accuracy on held-out labels {accuracy:.3f} ± {deviation:.3f} "
            f"(always guessing the largest class: {chance:.3f})"
        )
        if n_labels < _FEW_LABELS:
            margin = 1 / np.sqrt(n_labels)
            notes.append(
                f"the accuracy was estimated from {n_labels} labels only and may be off by {margin:.2f}"
            )
        if accuracy < chance + max(0.02, 2 * np.sqrt(chance * (1 - chance) / n_labels)):
            notes.append(
                "the accuracy is not clearly better than guessing, as far as the labels can tell: do not "
                "trust the predictions"
            )
    model = LogisticRegression(C=fit.strength, max_iter=1000).fit(vectors.rows(nodes), codes)
    heard, odds = None, np.empty(0, np.float32)
    if own is not None and fit.weight:
        heard = OwnFeatures(own.features, fit.weight)
        scores = vectors.scores(model, own.nodes, fit.temperature)
        odds = own.odds(scores, nodes, np.searchsorted(present, codes), fit.weight)
        notes.append(f"each node's own features count beside its vector, with weight {fit.weight:g}")
    probabilities = np.zeros((len(matrix), len(names)))
    for rows in _blocks(matrix):
        scores = vectors.scores(model, np.arange(rows.start, rows.stop), fit.temperature)
        if heard is not None:
            scores += heard.evidence(odds, rows.start, rows.stop)
        probabilities[rows][:, present] = _softmax(scores / fit.final_temperature)
    return Classification(
        ids,
        pa.array(names),
        probabilities.argmax(axis=1),
        probabilities,
        known.codes.astype(np.int64),
        accuracy,
        deviation,
        tuple(notes),
    )


def _scales(matrix: NDArray[Any], labelled: NDArray[np.int64]) -> NDArray[np.float32]:
    """What each row is multiplied by, as a column.

    All rows are divided by the mean length, so that strengths are comparable. Nodes with few or no features
    of their own have short rows, for which a regression would predict the most frequent class whatever
    their direction: rows shorter than half of the labelled ones are stretched to that length.
    """
    lengths = np.concatenate([np.linalg.norm(matrix[rows], axis=1) for rows in _blocks(matrix)])
    usual = float(np.median(lengths[labelled]))
    stretch = np.divide(usual, lengths, out=np.ones_like(lengths), where=(lengths > 0) & (lengths < usual))
    return np.asarray((stretch / (float(lengths.mean()) or 1.0))[:, None], np.float32)


def _blocks(matrix: NDArray[Any], n_rows: int | None = None) -> list[slice]:
    """Slices of all rows, or of a number of them, so that no copy of the whole matrix is made."""
    n_rows = len(matrix) if n_rows is None else n_rows
    step = max(1, _VALUES // max(1, matrix.shape[1]))
    return [slice(top, min(top + step, n_rows)) for top in range(0, n_rows, step)]


def _labels(labels: Any, ids: Any, n: int) -> Labels:
    """Labels in the order of the nodes."""
    if is_frame(labels):
        keys, values, _ = keyed_labels(labels, ids)
        labels = dict(zip(keys.to_pylist(), values.to_pylist(), strict=True))
    if hasattr(labels, "index") and hasattr(labels, "items"):  # a pandas Series is keyed by its index
        labels = {key: None if value != value else value for key, value in labels.items()}  # noqa: PLR0124
    if isinstance(labels, Mapping):
        labelled = whole_like(id_column([str(key) for key in labels]), ids)
        known_ids = whole_like(ids, labelled)
        places = positions(known_ids, labelled)
        if (places < 0).any():
            raise InputError(Parameter("labels"), f" name unknown ids: {unmatched_ids(labelled, known_ids)}")
        aligned: list[Any] = [None] * n
        for place, value in zip(places, labels.values(), strict=True):
            aligned[int(place)] = value
        labels = aligned
    read = labels if isinstance(labels, Labels) else read_labels(labels)
    if len(read.codes) != n:
        raise InputError(Parameter("labels"), f" have {len(read.codes)} entries for {n} nodes")
    return read


def _check(labels: Labels, n_classes: int) -> None:
    if n_classes == 0:
        raise InputError(
            Parameter("labels"), " are all missing: classification needs the labels of some nodes"
        )
    if n_classes < 2:
        marks = f"; those written {' or '.join(map(repr, labels.marks))} are missing" if labels.marks else ""
        why = f": {labels.unmatched}" if labels.unmatched else marks
        raise InputError(Parameter("labels"), " have one class only; classification needs at least two", why)


class _Vectors(NamedTuple):
    """An embedding, and what its rows are multiplied by."""

    matrix: NDArray[Any]
    scales: NDArray[np.float32]

    def rows(self, nodes: Any) -> NDArray[Any]:
        """The scaled vectors of some nodes."""
        return np.asarray(self.matrix[nodes] * self.scales[nodes])

    def scores(self, model: Any, nodes: NDArray[np.int64], temperature: float) -> NDArray[np.float64]:
        """The calibrated logits of some nodes."""
        parts = [_logits(model, self.rows(nodes[rows])) for rows in _blocks(self.matrix, len(nodes))]
        return np.concatenate(parts) / temperature


class _Own(NamedTuple):
    """The features before smoothing, and the nodes from which the odds of features are estimated."""

    features: Features
    nodes: NDArray[np.int64]
    sampled: Features

    @classmethod
    def of(cls, features: Features, labelled: NDArray[np.int64], n_nodes: int, seed: int) -> _Own | None:
        """All nodes, or the labelled ones and a sample of the others; ``None`` if some value is negative."""
        if features.shape[0] != n_nodes:
            raise InputError(f"features have {features.shape[0]:,} rows for {n_nodes:,} nodes")
        if not OwnFeatures.can_use(features):
            return None
        nodes = np.arange(n_nodes)
        if len(nodes) <= _SAMPLE:
            return cls(features, nodes, features)
        others = np.setdiff1d(nodes, labelled)
        more = min(len(others), _SAMPLE)
        some = np.random.default_rng(seed).choice(others, more, replace=False)
        nodes = np.sort(np.concatenate([labelled, some]))
        return cls(features, nodes, features.take(nodes))

    def odds(
        self, scores: NDArray[np.float64], labelled: NDArray[np.int64], places: NDArray[Any], weight: float
    ) -> NDArray[np.float32]:
        """The odds of each feature for each class, from the scores of the sampled nodes and known labels."""
        known = np.searchsorted(self.nodes, labelled), places
        return OwnFeatures(self.sampled, weight).refine(scores.T, known)[1]


class _Fit(NamedTuple):
    """What held-out labels decide: strength, temperature before and after own features, and their weight."""

    strength: float = 1.0
    temperature: float = 1.0
    weight: float = 0.0
    final_temperature: float = 1.0
    accuracy: float | None = None
    deviation: float | None = None


def _validate(
    vectors: _Vectors, nodes: NDArray[np.int64], codes: NDArray[Any], own: _Own | None, seed: int
) -> _Fit:
    """Choose by held-out predictions of the labelled nodes."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    kept = np.isin(codes, [code for code in np.unique(codes) if (codes == code).sum() >= 2])
    unknowable = (1 + int((~kept).sum())) / (1 + len(codes))
    nodes, codes = nodes[kept], codes[kept]
    classes, counts = np.unique(codes, return_counts=True)
    if len(classes) < 2:
        return _Fit()
    points, places = vectors.rows(nodes), np.searchsorted(classes, codes)
    folds = StratifiedKFold(min(FOLDS, int(counts.min())), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes")  # few labels are expected
        parts = list(folds.split(points, codes))
    best: tuple[float, float, NDArray[Any], list[Any]] | None = None
    for strength in STRENGTHS:
        held_out = np.empty((len(codes), len(classes)))
        models = []
        for train, test in parts:
            model = LogisticRegression(C=strength, max_iter=1000).fit(points[train], codes[train])
            held_out[test] = _logits(model, points[test])
            models.append(model)
        loss = _log_loss(held_out, places)
        if best is None or loss < best[0]:
            best = loss, strength, held_out, models
    assert best is not None
    _, strength, held_out, models = best

    def calibrate(logits: NDArray[np.float64]) -> tuple[float, float]:
        losses = [_log_loss(logits / value, places, unknowable) for value in _TEMPERATURES]
        return min(losses), float(_TEMPERATURES[int(np.argmin(losses))])

    def surprises(logits: NDArray[np.float64]) -> NDArray[np.float64]:
        return -np.log(np.maximum(_softmax(logits)[np.arange(len(places)), places], 1e-12))

    fit = _Fit(strength, calibrate(held_out)[1])
    if own is not None:
        calibrated = held_out / fit.temperature
        weighed = {weight: calibrated.copy() for weight in OWN_WEIGHTS}
        for (train, test), model in zip(parts, models, strict=True):
            scores = vectors.scores(model, own.nodes, fit.temperature)
            tested = OwnFeatures(own.features.take(nodes[test]), 1.0)
            for weight in OWN_WEIGHTS:
                odds = own.odds(scores, nodes[train], places[train], weight)
                weighed[weight][test] += weight * tested.evidence(odds)
        _, temperature, weight = min((*calibrate(logits), weight) for weight, logits in weighed.items())
        gains = surprises(calibrated) - surprises(weighed[weight] / temperature)
        if gains.mean() > gains.std() / np.sqrt(len(gains)):
            held_out = weighed[weight]
            fit = fit._replace(weight=weight, final_temperature=temperature)
    right = held_out.argmax(axis=1) == places
    deviation = float(np.std([right[test].mean() for _, test in parts]))
    return fit._replace(accuracy=float(right.mean()), deviation=deviation)


def _logits(model: Any, points: NDArray[Any]) -> NDArray[np.float64]:
    """One column per class, also for two classes."""
    values = np.asarray(model.decision_function(points), np.float64)
    return np.column_stack([-values / 2, values / 2]) if values.ndim == 1 else values


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _log_loss(logits: NDArray[np.float64], places: NDArray[Any], unknowable: float = 0.0) -> float:
    """The log-loss of labels, of which a share could be of any class."""
    losses = -np.log(np.maximum(_softmax(logits), 1e-12))
    own = losses[np.arange(len(places)), places].mean()
    return float((1 - unknowable) * own + unknowable * losses.mean())
