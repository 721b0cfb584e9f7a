"""Undo changes of arrays after an error, and protect short steps from Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray


class Undo:
    """Remembers rows of arrays before they change.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.model.undo import Undo
    >>> values = np.array([1, 2, 3])
    >>> undo = Undo()
    >>> undo.write(values, [0, 2], 7)
    >>> values
    array([7, 2, 7])
    >>> undo.take_back()
    >>> values
    array([1, 2, 3])
    """

    def __init__(self) -> None:
        self._before: list[tuple[NDArray[Any], Any, NDArray[Any]]] = []

    def remember(self, array: NDArray[Any], rows: Any) -> None:
        """Keep a copy of rows that will change."""
        self._before.append((array, rows, array[rows].copy()))

    def write(self, array: NDArray[Any], rows: Any, values: Any) -> None:
        """Change rows."""
        self.remember(array, rows)
        array[rows] = values

    def take_back(self) -> None:
        """Restore all rows, the latest change first."""
        while self._before:
            array, rows, values = self._before.pop()
            array[rows] = values


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the block ends, so that the block is never interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
