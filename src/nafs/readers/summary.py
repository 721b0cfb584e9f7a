"""One line that says how the input was read: columns, merged rows, dropped directions."""

from __future__ import annotations

from collections.abc import Sequence

from nafs._support.counted import counted
from nafs.graph.adjacency import Adjacency, Merging
from nafs.graph.node_columns import is_nameless, listed

_SHOWN = 5  # columns that are not used


def show(name: str) -> str:
    """A column for a message."""
    if not is_nameless(name):
        return repr(name)
    level = int(name.strip("_").rpartition("_")[2])
    return f"level {level + 1} of the index of pandas" if level else "the index of pandas"


def columns_line(
    where: str, meanings: Sequence[tuple[str, str | None]], features: Sequence[str], unused: Sequence[str]
) -> str:
    """How the columns of a table were used.

    Examples
    --------
    >>> from nafs.readers.summary import columns_line
    >>> columns_line("n.csv", [("id", "user"), ("label", None)], ["age"], ["since"])
    "n.csv: id = 'user', 1 feature ('age'), not used: 'since'"
    """
    parts = [f"{meaning} = {show(name)}" for meaning, name in meanings if name is not None]
    if features:
        parts.append(f"{counted(len(features), 'feature')} ({listed(features, 3)})")
    others = list(dict.fromkeys(map(show, unused)))
    if others:
        more = ", ..." if len(others) > _SHOWN else ""
        parts.append(f"not used: {', '.join(others[:_SHOWN])}{more}")
    return f"{where}: {', '.join(parts)}" if parts else where


def edges_line(
    adjacency: Adjacency, merging: Merging, *, has_direction: bool = True, listed_as: str = "row"
) -> str:
    """What was done to the listed edges."""
    weighted = adjacency.weights is not None
    facts = []
    if has_direction and not adjacency.directed:
        facts.append("direction dropped")
    if merging.repeated:
        facts.append(f"{merging.repeated:,} repeated" + (", their weights added" if weighted else ""))
    if merging.both_ways and has_direction:
        rule = ", of two weights the larger weight counts" if weighted else ""
        facts.append(f"{merging.both_ways:,} in both directions{rule}")
    if merging.loops:
        facts.append(f"{counted(merging.loops, 'self-loop')} dropped")
    if merging.zeros:
        facts.append(f"{merging.zeros:,} of weight 0 dropped")
    kind = "directed edge" if adjacency.directed else "undirected edge"
    verb = "makes" if merging.listed == 1 else "make"
    counts = f"{counted(merging.listed, listed_as)} {verb} {counted(merging.edges, kind)}"
    return f"{counts} ({'; '.join(facts)})" if facts else counts
