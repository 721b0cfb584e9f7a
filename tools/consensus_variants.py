"""Variants of the consensus on many samples of many graphs, to see whether a rule holds up or was lucky.

    python tools/consensus_variants.py

Every graph is clustered twice, each time on another sample: 70 % of its nodes and at most 20,000.
All variants use the same candidates, so that only the votes and the last step differ. Graphs of real data are
measured again with as many random edges as they have edges, and with fewer classes, so that the largest has
about half of the nodes.

Measured graphs are kept in docs/data/consensus_variants.json: delete the file to measure them again. The
tables are written into docs/choices.md. Scores are means of ACC, NMI and ARI in percent. The unseen graphs
need the packages that tools/text_networks.py names, and are left out without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from kept import DOCS, measure_missing
from numpy.typing import NDArray
from text_networks import CHECKED, GRAPHS, HIERARCHIES, UNSEEN, graph_of

from nafs import Graph
from nafs.clustering import ClusterSearch, agreement
from nafs.clustering import candidates as candidates_module
from nafs.clustering.agreement import pairwise_agreement, rand_index, vote
from nafs.clustering.ballot import POWER, UNRELATED, Winner, why_uneven
from nafs.clustering.candidates import Candidates
from nafs.clustering.edges import Edges, Table, assortativity_of, modularity_of
from nafs.clustering.heads import ALL_HEADS
from nafs.clustering.joint_mixture import columns_for, fit_joint_mixture, log_votes
from nafs.clustering.last_step import SampledNodes, settle
from nafs.clustering.measures import mutual_information
from nafs.clustering.own_features import OwnFeatures
from nafs.clustering.sample import SAMPLE
from nafs.pipeline import Job, Settings, search_clusters
from nafs.reproduce.marked import fill, markdown
from nafs.reproduce.quality import HALVES, data_of, present

SAMPLES, SHARE = 2, 0.7
CLEARLY = 0.3  # difference of a graph's mean that counts as better or worse
AUTO = "auto"

Labels = NDArray[np.int64]
Matrix = NDArray[Any]
Scores = dict[str, list[float]]


def planted(sizes: list[int], inside: float, outside: float, signal: float, seed: int) -> Graph:
    """A stochastic block model with noisy features."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    odds = np.where(labels[:, None] == labels, inside, outside)
    edges = sp.csr_array(np.triu(rng.random(odds.shape) < odds, 1))
    features = signal * rng.standard_normal((len(sizes), 16))[labels] + rng.standard_normal((len(labels), 16))
    return Graph(edges, features, labels=labels, directed=False)


PLANTED: dict[str, Callable[[], Graph]] = {
    "planted: six of uneven size": partial(planted, [600, 200, 150, 100, 100, 50], 0.03, 0.004, 0.4, 0),
    "planted: one of 78 %": partial(planted, [700, 100, 100], 0.03, 0.004, 0.4, 0),
    "planted: four, weak": partial(planted, [250] * 4, 0.03, 0.01, 0.4, 0),
    "planted: four, clear": partial(planted, [250] * 4, 0.03, 0.012, 0.8, 0),
}
NOISY = " and random edges"
LARGE = " with a large class"
TEXTS = {"unseen": tuple(UNSEEN), "hierarchies": tuple(HIERARCHIES), "checked": tuple(CHECKED)}
REAL = {**HALVES, **TEXTS}
GROUPS = {
    **REAL,
    "planted": tuple(PLANTED),
    **{f"{group}, random edges": tuple(name + NOISY for name in names) for group, names in HALVES.items()},
    **{f"{group}, large class": tuple(name + LARGE for name in names) for group, names in HALVES.items()},
}


