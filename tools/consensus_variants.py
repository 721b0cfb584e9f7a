"""Variants of the consensus, chosen on one half of the graphs and checked on the other, both ways.

    python tools/consensus_variants.py

All variants use the same candidates (three seeds for each graph), so that only the weights of the votes and
the last step differ. Measured graphs are kept in docs/data/consensus_variants.json: delete the file to
measure them again. The tables are written into docs/quality.md. Scores are means of ACC, NMI and ARI in
percent, on at most 5,000 nodes of each graph. Planted graphs belong to neither half: the choice is not made
on them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs import Graph
from nafs.clustering import ClusterSearch, agreement
from nafs.clustering.agreement import pairwise_agreement, rand_index, vote
from nafs.clustering.edges import assortativity_of, modularity_of
from nafs.clustering.gaussian_mixture import fit_mixture
from nafs.clustering.kmeans import explained_variance
from nafs.pipeline import Job, Settings, search_clusters
from nafs.reproduce.marked import fill, markdown
from nafs.reproduce.quality import HALVES, data_of, present

DOCS = Path(__file__).resolve().parent.parent / "docs"
SEEDS = 3
WEIGHTS = {  # powers of agreement, assortativity and explained variance in the weight of a vote
    "agreement^4 x assortativity^4 x variance^2 (auto)": (4, 4, 2),
    "agreement^4 x assortativity^4 (before)": (4, 4, 0),
    "agreement^4": (4, 0, 0),
    "agreement^4 x assortativity^2": (4, 2, 0),
    "agreement^8 x assortativity^4": (8, 4, 0),
    "agreement^8 x assortativity^8": (8, 8, 0),
    "agreement^4 x assortativity^4 x variance^4": (4, 4, 4),
    "agreement^4 x variance^2": (4, 0, 2),
}
AUTO = "mixture, hops closest to the vote (auto)"
SETTLED = {AUTO: (50, "closest"), "no last step": (0, "vote")}
SETTLED |= {f"steps {steps}, hops closest to the vote": (steps, "closest") for steps in (1, 2, 5)}
SETTLED |= {f"steps {steps}, mean log density over hops": (steps, "mean") for steps in (1, 2, 5)}
SETTLED |= {f"steps {steps}, hops weighted by closeness^16": (steps, "weighted") for steps in (1, 2, 5)}

Labels = NDArray[np.int64]
Scores = dict[str, list[float]]


def planted(sizes: list[int], inside: float, outside: float, signal: float, seed: int) -> Graph:
    """A stochastic block model with noisy features."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    odds = np.where(labels[:, None] == labels, inside, outside)
    edges = sp.csr_array(np.triu(rng.random(odds.shape) < odds, 1))
    features = signal * rng.standard_normal((len(sizes), 16))[labels] + rng.standard_normal((len(labels), 16))
    return Graph(edges, features, labels=labels, directed=False)


PLANTED: dict[str, Callable[[int], Graph]] = {
    "planted: six of uneven size": lambda seed: planted(
        [600, 200, 150, 100, 100, 50], 0.03, 0.004, 0.4, seed
    ),
    "planted: one of 78 %": lambda seed: planted([700, 100, 100], 0.03, 0.004, 0.4, seed),
    "planted: four, weak": lambda seed: planted([250] * 4, 0.03, 0.01, 0.4, seed),
    "planted: four, clear": lambda seed: planted([250] * 4, 0.03, 0.012, 0.8, seed),
}


def searches(name: str) -> Iterator[tuple[Graph, ClusterSearch, int]]:
    """The graph, its embeddings, and a seed, for each seed."""
    search = None
    for seed in range(SEEDS):
        if name in PLANTED or search is None:
            graph = PLANTED[name](seed) if name in PLANTED else data_of(name).graph
            assert graph.labels is not None
            settings = Settings.of(n_hops="auto", n_clusters=len(graph.labels.classes))
            search = search_clusters(Job.of(graph, settings))
        yield graph, search, seed


