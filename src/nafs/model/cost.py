"""How long an update takes compared with a full run, estimated while it runs.

Both estimates are sums of counts, each times a cost. The costs were set from profiles of updates of arXiv's
topology on one machine; a slow machine is slow at both, so the ratio should hold elsewhere too.
"""

from __future__ import annotations

from dataclasses import dataclass

# Nanoseconds of one thread.
PUSH = 20.0  # an entry of a neighbour list: add the size of a difference to a node's bound, and list the pair
VALUE = 7.0  # a value of a difference: compute it and add it to states and embedding
GATHER = 0.25  # a full run: a value of a neighbour's row
KEEP = 1.5  # a full run: a value of a state, weighted, summed and kept
FIXED = 3e6  # an update: ids, lists and arrays
FIXED_FULL = 6e6  # a full run: the same, and new arrays


class TooMuchError(Exception):
    """Raised if so much changes that a full run is cheaper, or takes less memory."""


@dataclass
class Work:
    """The work of an update so far, and the limit beyond which a full run is cheaper.

    Parameters
    ----------
    n_values : int
        Values of a state row: columns times r's.
    n_hops : int
    most : float
        Estimated time of a full run.
    time : float
        Estimated time of the update so far, in seconds.
    room : float
        Bytes of memory that the update may take; a full run writes block by block.
    held : int
        Bytes that it holds so far.

    Examples
    --------
    >>> from nafs.model.cost import Work, full_time
    >>> work = Work(n_values=384, n_hops=3, most=full_time(1000, 10_000, 384, 3))
    >>> work.follow(n_rows=10)
    >>> 0 < work.time < work.most
    True
    """

    n_values: int
    n_hops: int
    most: float = float("inf")
    time: float = FIXED / 1e9
    room: float = float("inf")
    held: int = 0

    def push(self, n_entries: int) -> None:
        """Differences are about to be pushed along this many entries."""
        self._add(PUSH * n_entries)

    def follow(self, n_rows: int, n_left: int = 1) -> None:
        """Differences of this many rows are about to be computed.

        ``n_left`` hops remain, including this one. Differences reach more rows with every hop, so each takes
        at least as long as this one: an update that cannot pay off ends early.
        """
        # Rows change at the last hops; all states of a changed row are read and its weights computed.
        cost = VALUE * n_rows * self.n_values
        if self.time + cost * n_left / 1e9 > self.most:
            raise TooMuchError
        self._add(cost)

    def hold(self, nbytes: int, *, for_now: int = 0) -> None:
        """Arrays of some bytes are about to be allocated, and others that are freed soon."""
        self.held += nbytes
        if self.held + for_now > self.room:
            raise TooMuchError

    def _add(self, nanoseconds: float) -> None:
        self.time += nanoseconds / 1e9
        if self.time > self.most:
            raise TooMuchError


def full_time(n_nodes: int, n_entries: int, n_values: int, n_hops: int) -> float:
    """Estimated time of a full run."""
    gathered = GATHER * (n_entries + n_nodes) * n_hops
    return (FIXED_FULL + (gathered + KEEP * n_nodes * (n_hops + 1)) * n_values) / 1e9