def with_random_edges(graph: Graph) -> Graph:
    """The graph with as many random edges again."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, graph.n_nodes, (2, graph.n_edges))
    entries = graph.adjacency.to_scipy().tocoo()
    first = np.concatenate([entries.row, drawn[0], drawn[1]])
    second = np.concatenate([entries.col, drawn[1], drawn[0]])
    edges = sp.csr_array((np.ones(len(first)), (first, second)), shape=entries.shape).astype(bool)
    assert graph.features is not None
    assert graph.labels is not None
    labels = [str(graph.labels.classes[code]) if code >= 0 else None for code in graph.labels.codes]
    return Graph(edges, graph.features.matrix, labels=labels, directed=False)


def with_large_class(graph: Graph) -> Graph:
    """The graph with some of its classes, or with half of the nodes of all but one if there are few."""
    assert graph.features is not None
    assert graph.labels is not None
    codes, rng = graph.labels.codes, np.random.default_rng(0)
    sizes = np.bincount(codes[codes >= 0])
    largest, kept = int(sizes.argmax()), np.zeros(len(codes), bool)
    if len(sizes) > 3:
        chosen = [largest]
        for code in rng.permutation(np.delete(np.arange(len(sizes)), largest)):
            if sizes[[*chosen[1:], code]].sum() <= 1.15 * sizes[largest]:
                chosen.append(int(code))
        kept = np.isin(codes, chosen)
    else:
        for code, size in enumerate(sizes):
            nodes = np.flatnonzero(codes == code)
            kept[nodes if code == largest else rng.choice(nodes, size // 2, replace=False)] = True
    edges = graph.adjacency.to_scipy().tocsr()[kept][:, kept]
    labels = [str(graph.labels.classes[code]) for code in codes[kept]]
    return Graph(edges, graph.features.matrix[kept], labels=labels, directed=False)


class WithoutNeighbors(OwnFeatures):
    """Own features that never come first, because no nodes are found to be alike."""

    def most_alike(self, edges: Edges) -> None:
        """None."""


@dataclass(eq=False)
class Vote:
    """The candidates of one sample, and what they agree on by some rule.

    ``rating`` is what the weight of a vote has beside agreement, ``power`` the exponent of both;
    ``uses_uneven`` tells when uneven clusters are used, by default as `auto` does.
    """

    search: ClusterSearch
    candidates: Candidates
    count: int
    rating: Callable[[Table], float] = mutual_information
    power: float = POWER
    uses_uneven: Callable[[Winner, Winner, Labels, OwnFeatures | None], object] = why_uneven

    @cached_property
    def winner(self) -> Winner:
        """The winner of the even or of the uneven vote, as in :mod:`nafs.clustering.consensus`."""
        even, uneven = (
            self._winner(self.candidates.labels[group])
            for group in (self.candidates.heads != "absorbed", self.candidates.heads == "absorbed")
        )
        others = self.candidates.labels[self.candidates.heads != "absorbed"]
        return uneven if self.uses_uneven(uneven, even, others, self.own) else even

    def _winner(self, candidates: Labels) -> Winner:
        edges = self.search._edges
        assert edges is not None
        mean = (pairwise_agreement(candidates, self.count).sum(axis=1) - 1) / (len(candidates) - 1)
        ratings = [self.rating(edges.table(labels, self.count)) for labels in candidates]
        quality = np.maximum(mean, 1e-9) * np.maximum(ratings, UNRELATED)
        weights = (quality / quality.max()) ** self.power
        shares = vote(candidates, weights, candidates[int(quality.argmax())], self.count)
        labels = shares.argmax(axis=1)
        together = float(np.mean([rand_index(labels, other, self.count) for other in candidates]))
        table = edges.table(labels, self.count)
        return Winner(
            shares, together, assortativity_of(table), modularity_of(table), mutual_information(table)
        )

    @cached_property
    def sampled(self) -> SampledNodes:
        """What the last step starts from."""
        labels, hops, _ = self.candidates
        indices = np.array([rand_index(self.winner.labels, other, self.count) for other in labels])
        used = sorted(set(hops.tolist()))
        means = [float(indices[hops == hop].mean()) for hop in used]
        rows = [self.search.hops[hop].rows for hop in used]
        return SampledNodes(
            self.winner.shares, rows, [max(mean, 0) ** POWER for mean in means], self.search._edges
        )

    @cached_property
    def mixture(self) -> Matrix:
        """Scores of the mixture."""
        rows = [rows[:, : columns_for(self.count)] for rows in self.sampled.embeddings]
        return fit_joint_mixture(rows, self.sampled.importance, self.winner.shares)[1]

    @cached_property
    def own(self) -> OwnFeatures | None:
        """The features of the sampled nodes, if none is negative."""
        own, sample = self.search._own, self.search.sample
        return own if own is None or sample is None else OwnFeatures(own.features.take(sample))


def auto(votes: Vote) -> Labels:
    """The last step of `auto`."""
    return settle(votes.sampled, None, votes.own).labels


def own_features_last(votes: Vote) -> Labels:
    """The last step of `auto` if own features never came first."""
    own = None if votes.own is None else WithoutNeighbors(votes.own.features)
    return settle(votes.sampled, None, own).labels


def refined(votes: Vote, scores: Matrix) -> Labels:
    """Scores with own features beside them, always in the same way."""
    return np.asarray((scores if votes.own is None else votes.own.refine(scores)).argmax(axis=0))


VOTES: dict[str, dict[str, Any]] = {
    AUTO: {},
    "votes by agreement alone": {"rating": lambda _table: 1.0},
    "votes: square instead of fourth power": {"power": 2},
    "uneven clusters never": {"uses_uneven": lambda *_: False},
}
LAST_STEPS: dict[str, Callable[[Vote], Labels]] = {
    "own features never first": own_features_last,
    "no last step": lambda votes: votes.winner.labels,
    "mixture": lambda votes: np.asarray(votes.mixture.argmax(axis=0)),
    "mixture, always with own features": lambda votes: refined(votes, votes.mixture),
    "votes, always with own features": lambda votes: refined(votes, 2 * log_votes(votes.winner.shares)),
}


def searches(name: str) -> Iterator[tuple[Graph, ClusterSearch]]:
    """The graph, and the embeddings of each sample."""
    plain = name.removesuffix(NOISY).removesuffix(LARGE)
    if plain in PLANTED:
        graph = PLANTED[plain]()
    else:
        graph = graph_of(GRAPHS[plain]()) if plain in GRAPHS else data_of(plain).graph
    if name != plain:
        graph = with_random_edges(graph) if name.endswith(NOISY) else with_large_class(graph)
    assert graph.labels is not None
    count = len(graph.labels.classes)
    for seed in range(SAMPLES):
        job = Job.of(graph, Settings.of(n_hops="auto", n_clusters=count, seed=seed))
        yield graph, search_clusters(job, sample=min(SAMPLE, int(SHARE * graph.n_nodes)))


def measure(name: str) -> Scores:
    """The score of each variant on each sample."""
    scores: Scores = {}
    for graph, search in searches(name):
        assert graph.labels is not None
        count = len(graph.labels.classes)
        truth = graph.labels.codes[search.sample]
        known = truth >= 0
        candidates = search.candidates(count)
        results = {title: auto(Vote(search, candidates, count, **rule)) for title, rule in VOTES.items()}
        votes = Vote(search, candidates, count)
        results |= {title: last_step(votes) for title, last_step in LAST_STEPS.items()}
        for head in [head for head in ALL_HEADS if head != "absorbed"]:
            fewer = replace(votes, candidates=candidates.where(candidates.heads != head))
            results[f"without the head {head}"] = auto(fewer)
        with mock.patch.object(candidates_module, "STARTS", 1):
            results["one start of each head"] = auto(Vote(search, search.candidates(count), count))
        fewer_hops = search._candidates_at(search._usual, count, 0)
        results["20 hops at most"] = auto(Vote(search, fewer_hops, count))
        for title, labels in results.items():
            measures = agreement(truth[known], labels[known])
            score = 100 * float(np.mean([measures[metric] for metric in ("ACC", "NMI", "ARI")]))
            scores.setdefault(title, []).append(round(score, 3))
    return scores


def table(measured: dict[str, Scores]) -> list[str]:
    """The means of each group of graphs, the spread over samples, and where a variant loses most."""
    means = {
        title: {name: float(np.mean(scores[title])) for name, scores in measured.items()}
        for title in next(iter(measured.values()))
    }
    rows = []
    for title, values in means.items():
        changes = {name: value - means[AUTO][name] for name, value in values.items()}
        ends = [min(changes, key=lambda name: changes[name]), max(changes, key=lambda name: changes[name])]
        shown = [f"{changes[name]:+.1f} ({name.removeprefix('planted: ')})" for name in ends]
        spread = float(np.mean([np.std(scores[title]) for scores in measured.values()]))
        counts = [sum(sign * change > CLEARLY for change in changes.values()) for sign in (1, -1)]
        groups = [
            f"{np.mean([values[name] for name in names if name in values]):.2f}"
            for names in GROUPS.values()
            if any(name in values for name in names)
        ]
        compared = [*shown, f"{counts[0]} / {counts[1]}"]
        rows.append([title, *groups, f"{spread:.1f}", *(["", "", ""] if title == AUTO else compared)])
    names = [group for group, members in GROUPS.items() if any(name in measured for name in members)]
    header = ["variant", *names, "deviation", "largest loss", "largest gain", "better / worse"]
    return markdown(header, rows)


def by_graph(measured: dict[str, Scores]) -> list[str]:
    """The mean, the lowest and the highest score of `auto` on the samples of each graph."""
    rows = [
        [name, *(f"{value:.1f}" for value in (np.mean(scores[AUTO]), min(scores[AUTO]), max(scores[AUTO])))]
        for name, scores in measured.items()
    ]
    return markdown(["graph", "mean", "lowest", "highest"], rows)


def main() -> None:
    """Measure graphs that are missing, and write the tables."""
    real = present([name for half in HALVES.values() for name in half])
    names = [*real, *GRAPHS, *PLANTED, *(name + change for change in (NOISY, LARGE) for name in real)]
    measured = measure_missing("consensus_variants", names, measure)
    page = DOCS / "choices.md"
    tables = {"variants": table(measured), "samples": by_graph(measured)}
    page.write_text(fill(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
