"""Classes of all nodes from the labels of some: logistic regression, with calibrated probabilities.

:mod:`nafs.answers.held_out` describes how the regression is chosen and calibrated, and what nodes without a
label and each node's own features add.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.blas import one_blas_thread
from nafs._support.budget import show_bytes
from nafs._support.errors import InputError, InputTypeError, Parameter
from nafs._support.extras import require
from nafs._support.markup import html_table
from nafs.answers.held_out import Fit, validate
from nafs.answers.prediction import Prediction
from nafs.answers.sources import Own, Sources, Vectors, blocks_of, cloud_of, learning_nodes
from nafs.graph import Graph, Labels, read_labels
from nafs.graph.ids import id_column, positions
from nafs.graph.label_tables import is_frame, keyed_labels, unmatched_ids
from nafs.graph.labels import PERHAPS_MARKS, alike_note, misspelled_note
from nafs.graph.spellings import whole_like
from nafs.pipeline.decide import AUTO_DIM
from nafs.readers.joined import with_id_name
from nafs.selection.preprocessing import own_features_of

_UNEVEN = 3  # times as many labels of one class as of another: accuracy hides what happens to small classes
_MOST_BYTES = 1 << 30  # of an embedding that keeps all columns by default
_MOST_LABELLED = 1 << 24  # values of the labelled rows of one


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

    def to_arrow(self, *, all_probabilities: bool = False) -> Any:
        """An Arrow table: ids, predicted class, its probability, and the label if there was one.

        With ``all_probabilities``, a column for each class has the probability of that class.
        """
        import pyarrow as pa

        labels = pa.array(np.maximum(self.known, 0), mask=self.known < 0)
        columns = {
            "id": self.ids,
            "predicted": self.classes.take(pa.array(self.codes)),
            "probability": self.probabilities[np.arange(len(self.codes)), self.codes],
            "label": self.classes.take(labels),
        }
        if all_probabilities:
            for name, column in zip(self.classes.to_pylist(), self.probabilities.T, strict=True):
                columns[f"probability of {name}"] = column
        return with_id_name(pa.table(columns), self.id_name)

    def to_pandas(self, *, all_probabilities: bool = False) -> Any:
        """The same as a pandas data frame."""
        require("pandas", "to_pandas()")
        return self.to_arrow(all_probabilities=all_probabilities).to_pandas()


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
    matrix: NDArray[Any],
    ids: Any,
    labels: Any,
    *,
    graph: Graph | None = None,
    unlabelled: bool = True,
    seed: int = 0,
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
    graph : Graph, optional
        With the same nodes. Its features, before smoothing, count beside the vectors where that makes
        held-out labels likelier.
    unlabelled : bool
        Whether nodes without a label count too, where that makes held-out labels likelier.
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

    known = _labels(labels, ids, len(matrix))
    nodes = np.flatnonzero(known.codes >= 0)
    codes = known.codes[nodes]
    present, places = np.unique(codes, return_inverse=True)
    _check(known, len(present))
    learned = learning_nodes(len(matrix), nodes, seed)
    sources = Sources(
        Vectors(matrix, _scales(matrix, nodes)),
        cloud_of(matrix, learned, nodes, len(present)) if unlabelled else None,
        _own_features(graph, learned, len(matrix)),
    )
    fit = validate(sources, nodes, codes, seed)
    notes = [*_about_labels(known, len(matrix)), *_about_accuracy(known, fit)]
    if fit.mixture_weight and sources.cloud is not None:
        number, weight = len(sources.cloud.nodes), f"{fit.mixture_weight:g}"
        notes.append(
            f"nodes without a label count too: groups of similar nodes were found among {number:,} "
            f"nodes, and count with weight {weight} beside the regression on the labels"
        )
    if fit.own_weight:
        notes.append(f"each node's own features count beside its vector, with weight {fit.own_weight:g}")
    if sources.own is None and graph is not None and graph.features is not None:
        values, why = graph.features.values, "a few columns outweigh the others"
        if float(values.min(initial=0)) < 0:
            why = "some are negative"
        elif float(values.max(initial=0)) == 0:
            why = "all are 0"
        notes.append(f"each node's own features do not count beside its vector: {why}")
    probabilities = np.zeros((len(matrix), len(known.classes)))
    for rows, block in Prediction(sources, nodes, places, fit).blocks():
        probabilities[rows][:, present] = block
    predicted = probabilities.argmax(axis=1)
    notes += _about_absent(known, np.delete(predicted, nodes))
    return Classification(
        ids,
        pa.array(known.classes),
        predicted,
        probabilities,
        known.codes.astype(np.int64),
        fit.accuracy,
        fit.deviation,
        tuple(notes),
    )


def _about_labels(labels: Labels, n_nodes: int) -> list[str]:
    """How many labels there are, and which of them may not mean what they say."""
    present, counts = np.unique(labels.codes[labels.codes >= 0], return_counts=True)
    names = [labels.classes[code] for code in present]
    notes = [f"{int(counts.sum()):,} of {n_nodes:,} nodes have a label, of {len(present)} classes"]
    doubtful = [name for name in names if str(name).lower() in PERHAPS_MARKS]
    doubtful += [name for name in names if name == -1 and len(names) > 2]
    if doubtful:
        which = " and ".join(map(repr, doubtful))
        verb, pronoun = (
            ("counts as a class", "it means") if len(doubtful) == 1 else ("count as classes", "they mean")
        )
        notes.append(f"{which} {verb}; where {pronoun} that the label is missing, leave it empty")
    if labels.marks:
        notes.append(f"labels written {' or '.join(map(repr, labels.marks))} are missing")
    notes += alike_note(names)
    notes += misspelled_note({str(name): int(count) for name, count in zip(names, counts, strict=True)})
    single = [str(name) for name, count in zip(names, counts, strict=True) if count == 1]
    if single:
        shown = ", ".join(single[:5]) + (f" and {len(single) - 5} more" if len(single) > 5 else "")
        notes.append(
            f"classes with a single label, which counts as wrong because it cannot be held out: {shown}"
        )
    return notes


def _about_absent(labels: Labels, predicted: NDArray[np.int64]) -> list[str]:
    """Classes that no node without a label was given."""
    absent = np.setdiff1d(labels.codes[labels.known], predicted)
    if not len(absent) or not len(predicted):
        return []
    shown = ", ".join(repr(labels.classes[code]) for code in absent[:5])
    more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
    return [f"no node without a label is predicted to be of class {shown}{more}"]


def _about_accuracy(labels: Labels, fit: Fit) -> list[str]:
    """How accurate held-out predictions were, and how far that can be trusted."""
    if fit.accuracy is None:
        return ["too few labels to estimate the accuracy: at least two of each of two classes are needed"]
    counts = {code: int((labels.codes == code).sum()) for code in fit.by_class}
    n_labels = int(labels.known.sum())
    chance = max(counts.values()) / n_labels
    low, high = interval(fit.accuracy, n_labels)
    notes = [
        f"accuracy on held-out labels {fit.accuracy:.3f} (95 % interval {low:.2f} to {high:.2f}, from "
        f"{n_labels:,} labels; always guessing the largest class: {chance:.3f})"
    ]
    noise = 2 * np.sqrt(chance * (1 - chance) / n_labels)
    if chance + noise > 1:
        notes.append(f"{n_labels} labels are too few to tell whether this is better than guessing")
    elif fit.accuracy < chance + max(noise, min(0.02, (1 - chance) / 2)):
        notes.append(
            "the accuracy is not clearly better than guessing, as far as the labels can tell: "
            "do not trust the predicted classes"
        )
    if max(counts.values()) >= _UNEVEN * min(counts.values()):
        worst = min(fit.by_class, key=lambda code: fit.by_class[code])
        n_several = sum(counts.values())
        several = " with several labels" if n_several < n_labels else ""
        name, number, ranking = labels.classes[worst], counts[worst], fit.ranking[worst]
        notes.append(
            f"mean accuracy of the classes{several}, whatever their size: "
            f"{np.mean(list(fit.by_class.values())):.3f}; "
            f"lowest {fit.by_class[worst]:.3f}, of {number} labels {name!r}"
        )
        others = n_several - number
        clear = ranking > 0.5 + 2 * np.sqrt(1 / (12 * number) + 1 / (12 * others))
        verdict = "so it can rank nodes" if clear else "not clearly better than guessing"
        notes.append(f"probability of {name!r}: AUC on held-out labels {ranking:.2f}, {verdict}")
    return notes


def interval(share: float, number: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share that was estimated from a number of cases.

    Examples
    --------
    >>> from nafs.answers.classes import interval
    >>> [round(bound, 2) for bound in interval(1.0, 30)]
    [0.89, 1.0]
    """
    squared = 1.96**2 / number
    center = (share + squared / 2) / (1 + squared)
    half = np.sqrt(squared * share * (1 - share) + squared**2 / 4) / (1 + squared)
    return float(max(0.0, center - half)), float(min(1.0, center + half))


