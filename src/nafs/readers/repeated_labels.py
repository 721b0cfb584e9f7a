"""Columns of a node table that would give the answer away as features.

Some repeat the labels. Others are filled in where the label is known and empty elsewhere, such as the person
who closed a case: held-out labels would look easy to predict, and other nodes have nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lgamma, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs.graph.ids import as_arrow, positions
from nafs.graph.node_columns import listed
from nafs.graph.spellings import whole_like
from nafs.readers.join import NodeTable

_SAME = 0.98  # agreement beyond chance (Cohen's kappa) from which on a column repeats the labels
_SAME_NAME = 0.5  # if it also has the name of the labels
_FEWEST = 5  # labelled rows that have to be compared
_MOST = 0.5  # of the labelled rows, which have to have a value
_CHANCE = 1e-3  # probability from which on equal values may be chance
_EMPTY = 0.1  # filled share of the nodes without a label, relative to those with one, that counts as empty
_MOST_LABELS = 10_000  # compared
_MOST_COLUMNS = 200  # compared; in wider tables, names alone count


class Columns(NamedTuple):
    """Columns of a node table that may be features, and how to load their values.

    ``with_gaps`` returns those of some columns that have missing values.
    """

    names: Sequence[str]
    load: Callable[[str], Any]
    first_rows: Callable[[Sequence[str]], Any]
    with_gaps: Callable[[Sequence[str]], list[str]]


def without_repeated_labels(
    nodes: NodeTable | None,
    labels: NodeTable,
    columns: Columns,
    read_without: Callable[[Sequence[str]], NodeTable | None],
) -> NodeTable | None:
    """The node table without columns that repeat the labels, or come with them; they are noted.

    Parameters
    ----------
    nodes : NodeTable
    labels : NodeTable
        Ids and their classes; may be the node table itself.
    columns : Columns
        Of the node table.
    read_without : callable
        Reads the node table again without some columns.
    """
    if nodes is None:
        return None
    features = [name for name in columns.names if name not in (nodes.key, nodes.label)]
    columns = columns._replace(names=features)
    rows, classes = _labelled_rows(nodes, labels)
    repeated = _repeated(columns, rows, classes, labels.label)
    others = columns._replace(names=[name for name in features if name not in repeated])
    every, _ = _labelled_rows(nodes, labels, most=None)
    fills, only_these = _filled_with_labels(others, every, len(nodes.ids))
    recoded = [name for name in _recoded(others, rows, classes) if name not in fills]
    left_out = [*repeated, *([] if only_these else fills)]
    if left_out:
        nodes = read_without(left_out)
        assert nodes is not None
    if repeated:
        verbs = ("repeats", "is") if len(repeated) == 1 else ("repeat", "are")
        nodes.notes.append(
            f"{nodes.where}: {listed(repeated)} {verbs[0]} the labels and {verbs[1]} not used: a feature "
            f"that holds the label would give the answer away; {_used_after_all(repeated)}"
        )
    for name, (with_label, without) in fills.items():
        values = f"a value for {with_label:.0%} of the nodes with a label and for {without:.0%} of the others"
        nodes.notes.append(
            f"{nodes.where}: {name!r} has {values}; if it comes with the label, --ignore {name} "
            f"(ignore=[{name!r}] in Python) leaves it out: held-out labels would look easier to predict than "
            "other nodes are"
            if only_these
            else f"{nodes.where}: {name!r} is not used: it has {values}, so it seems to come with the label, "
            f"and would make held-out labels look easier to predict than other nodes are; "
            f"{_used_after_all([name])}"
        )
    if recoded:
        verb, them = ("has", "it") if len(recoded) == 1 else ("have", "them")
        nodes.notes.append(
            f"{nodes.where}: {listed(recoded)} {verb} one value for each class of the labels, which gives "
            f"the answer away if made from the labels; --ignore {','.join(recoded)} (ignore={recoded} in "
            f"Python) leaves {them} out"
        )
    return nodes


def _used_after_all(names: Sequence[str]) -> str:
    """How to use columns that were left out."""
    them = "it" if len(names) == 1 else "them"
    return f"--category {','.join(names)} (category={list(names)} in Python) uses {them} nevertheless"


def _filled_with_labels(
    columns: Columns, rows: NDArray[np.int64], n_rows: int
) -> tuple[dict[str, tuple[float, float]], bool]:
    """Columns that are mostly empty where the label is unknown, and filled where it is known.

    Returns the filled shares of rows with and without a label, whose difference must not be due to chance;
    and whether no other column has values for both. The labelled nodes may then be another kind of nodes,
    such as users beside items, and these columns what is known of them.
    """
    from scipy.stats import hypergeom

    if not _FEWEST <= len(rows) < n_rows or not 0 < len(columns.names) <= _MOST_COLUMNS:
        return {}, False
    labelled = np.zeros(n_rows, bool)
    labelled[rows] = True
    gaps = columns.with_gaps(columns.names)
    shared, filled_with_labels = len(gaps) < len(columns.names), {}
    for name in gaps:
        filled = _texts(as_arrow(columns.load(name), "")) != ""
        with_label, without = float(filled[labelled].mean()), float(filled[~labelled].mean())
        by_chance = hypergeom.sf(filled[labelled].sum() - 1, n_rows, filled.sum(), labelled.sum())
        if with_label < _MOST or without > _EMPTY * with_label or len(columns.names) * by_chance >= _CHANCE:
            shared = shared or (with_label > 0 and without > _EMPTY * with_label)
        else:
            filled_with_labels[name] = with_label, without
    return filled_with_labels, not shared


def _repeated(
    columns: Columns, rows: NDArray[np.int64], classes: NDArray[Any], title: str | None
) -> list[str]:
    """Columns with the same values as the labels; a column with their ``title`` may differ more."""
    if len(rows) < _FEWEST or len(set(classes)) < 2:
        return []
    called = [name for name in columns.names if title and name.casefold() == title.casefold()]
    others = [name for name in columns.names if name not in called]
    likely = []
    if 0 < len(others) <= _MOST_COLUMNS:
        sample = columns.first_rows(others)
        early = rows < sample.num_rows
        likely = [name for name in others if _agree(sample[name], rows[early], classes[early]) > _SAME]
    return [
        *(name for name in called if _repeats(columns.load(name), rows, classes, _SAME_NAME)),
        *(name for name in likely if _repeats(columns.load(name), rows, classes, _SAME, len(others))),
    ]


def _recoded(columns: Columns, rows: NDArray[np.int64], classes: NDArray[Any]) -> list[str]:
    """Columns with one value for each class, hardly by chance: the labels under other names."""
    names, counts = np.unique(classes.astype(str), return_counts=True)
    if len(rows) < _FEWEST or len(names) < 2 or not 0 < len(columns.names) <= _MOST_COLUMNS:
        return []
    # The number of ways to give the labelled nodes classes of these sizes, in logarithms, up to names.
    ways = lgamma(len(rows) + 1) - sum(lgamma(count + 1) for count in counts) - lgamma(len(names) + 1)
    if ways < log(len(columns.names) / _CHANCE):
        return []
    sample = columns.first_rows(columns.names)
    early = rows < sample.num_rows
    likely = [name for name in columns.names if _one_to_one(sample[name], rows[early], classes[early], None)]
    return [name for name in likely if _one_to_one(columns.load(name), rows, classes, len(names))]


def _one_to_one(column: Any, rows: NDArray[np.int64], classes: NDArray[Any], count: int | None) -> bool:
    """Whether each value stands for one class and each class for one value, for all rows."""
    values = _texts(as_arrow(column, "").take(rows))
    pairs = set(zip(values.tolist(), classes.tolist(), strict=True))
    if any(value == "" for value, _ in pairs) or not pairs:
        return False
    firsts, seconds = ({pair[side] for pair in pairs} for side in (0, 1))
    return len(pairs) == len(firsts) == len(seconds) and count in (None, len(pairs))


def _labelled_rows(
    nodes: NodeTable, labels: NodeTable, most: int | None = _MOST_LABELS
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Rows of the node table that have a label, and its class as text; about ``most``, spread evenly."""
    step = 1 if most is None else max(1, len(labels.ids) // most)
    chosen = np.arange(0, len(labels.ids), step)
    ids, classes = labels.ids.take(chosen), _texts(labels.labels.take(chosen))
    places = positions(whole_like(nodes.ids, ids), whole_like(ids, nodes.ids))
    known = (places >= 0) & (classes != "")
    return places[known], classes[known]


def _agree(column: Any, rows: NDArray[np.int64], classes: NDArray[Any]) -> float:
    """Agreement of some rows of a column with the classes beyond chance, from at most 0 to 1."""
    equal, by_chance, _ = _compared(column, rows, classes)
    return 1.0 if equal == 1.0 else (equal - by_chance) / (1 - by_chance)


def _repeats(
    column: Any, rows: NDArray[np.int64], classes: NDArray[Any], enough: float, n_columns: int = 1
) -> bool:
    """Whether a column agrees with the classes in most labelled rows, and hardly by chance."""
    equal, by_chance, count = _compared(column, rows, classes)
    if count < max(_FEWEST, _MOST * len(rows)) or n_columns * by_chance**count > _CHANCE:
        return False
    return (equal - by_chance) / (1 - by_chance) > enough


def _compared(column: Any, rows: NDArray[np.int64], classes: NDArray[Any]) -> tuple[float, float, int]:
    """The share of equal values, the share by chance, and the number of values that are not missing."""
    values = _texts(as_arrow(column, "").take(rows))
    present = values != ""
    values, classes = values[present], classes[present]
    count = len(values)
    if not count:
        return 1.0, 1.0, 0
    names, counts = np.unique(classes.astype(str), return_counts=True)
    shares = [(values == name).mean() * times / count for name, times in zip(names, counts, strict=True)]
    return float((values == classes).mean()), float(sum(shares)), count


def has_gaps(column: Any) -> bool:
    """Whether values of an Arrow column are missing, empty or NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count:
        return True
    if pa.types.is_floating(column.type):
        return bool(pc.any(pc.is_nan(column)).as_py())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return bool(pc.any(pc.equal(pc.utf8_trim_whitespace(column), "")).as_py())
    return False


def _texts(column: Any) -> NDArray[Any]:
    """Values as text, empty where missing; 1, 1.0 and true are the same, as for labels."""
    return np.array([_text(value) for value in column.to_pylist()], object)


def _text(value: Any) -> str:
    if value is None or value != value:  # noqa: PLR0124 - NaN differs from itself
        return ""
    text = str(value).strip()
    return {"true": "1", "false": "0"}.get(text.lower(), text.removesuffix(".0"))
