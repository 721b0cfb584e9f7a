"""Whether a graph has changed so much that its settings should be chosen again.

The number of hops and the preprocessing stay fixed in updates. Once a twentieth of the graph has changed
since they were chosen, the number of hops is chosen again by the same criterion, on the prepared features,
and the update reports the result. The next check comes after another twentieth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from nafs.graph import Adjacency, read_features
from nafs.pipeline import Decision, Settings
from nafs.selection.choice import LADDER, Question
from nafs.selection.hops_for_clusters import choose_for_clusters
from nafs.selection.hops_for_links import choose_for_links
from nafs.selection.preprocessing import SHIFTED, judge
from nafs.smoothing.method import AUTO

if TYPE_CHECKING:
    from nafs.model.model import Model

STEP = 0.05  # share of the graph that may change before the choice is checked again
_FEWEST = 20  # number of new feature rows at which their preprocessing is judged


@dataclass
class Drift:
    """How much has changed since the settings were chosen.

    Attributes
    ----------
    size : int
        Nodes and stored edges when the settings were chosen.
    changed : int
        Nodes and stored edges that changed since.
    checked : int
        The value of ``changed`` at the last check.
    n_hops : int or None
        The number of hops, if it was chosen.
    preprocessing : str or None
        The preprocessing, if it was chosen.
    goal : str
    n_clusters : int, str or None
    """

    size: int = 0
    changed: int = 0
    checked: int = 0
    n_hops: int | None = None
    preprocessing: str | None = None
    goal: str = "clusters"
    n_clusters: int | str | None = None

    @classmethod
    def of(cls, decision: Decision, graph: Adjacency) -> Drift:
        """The state right after the choice."""
        settings, choice = decision.job.settings, decision.choice
        preparations = settings.preparations
        return cls(
            graph.n_nodes + graph.n_stored,
            n_hops=choice.n_hops if settings.method.n_hops == AUTO else None,
            preprocessing=choice.preprocessing if settings.preprocessing == AUTO else None,
            goal=preparations.goal,
            n_clusters=preparations.n_clusters,
        )

    def count(self, n_entries: int, n_nodes: int) -> None:
        """Count the changes of an update."""
        self.changed += n_entries + n_nodes

    def note(self, model: Model, features: Any) -> tuple[str, ...]:
        """Notes after an update."""
        notes = []
        if self.preprocessing is not None and features is not None:
            notes += self._about_features(model, features[1])
        due = self.changed - self.checked >= STEP * max(1, self.size)
        if self.n_hops is not None and due:
            self.checked = self.changed
            notes += self._about_hops(model)
        return tuple(notes)

    def _about_hops(self, model: Model) -> list[str]:
        """Choose the number of hops again, and compare."""
        graph = model.graph
        assert graph.features is not None
        options = {"goal": self.goal, "n_clusters": self.n_clusters, "n_threads": model.n_threads}
        settings = Settings.of(n_hops=AUTO, **options)
        method = replace(
            settings.method,
            r=model.method.r,
            weighting=model.method.weighting,
            distance=model.method.distance,
        )
        question = Question(
            graph.adjacency,
            graph.features,
            method,
            settings.preparations,
            settings.resources,
            "none",
            ("none",),
        )
        choose = choose_for_links if self.goal == "links" else choose_for_clusters
        choice = choose(question)
        share = 100 * self.changed / max(1, self.size)
        since = f"{share:.0f} % of the graph changed since {self.n_hops} hops were chosen"
        assert self.n_hops is not None
        if abs(_step(choice.n_hops) - _step(self.n_hops)) <= 1:
            return [f"{since}; the choice still holds"]
        return [
            f"{since}; now {choice.n_hops} would be chosen ({choice.reasons[0]}): to use that, build the "
            "model again"
        ]

    def _about_features(self, model: Model, rows: Any) -> list[str]:
        """Judge the values of new rows as those of the first ones were judged."""
        if model.recipe.encoding is not None or not hasattr(rows, "shape") or len(rows.shape) != 2:
            return []
        if rows.shape[0] < _FEWEST or hasattr(rows, "__arrow_c_stream__"):
            return []
        kind, why = judge(read_features(rows))
        if kind == self.preprocessing or {kind, self.preprocessing} <= set(SHIFTED):
            return []  # few rows cannot tell principal components from other values of both signs
        return [f"preprocessing {self.preprocessing} was chosen, but the new rows suggest {kind} ({why})"]

    def to_plain(self) -> dict[str, Any]:
        """As values for JSON."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Drift:
        """The state that :meth:`to_plain` described."""
        return cls(**plain)


def _step(n_hops: int) -> int:
    """Position of a number of hops among the candidates."""
    return min(range(len(LADDER)), key=lambda i: abs(LADDER[i] - n_hops))