def _own_features(graph: Graph | None, learned: NDArray[np.int64], n_nodes: int) -> Own | None:
    """The features of the graph, if they can be used, and those of the nodes to learn from."""
    if graph is None:
        return None
    if graph.n_nodes != n_nodes:
        raise InputError(
            Parameter("graph"), f" has {graph.n_nodes:,} nodes, and there are {n_nodes:,} vectors"
        )
    features = own_features_of(graph)
    return None if features is None else Own.of(features, learned)


def _scales(matrix: NDArray[Any], labelled: NDArray[np.int64]) -> NDArray[np.float32]:
    """What each row is multiplied by, as a column.

    All rows are divided by the mean length, so that strengths are comparable. Nodes with few or no features
    of their own have short rows, for which a regression would predict the most frequent class whatever
    their direction: rows shorter than half of the labelled ones are stretched to that length.
    """
    lengths = np.concatenate([np.linalg.norm(matrix[rows], axis=1) for rows in blocks_of(matrix)])
    if not np.isfinite(lengths).all():
        row = int(np.flatnonzero(~np.isfinite(lengths))[0])
        raise InputError(
            f"the vector of row {row} has values that are not numbers, or too large ones; "
            "classes need finite vectors"
        )
    usual = float(np.median(lengths[labelled]))
    stretch = np.divide(usual, lengths, out=np.ones_like(lengths), where=(lengths > 0) & (lengths < usual))
    return np.asarray((stretch / (float(lengths.mean()) or 1.0))[:, None], np.float32)


def _labels(labels: Any, ids: Any, n: int) -> Labels:
    """Labels in the order of the nodes."""
    if isinstance(labels, Graph):
        raise InputError(Parameter("labels"), " are a graph: pass it as ", Parameter("graph"))
    if is_frame(labels):
        keys, values, _ = keyed_labels(labels, ids)
        labels = dict(zip(keys.to_pylist(), values.to_pylist(), strict=True))
    if isinstance(labels, (str, Path)):
        raise InputTypeError(
            Parameter("labels"),
            f" must be a column, a mapping or a data frame; got a path, {str(labels)!r}: read it first, such "
            "as with pandas.read_csv, or read the graph with it (read_graph(..., labels=path))",
        )
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
