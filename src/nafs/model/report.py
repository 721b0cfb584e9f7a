"""The report of an update."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class UpdateReport:
    """What an update did.

    Attributes
    ----------
    n_nodes : int
        Nodes afterwards.
    new, removed, changed : int
        New nodes, removed nodes, and old nodes whose edges or features changed.
    recomputed : int
        Nodes whose embedding was recomputed.
    full : bool
        Whether all nodes were: because that was cheaper, the method requires it, or rounding adds up.
    why : str
        The reason for a full run.
    notes : tuple of str
        What the user should know, such as that the graph has drifted.
    places : ndarray
        Places of the nodes whose embedding was recomputed, among ``all_ids``.
    all_ids : Arrow array
    """

    n_nodes: int
    new: int
    removed: int
    changed: int
    recomputed: int
    full: bool
    why: str = ""
    notes: tuple[str, ...] = ()
    places: Any = field(default=None, repr=False, compare=False)
    all_ids: Any = field(default=None, repr=False, compare=False)

    @property
    def ids(self) -> Any:
        """Ids of the nodes whose embedding was recomputed, as an Arrow array."""
        return self.all_ids.take(self.places)

    @property
    def share(self) -> float:
        """Share of the nodes whose embedding was recomputed."""
        return self.recomputed / max(1, self.n_nodes)

    def explain(self) -> str:
        """One line for people.

        Examples
        --------
        >>> from nafs.model import UpdateReport
        >>> UpdateReport(1000, 10, 0, 50, 120, False).explain()
        '10 new, 0 removed and 50 changed nodes: 120 of 1,000 embeddings (12 %) recomputed'
        """
        counts = f"{self.new:,} new, {self.removed:,} removed and {self.changed:,} changed nodes"
        return f"{counts}: {self.recomputed_text()}"

    def recomputed_text(self) -> str:
        """How much was recomputed, in words."""
        if self.full:
            return f"full run, because {self.why}"
        percent = f"{100 * self.share:.2g}" if self.share < 0.99 else f"{100 * self.share:.0f}"
        return f"{self.recomputed:,} of {self.n_nodes:,} embeddings ({percent} %) recomputed"
