"""Labels: the class of each node, where it is known."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, InputTypeError
from nafs.graph.ids import as_arrow

UNKNOWN = -1
MARKS = ("", "?", "n/a", "#n/a", "<na>", "nan", "null")  # of a missing label, in any case
PERHAPS_MARKS = ("-", "na", "none", "unknown", "missing", "unlabelled", "unlabeled", "tbd")  # or classes
_LONG = 5  # letters of a word that may be misspelled; shorter ones are too often alike
_MOST_CLASSES = 300  # that are compared with each other
_RARER = 3  # times as many labels of the class that is spelled right
_NOTED = 3  # misspelled classes, at most


@dataclass(frozen=True, eq=False)
class Labels:
    """``codes[i]`` is the position of node i's class among ``classes``, or -1 where it is not known.

    ``unmatched`` says which ids of the labels are not in the graph, for errors about labels that are too few.
    ``marks`` are words that were read as missing labels.
    """

    codes: NDArray[np.int32]
    classes: tuple[int | str, ...]
    unmatched: str = ""
    marks: tuple[str, ...] = ()

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each node has a label."""
        return np.asarray(self.codes != UNKNOWN)

    def to_arrow(self) -> Any:
        """The original labels, missing where unknown."""
        import pyarrow as pa

        return pa.array(self.classes).take(pa.array(self.codes, mask=~self.known))


def alike_note(classes: Sequence[int | str]) -> list[str]:
    """A note if names of classes differ only in capitals or blanks.

    Examples
    --------
    >>> from nafs.graph.labels import alike_note
    >>> alike_note(["ham", "Spam", "spam "])[0].split(";")[0]
    "the classes 'Spam' and 'spam ' differ only in how they are written"
    """
    spellings: dict[str, list[str]] = {}
    for name in classes:
        if isinstance(name, str):
            spellings.setdefault(" ".join(name.casefold().split()), []).append(name)
    several = [group for group in spellings.values() if len(group) > 1]
    if not several:
        return []
    names = " and ".join(map(repr, several[0][:3])) + (" and ..." if len(several[0]) > 3 else "")
    more = ", and so do others" if len(several) > 1 else ""
    return [
        f"the classes {names} differ only in how they are written{more}; if they mean the same, write them "
        "alike"
    ]


def misspelled_note(classes: Mapping[str, int]) -> list[str]:
    """A note on a class with few labels that differs in one letter from a class with many.

    Parameters
    ----------
    classes : mapping of name to number of labels

    Examples
    --------
    >>> from nafs.graph.labels import misspelled_note
    >>> misspelled_note({"Retail": 12, "Retial": 1, "Online": 9})[0].split(";")[0]
    "the class 'Retial' (1 label) is spelled almost like 'Retail' (12 labels)"
    """
    if len(classes) > _MOST_CLASSES:
        return []
    words = {name: name.casefold().split() for name in classes if not any(map(str.isdigit, name))}
    notes: list[str] = []
    for name, other in itertools.permutations(words, 2):
        if classes[name] * _RARER > classes[other] or len(words[name]) != len(words[other]):
            continue
        differing = [pair for pair in zip(words[name], words[other], strict=True) if pair[0] != pair[1]]
        if len(differing) == 1 and len(differing[0][0]) >= _LONG and one_slip_apart(*differing[0]):
            labels = "1 label" if classes[name] == 1 else f"{classes[name]} labels"
            notes.append(
                f"the class {name!r} ({labels}) is spelled almost like {other!r} ({classes[other]:,} "
                "labels); if they mean the same, write them alike"
            )
            if len(notes) == _NOTED:
                break
    return notes


def one_slip_apart(first: str, second: str) -> bool:
    """Whether one letter was left out, added or replaced, or two neighboring ones were swapped.

    Examples
    --------
    >>> from nafs.graph.labels import one_slip_apart
    >>> one_slip_apart("retail", "retial"), one_slip_apart("retail", "retal"), one_slip_apart("red", "blue")
    (True, True, False)
    """
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    rest, other = first[same:], second[same:]
    return first != second and (
        rest[1:] == other[1:]
        or rest[1:] == other
        or rest == other[1:]
        or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    )


def read_labels(values: Any, where: str = "labels") -> Labels:
    """Validate labels: integers, booleans or strings, missing where unknown.

    Blanks around words are ignored, and words such as "n/a" mark missing labels.

    Examples
    --------
    >>> from nafs.graph.labels import read_labels
    >>> labels = read_labels(["b", None, "a ", "n/a"])
    >>> labels.classes, labels.codes, labels.marks
    (('a', 'b'), array([ 1, -1,  0, -1], dtype=int32), ('n/a',))
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, Labels):
        return values
    array = as_arrow(values, where)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    if pa.types.is_floating(array.type):
        array = _whole(array, where)
    if pa.types.is_integer(array.type):
        array = array.cast(pa.int64())
    elif not pa.types.is_null(array.type):
        try:
            array = array.cast(pa.large_string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputTypeError(
                f"{where}: labels must be whole numbers or strings; found {array.type}"
            ) from None
    marks: tuple[str, ...] = ()
    if pa.types.is_large_string(array.type):
        array = pc.utf8_trim_whitespace(array)
        marked = pc.is_in(pc.utf8_lower(array), pa.array(MARKS, array.type))
        marks = tuple(array.filter(marked).unique().to_pylist())
        array = pc.if_else(marked, pa.scalar(None, array.type), array)
    if array.null_count == len(array):
        raise InputError(f"{where}: no node has a label; leave the labels out")
    classes = pc.unique(array.drop_null())
    classes = classes.take(pc.array_sort_indices(classes))
    codes = pc.fill_null(pc.index_in(array, value_set=classes), UNKNOWN)
    codes = np.where(np.asarray(array.is_null()), UNKNOWN, np.asarray(codes))
    return Labels(codes.astype(np.int32), tuple(classes.to_pylist()), marks=marks)


def _whole(array: Any, where: str) -> Any:
    import pyarrow as pa

    numbers = array.to_numpy(zero_copy_only=False).astype(np.float64)
    known = ~np.isnan(numbers)
    whole = (np.floor(numbers[known]) == numbers[known]) & (np.abs(numbers[known]) < 2.0**53)
    if not whole.all():
        row = int(np.flatnonzero(known)[~whole][0])
        raise InputError(
            f"{where}: {numbers[row]} in row {row + 1} is not a class; labels are whole numbers or strings"
        )
    return pa.array(np.where(known, numbers, 0).astype(np.int64), mask=~known)
