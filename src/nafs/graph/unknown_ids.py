"""Rows of ids, and suggestions for an unknown id."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.graph.ids import id_column, is_text, positions
from nafs.graph.node_columns import listed_values
from nafs.graph.spellings import other_spellings, whole_like


def rows_of(keys: Sequence[Any], ids: Any) -> NDArray[np.int64]:
    """Row numbers of ids. The error for an unknown one names those that may be meant.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.graph.unknown_ids import rows_of
    >>> rows_of(["bob"], pa.array(["ann", "bob"]))
    array([1])
    """
    if not len(keys):
        raise InputError("no ids: name at least one")
    places = positions(ids, whole_like(id_column([str(key) for key in keys]), ids))
    for key, place in zip(keys, places, strict=True):
        if place < 0:
            raise InputError(f"unknown id {key!r}; {meant(str(key), ids)}")
    return places


def meant(key: str, ids: Any) -> str:
    """What to say of an unknown id: those that may be meant."""
    spellings = other_spellings(key, ids) if is_text(ids) else []
    if spellings:
        return f"did you mean {' or '.join(map(repr, spellings))}?"
    closest = ", ".join(map(repr, closest_ids(key, ids))) or _nearest_numbers(key, ids)
    return f"the closest are {closest}" if closest else f"ids are {listed_values(ids)}"


def _nearest_numbers(key: str, ids: Any) -> str:
    """The ids that are nearest to a number, if all are numbers."""
    import pyarrow as pa

    if not pa.types.is_int64(ids.type) or not key.removeprefix("-").isdecimal():
        return ""
    values = np.asarray(ids)
    order = np.argsort(np.abs(values - float(key)), kind="stable")[:3]
    return ", ".join(str(value) for value in values[order])


def closest_ids(key: str, ids: Any) -> list[str]:
    """Up to three ids that contain the key, share its prefix, or are spelt similarly.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.graph.unknown_ids import closest_ids
    >>> closest_ids("an", pa.array(["ann", "bob", "joan"]))
    ['ann', 'joan']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    lower_key, names = key.lower(), ids.cast(pa.large_string())
    lower = pc.utf8_lower(names)
    similar = names.filter(pc.match_substring(lower, lower_key))[:3].to_pylist() if lower_key else []
    for letters in (len(lower_key) - 1, len(lower_key) * 2 // 3, 1, 0):
        candidates = names.filter(pc.starts_with(lower, lower_key[: max(0, letters)]))
        if len(candidates) and len(similar) < 3:
            known = {name.lower(): name for name in candidates[:50_000].to_pylist()}
            similar += [known[name] for name in get_close_matches(lower_key, known, n=3, cutoff=0.5)]
    return list(dict.fromkeys(similar))[:3]