def measure(name: str) -> Scores:
    """The score of each variant for each seed."""
    scores: Scores = {}
    for graph, search, seed in searches(name):
        assert graph.labels is not None
        count = len(graph.labels.classes)
        truth = graph.labels.codes if search.sample is None else graph.labels.codes[search.sample]
        known = truth >= 0
        candidates, _, heads = search.candidates(count, seed)
        winners = {
            title: _vote(search, candidates, heads, count, powers) for title, powers in WEIGHTS.items()
        }
        results = {title: _settle(search, winner, count, *SETTLED[AUTO]) for title, winner in winners.items()}
        winner = next(iter(winners.values()))
        results |= {title: _settle(search, winner, count, *way) for title, way in SETTLED.items()}
        for title, labels in results.items():
            measures = agreement(truth[known], labels[known])
            score = 100 * float(np.mean([measures[metric] for metric in ("ACC", "NMI", "ARI")]))
            scores.setdefault(title, []).append(round(score, 3))
    return scores


def _vote(
    search: ClusterSearch, candidates: Labels, heads: Any, count: int, powers: tuple[int, int, int]
) -> Labels:
    """As in :mod:`nafs.clustering.consensus`, with other weights."""
    edges = search._edges
    assert edges is not None
    rows = next(iter(search.hops.values())).unit(4 * count)
    votes = []
    for group in (candidates[heads != "absorbed"], candidates[heads == "absorbed"]):
        mean = (pairwise_agreement(group, count).sum(axis=1) - 1) / max(1, len(group) - 1)
        kept = [assortativity_of(edges.table(labels, count)) for labels in group]
        variance = explained_variance(rows, group, count)
        factors = (np.maximum(mean, 1e-9), np.maximum(kept, 0.1), np.maximum(variance, 1e-3))
        logs = sum(power * np.log(factor) for power, factor in zip(powers, factors, strict=True))
        labels = vote(group, np.exp(logs - logs.max()), group[int(logs.argmax())], count)
        table = edges.table(labels, count)
        together = float(np.mean([rand_index(labels, other, count) for other in group]))
        votes.append((labels, together * modularity_of(table), assortativity_of(table)))
    even, uneven = votes
    return uneven[0] if uneven[1] > even[1] and uneven[2] >= even[2] else even[0]


def _settle(search: ClusterSearch, winner: Labels, count: int, steps: int, way: str) -> Labels:
    """The last step: mixtures that start from the winner."""
    if way == "vote":
        return winner
    scores = []
    for directions in search.hops.values():
        points = directions.unit(2 * count)
        scores.append(fit_mixture(points, winner, count, steps).scores(points))
    closeness = np.array([rand_index(winner, one.argmax(axis=1), count) for one in scores])
    weights = np.ones(len(scores))
    if way == "weighted":
        weights = (np.maximum(closeness, 1e-6) / closeness.max()) ** 16
    elif way == "closest":
        weights = (np.arange(len(scores)) == closeness.argmax()).astype(float)
    return np.asarray(np.tensordot(weights, np.array(scores), 1).argmax(axis=1))


def tables(measured: dict[str, Scores]) -> dict[str, list[str]]:
    """One table of all variants, and one of the best by each half."""
    groups = {**HALVES, "planted": tuple(PLANTED)}
    means = {
        title: {
            group: float(np.mean([np.mean(measured[name][title]) for name in names if name in measured]))
            for group, names in groups.items()
        }
        for title in next(iter(measured.values()))
    }
    titles = {next(iter(WEIGHTS)): "auto"} | {AUTO: "auto"}
    rows = [
        [title, *(f"{value:.2f}" for value in values.values())]
        for title, values in means.items()
        if title != AUTO
    ]
    best = []
    for half in HALVES:
        title = max(means, key=lambda title: means[title][half])
        best.append([half, titles.get(title, title), *(_change(means, title, group) for group in groups)])
    return {
        "variants": markdown(["variant", *groups], rows),
        "variants-best": markdown(["best by", "variant", *groups], best),
    }


def _change(means: dict[str, dict[str, float]], title: str, group: str) -> str:
    """A mean, and how far it is from that of auto."""
    return f"{means[title][group]:.2f} ({means[title][group] - means[AUTO][group]:+.2f})"


def main() -> None:
    """Measure graphs that are missing, and write the tables."""
    path = DOCS / "data" / "consensus_variants.json"
    measured: dict[str, Scores] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    names = [name for half in HALVES.values() for name in half]
    for name in (*present(names), *PLANTED):
        if name not in measured:
            measured[name] = measure(name)
            lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in measured.items()]
            path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    page = DOCS / "quality.md"
    page.write_text(fill(page.read_text(encoding="utf-8"), tables(measured)), encoding="utf-8")


if __name__ == "__main__":
    main()
