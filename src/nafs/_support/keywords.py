"""Names of keywords that other libraries use: the error names ours."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

_OURS = {
    "n_components": "dim",
    "dimension": "dim",
    "dimensions": "dim",
    "embedding_dim": "dim",
    "hops": "n_hops",
    "k_hops": "n_hops",
    "n_jobs": "n_threads",
    "random_state": "seed",
}
_PAIRS = ("features", "nodes", "x", "X")  # tables beside the edges


def _unexpected(function: Callable[..., Any], name: str) -> str:
    return f"{function.__name__}() got an unexpected keyword argument {name!r}"


def with_hints(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose error for an unknown keyword names the one that was probably meant.

    Examples
    --------
    >>> from nafs._support.keywords import with_hints
    >>> def embed(graph, dim=2):
    ...     return dim
    >>> with_hints(embed)("graph", n_components=5)
    Traceback (most recent call last):
        ...
    TypeError: embed() got an unexpected keyword argument 'n_components'; use dim=
    """
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        for name in options:
            if name not in known and _OURS.get(name) in known:
                raise TypeError(f"{_unexpected(function, name)}; use {_OURS[name]}=")
            if name not in known and name in _PAIRS:
                raise TypeError(f"{_unexpected(function, name)}; pass a pair, (edges, nodes), or a Graph")
        return function(*args, **options)

    return checked
