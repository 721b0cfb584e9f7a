"""Clusters of made-up tables with few columns, with two rules for structural columns beside them.

    python tools/few_columns.py

`auto` asks for a smaller gain beside a few columns than beside many. Groups are planted in the edges. The
columns follow them in part, or not at all, or know them better than the edges do. Scores are adjusted Rand
indices, with the number of groups given and with the number chosen. The table is written into docs/quality.md
from docs/data/few_columns.json; delete that file to measure again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from unittest import mock

import numpy as np
import pandas as pd
from kept import DOCS, measure_missing
from sklearn.metrics import adjusted_rand_score

from nafs import Graph, cluster, from_edges
from nafs.reproduce.marked import fill, markdown
from nafs.selection import structure

SEEDS = 3
EDGES = 5  # of each node
SEGMENTS = np.array(["retail", "wholesale", "online", "business"])


def graph_of(columns: pd.DataFrame, groups: np.ndarray, inside: float, rng: np.random.Generator) -> Graph:
    """A graph in which this share of the edges is drawn within groups."""
    n, count = len(groups), int(groups.max()) + 1  # node i is in group i % count
    first = np.repeat(np.arange(n), EDGES)
    alike = groups[first] + count * rng.integers(n // count, size=len(first))
    second = np.where(rng.random(len(first)) < inside, alike, rng.integers(n, size=len(first)))
    edges = pd.DataFrame({"source": first, "target": second})
    return from_edges(edges, columns.assign(id=np.arange(n)), labels=pd.Series(groups))


def customers(groups: int, size: int, inside: float, names: list[str], seed: int) -> Graph:
    """Customers whose segment, one of four, and revenue follow the groups in part; age and region do not."""
    rng, truth = np.random.default_rng(seed), np.arange(groups * size) % groups
    n = len(truth)
    columns = {
        "segment": SEGMENTS[np.where(rng.random(n) < 0.6, truth % 4, rng.integers(4, size=n))],
        "revenue": rng.lognormal(3 + truth % 3, 0.6).round(2),
        "age": rng.normal(40, 9, n).round(1),
        "region": rng.choice(list("NESW"), n),
    }
    return graph_of(pd.DataFrame({name: columns[name] for name in names}), truth, inside, rng)


def measurements(groups: int, width: int, apart: float, inside: float, seed: int) -> Graph:
    """Numbers with a normal distribution around the mean of each group."""
    rng, truth = np.random.default_rng(seed), np.arange(150 * groups) % groups
    values = apart * rng.standard_normal((groups, width))[truth] + rng.standard_normal((len(truth), width))
    names = [f"x{i}" for i in range(width)]
    return graph_of(pd.DataFrame(values, columns=names), truth, inside, rng)


TABLES: dict[str, Callable[..., Graph]] = {
    **{
        f"{groups} groups, {' and '.join(names)}, {inside:.0%} inside": partial(
            customers, groups, size, inside, names
        )
        for groups, size in ((12, 100), (8, 100), (4, 150))
        for names in (["segment"], ["segment", "revenue"], ["age", "region"])
        for inside in (0.75, 0.55)
    },
    **{
        f"{groups} groups, {width} numbers with means {apart:g} apart, {inside:.0%} inside": partial(
            measurements, groups, width, apart, inside
        )
        for groups, width, apart, inside in (
            (6, 8, 2.0, 0.2),
            (6, 8, 1.0, 0.35),
            (6, 16, 0.5, 0.5),
            (4, 4, 3.0, 0.1),
            (4, 4, 1.0, 0.6),
        )
    },
}
RULES = {"auto": structure.GAIN_BESIDE_FEW, "as for wide features": structure.GAIN}


def measure(name: str) -> dict[str, list[float]]:
    """The mean index with the number of groups given, and with the number chosen, for each rule."""
    scores: dict[str, list[list[float]]] = {rule: [] for rule in RULES}
    for seed in range(SEEDS):
        graph = TABLES[name](seed=seed)
        assert graph.labels is not None
        for rule, gain in RULES.items():
            with mock.patch.object(structure, "GAIN_BESIDE_FEW", gain):
                results = [cluster(graph, number).labels for number in (len(graph.labels.classes), "auto")]
            scores[rule].append([adjusted_rand_score(graph.labels.codes, labels) for labels in results])
    return {rule: np.mean(values, axis=0).tolist() for rule, values in scores.items()}


def main() -> None:
    """Measure what is missing, and write the table."""
    measured = measure_missing("few_columns", TABLES, measure)
    rows = [[name, *(_shown(values[rule]) for rule in RULES)] for name, values in measured.items()]
    means = [_shown(np.mean([values[rule] for values in measured.values()], axis=0)) for rule in RULES]
    table = markdown(["table", "`auto`", *list(RULES)[1:]], [*rows, ["mean", *means]])
    page = DOCS / "quality.md"
    page.write_text(fill(page.read_text(encoding="utf-8"), {"few-columns": table}), encoding="utf-8")


def _shown(values: list[float] | np.ndarray) -> str:
    return " / ".join(f"{value:.2f}" for value in values)


if __name__ == "__main__":
    main()
