"""Columns of a node table that repeat the labels: as features they would give the answer away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.graph.ids import positions
from nafs.graph.node_columns import listed
from nafs.graph.spellings import whole_like
from nafs.readers.join import NodeTable

_EQUAL = 0.95  # share of the labelled rows in which a column has the same value
_FEWEST = 5  # labelled rows that have to be compared
_MOST_LABELS = 10_000  # compared
_MOST_COLUMNS = 200  # compared; in wider tables, names alone count


class Columns(NamedTuple):
    """Columns of a node table that may be features, and how to load their values."""

    names: Sequence[str]
    load: Callable[[str], Any]
    first_rows: Callable[[Sequence[str]], Any]


def without_repeated_labels(
    nodes: NodeTable | None,
    labels: NodeTable,
    columns: Columns,
    read_without: Callable[[Sequence[str]], NodeTable | None],
) -> NodeTable | None:
    """The node table without columns that repeat separate labels; they are noted.

    Parameters
    ----------
    nodes : NodeTable
    labels : NodeTable
        Ids and their classes.
    columns : Columns
        Of the node table.
    read_without : callable
        Reads the node table again without some columns.
    """
    if nodes is None:
        return None
    own = {nodes.key, nodes.label}
    repeated = _repeated(
        columns._replace(names=[name for name in columns.names if name not in own]), nodes, labels
    )
    if not repeated:
        return nodes
    nodes = read_without(repeated)
    assert nodes is not None
    verbs = ("repeats", "is") if len(repeated) == 1 else ("repeat", "are")
    nodes.notes.append(
        f"{nodes.where}: {listed(repeated)} {verbs[0]} the labels and {verbs[1]} not used: a feature that "
        "holds the label would give the answer away"
    )
    return nodes


def _repeated(columns: Columns, nodes: NodeTable, labels: NodeTable) -> list[str]:
    """Columns with the name of the labels' column, or with the same values."""
    called = [name for name in columns.names if labels.label and name.casefold() == labels.label.casefold()]
    rows, classes = _labelled_rows(nodes, labels)
    others = [name for name in columns.names if name not in called]
    if len(rows) < _FEWEST or len(set(classes)) < 2 or len(others) > _MOST_COLUMNS:
        return called
    sample = columns.first_rows(others)
    early = rows < sample.num_rows
    likely = [name for name in others if _are_equal(sample[name], rows[early], classes[early], fewest=0)]
    return called + [name for name in likely if _are_equal(columns.load(name), rows, classes)]


def _labelled_rows(nodes: NodeTable, labels: NodeTable) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Rows of the node table that have a label, and its class as text."""
    chosen = np.arange(0, len(labels.ids), max(1, len(labels.ids) // _MOST_LABELS))
    ids, classes = labels.ids.take(chosen), _texts(labels.labels.take(chosen))
    places = positions(whole_like(nodes.ids, ids), whole_like(ids, nodes.ids))
    known = (places >= 0) & (classes != "")
    return places[known], classes[known]


def _are_equal(column: Any, rows: NDArray[np.int64], classes: NDArray[Any], *, fewest: int = _FEWEST) -> bool:
    values = _texts(column.take(rows))
    present = values != ""
    count = int(present.sum())
    return count >= fewest and int((values == classes)[present].sum()) >= _EQUAL * count


def _texts(column: Any) -> NDArray[Any]:
    """Values as text without blanks around them, empty where missing."""
    return np.array(["" if value is None else str(value).strip() for value in column.to_pylist()], object)
