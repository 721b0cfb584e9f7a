"""Suggestions for an unknown id."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any


def closest_ids(key: str, ids: Any) -> list[str]:
    """Up to three ids that contain the key, share its prefix, or are spelt similarly.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.embedding.unknown_ids import closest_ids
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
