"""What to say about an id that is not there: the ids that look like it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any


def closest_ids(key: str, ids: Any) -> list[str]:
    """Up to three ids that contain the key, begin like it, or are spelt like it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.embedding.unknown_ids import closest_ids
    >>> closest_ids("an", pa.array(["ann", "bob", "joan"]))
    ['ann', 'joan']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted, names = key.lower(), ids.cast(pa.large_string())
    lower = pc.utf8_lower(names)
    similar = names.filter(pc.match_substring(lower, wanted))[:3].to_pylist() if wanted else []
    for letters in (len(wanted) - 1, len(wanted) * 2 // 3, 1, 0):
        candidates = names.filter(pc.starts_with(lower, wanted[: max(0, letters)]))
        if len(candidates) and len(similar) < 3:
            known = {name.lower(): name for name in candidates[:50_000].to_pylist()}
            similar += [known[name] for name in get_close_matches(wanted, known, n=3, cutoff=0.5)]
    return list(dict.fromkeys(similar))[:3]
