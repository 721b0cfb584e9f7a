"""Variants of the consensus, chosen on one half of the graphs and checked on the other, both ways.

    python tools/consensus_variants.py

All variants use the same candidates (three seeds for each graph), so that only the weights of the votes and
what follows from the votes differ. Measured graphs are kept in docs/data/consensus_variants.json: delete the
file to measure them again. The tables are written into docs/quality.md. Scores are means of ACC, NMI and ARI
in percent, on at most 5,000 nodes of each graph. Planted graphs belong to neither half: the choice is not
made on them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs import Graph
from nafs.clustering import ClusterSearch, agreement
from nafs.clustering.agreement import pairwise_agreement, rand_index, vote
from nafs.clustering.consensus import _Winner
from nafs.clustering.directions import Directions, unit_rows
from nafs.clustering.edges import Table, assortativity_of, modularity_of
from nafs.clustering.gaussian_mixture import fit_mixture
from nafs.clustering.joint_mixture import columns_for
from nafs.clustering.kmeans import explained_variance
from nafs.clustering.own_features import WEIGHT, OwnFeatures
from nafs.pipeline import Job, Settings, search_clusters
from nafs.reproduce.marked import fill, markdown
from nafs.reproduce.quality import HALVES, data_of, present

DOCS = Path(__file__).resolve().parent.parent / "docs"
SEEDS = 3
JOINT = "agreement^4 x assortativity^4 x variance^2, joint mixture"
AUTO = "joint, then own features (auto)"
BEFORE = "last step: mixture at one number of hops (before)"

Labels = NDArray[np.int64]
Matrix = NDArray[Any]
Scores = dict[str, list[float]]
Powers = tuple[float, float, float]  # of agreement, assortativity and explained variance


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


@dataclass(eq=False)
class Vote:
    """The candidates of one graph and seed, and what they agree on with given weights."""

    search: ClusterSearch
    candidates: Labels
    hops: NDArray[np.int64]
    heads: NDArray[np.str_]
    count: int
    powers: Powers = (4, 4, 2)
    edge_rating: Callable[[Table], float] = assortativity_of
    other_heads: bool = False
    allow_outliers: bool = False

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the votes for each cluster, as in :mod:`nafs.clustering.consensus`."""
        edges = self.search._edges
        assert edges is not None
        votes = []
        for group in (self.heads != "absorbed", self.heads == "absorbed"):
            candidates, logs = self.candidates[group], self._log_weights(group)
            weights = np.exp(logs - logs.max())
            shares = vote(candidates, weights, candidates[int(logs.argmax())], self.count)
            labels = shares.argmax(axis=1)
            table = edges.table(labels, self.count)
            together = float(np.mean([rand_index(labels, other, self.count) for other in candidates]))
            votes.append(_Winner(shares, together, assortativity_of(table), modularity_of(table)))
        even, uneven = votes
        others = self.candidates[self.heads != "absorbed"]
        alike = float(np.mean([rand_index(uneven.labels, other, self.count) for other in others]))
        return (uneven if uneven.beats(even, 1.0 if self.allow_outliers else alike) else even).shares

    @cached_property
    def labels(self) -> Labels:
        """The winner."""
        return np.asarray(self.shares.argmax(axis=1))

    def _log_weights(self, group: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Logarithms of the weights of some candidates."""
        candidates, heads = self.candidates[group], self.heads[group]
        pairs = pairwise_agreement(candidates, self.count)
        counted = ~np.eye(len(candidates), dtype=bool)
        if self.other_heads and len(np.unique(heads)) > 1:
            counted = heads[:, None] != heads
        mean = (pairs * counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
        edges, rows = self.search._edges, next(iter(self.search.hops.values())).unit(4 * self.count)
        assert edges is not None
        ratings = [self.edge_rating(edges.table(labels, self.count)) for labels in candidates]
        variance = explained_variance(rows, candidates, self.count)
        factors = (np.maximum(mean, 1e-9), np.maximum(ratings, 0.1), np.maximum(variance, 1e-3))
        return np.asarray(
            sum(power * np.log(factor) for power, factor in zip(self.powers, factors, strict=True))
        )

    @cached_property
    def one_embedding(self) -> tuple[int, Labels]:
        """The number of hops whose mixture, started from the winner, stays closest to it; its clusters."""
        best: tuple[float, int, Labels] | None = None
        for hop, directions in self.search.hops.items():
            points = directions.unit(2 * self.count)
            labels = fit_mixture(points, self.labels, self.count, 50).predict(points)
            closeness = rand_index(self.labels, labels, self.count)
            if best is None or closeness > best[0]:
                best = closeness, hop, labels
        assert best is not None
        return best[1:]

    def all_embeddings(self, directions: float, power: float) -> Matrix:
        """Unit rows of all embeddings side by side, along a few leading directions for each cluster."""
        indices = np.array([rand_index(self.labels, other, self.count) for other in self.candidates])
        parts = []
        for hop, embedding in self.search.hops.items():
            weight = max(float(indices[self.hops == hop].mean()), 1e-3) ** power
            parts.append(np.float32(np.sqrt(weight)) * embedding.unit(columns_for(self.count)))
        joint = Directions.of(np.hstack(parts), 4 * self.count)
        return unit_rows(joint.rows[:, : int(directions * self.count)])


def joint(
    votes: Vote, prior: float = 1, steps: int = 3, directions: float = 3, power: float = 4, tails: float = 0
) -> Labels:
    """The last step: a mixture in all embeddings together; with ``tails``, of Student's t distributions."""
    points = votes.all_embeddings(directions, power)
    logs = prior * np.log(votes.shares.T + 0.02)
    if tails:
        return _student(points, votes.labels, votes.count, logs, tails, steps)
    logs = logs.astype(points.dtype)
    model = fit_mixture(points, votes.labels, votes.count, steps, logs)
    return np.asarray((model.scores(points).T + logs).argmax(axis=0))


def own_features(votes: Vote, weight: float) -> Labels:
    """The joint mixture, and then each node's features before smoothing, where none is negative."""
    points = votes.all_embeddings(3, 4)
    logs = np.log(votes.shares.T + 0.02).astype(points.dtype)
    scores = fit_mixture(points, votes.labels, votes.count, 3, logs).scores(points).T + logs
    own = votes.search._own
    if own is not None:
        sample = votes.search.sample
        features = own.features if sample is None else own.features.take(sample)
        scores, _ = OwnFeatures(features, weight).refine(scores)
    return np.asarray(scores.argmax(axis=0))


def without_sizes(votes: Vote) -> Labels:
    """The last step, where clusters of all sizes are equally likely: the votes know the sizes already."""
    points = votes.all_embeddings(3, 4)
    logs = np.log(votes.shares.T + 0.02).astype(points.dtype)
    model = fit_mixture(points, votes.labels, votes.count, 3, logs)
    return np.asarray(((model.scores(points) - model.log_weights).T + logs).argmax(axis=0))


def neighbors(votes: Vote, power: float, rounds: int = 5) -> Labels:
    """The last step, followed by rounds in which the clusters of a node's neighbors are a further prior."""
    points = votes.all_embeddings(3, 4)
    logs = np.log(votes.shares.T + 0.02).astype(points.dtype)
    model = fit_mixture(points, votes.labels, votes.count, 3, logs)
    scores = own = (model.scores(points).T + logs).astype(np.float64)
    edges = votes.search._edges
    assert edges is not None
    ends = (edges.first, edges.second)
    links = sp.csr_array((np.ones(len(edges.first)), ends), shape=(len(points), len(points)))
    degrees = np.asarray(links.sum(axis=1))
    for _ in range(rounds):
        shares = np.exp(scores - scores.max(axis=0))
        around = links @ (shares / shares.sum(axis=0)).T / np.maximum(degrees, 1)[:, None]
        scores = own + power * np.minimum(degrees / 5, 1) * np.log(around.T + 0.05)
    return np.asarray(scores.argmax(axis=0))


def own_covariances(votes: Vote, common: float, steps: int = 3) -> Labels:
    """The last step with a covariance for each cluster; the common one counts like some points per column."""
    points = votes.all_embeddings(3, 4).astype(np.float64)
    n, d = points.shape
    logs = np.log(votes.shares.T + 0.02)
    shares = np.zeros((votes.count, n))
    shares[votes.labels, np.arange(n)] = 1
    for _ in range(steps):
        sizes = shares.sum(axis=1) + 1e-9
        means = (shares @ points) / sizes[:, None]
        mean_covariance = (points.T @ points - (means.T * sizes) @ means) / n
        mean_covariance += np.eye(d) * 1e-3 * points.var(axis=0).sum() / d
        scores = logs + np.log(sizes / n)[:, None]
        for cluster, center in enumerate(means):
            moved = points - center
            covariance = (moved.T * shares[cluster]) @ moved + common * d * mean_covariance
            root = np.linalg.cholesky(covariance / (sizes[cluster] + common * d))
            scores[cluster] -= 0.5 * (np.linalg.solve(root, moved.T) ** 2).sum(axis=0)
            scores[cluster] -= np.log(root.diagonal()).sum()
        shares = np.exp(scores - scores.max(axis=0))
        shares /= shares.sum(axis=0)
    return np.asarray(scores.argmax(axis=0))


def _student(points: Matrix, start: Labels, count: int, prior: Matrix, freedom: float, steps: int) -> Labels:
    """A mixture of t distributions with one covariance: points far from all centres count for less."""
    points = points.astype(np.float64)
    n, d = points.shape
    shares, weights = np.zeros((count, n)), np.ones((count, n))
    shares[start, np.arange(n)] = 1
    for _ in range(steps):
        sizes, heavy = shares.sum(axis=1) + 1e-12, shares * weights
        means = (heavy @ points) / (heavy.sum(axis=1)[:, None] + 1e-12)
        covariance = (points.T * heavy.sum(axis=0)) @ points - (means.T * heavy.sum(axis=1)) @ means
        covariance = covariance / n + np.eye(d) * 1e-3 * points.var(axis=0).sum() / d
        whiten = np.linalg.inv(np.linalg.cholesky(covariance)).T
        rows, centers = points @ whiten, means @ whiten
        squares = (rows**2).sum(axis=1) - 2 * centers @ rows.T + (centers**2).sum(axis=1)[:, None]
        squares = np.maximum(squares, 0)
        scores = np.log(sizes / n)[:, None] - (freedom + d) / 2 * np.log1p(squares / freedom) + prior
        weights = (freedom + d) / (freedom + squares)
        shares = np.exp(scores - scores.max(axis=0))
        shares /= shares.sum(axis=0)
    return np.asarray(scores.argmax(axis=0))


def core(votes: Vote, share: float, model: str) -> Labels:
    """Learn from the nodes of each cluster that the votes are surest of; predict all."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression

    points = votes.search.hops[votes.one_embedding[0]].unit(2 * votes.count)
    sure = votes.shares.max(axis=1)
    nodes: list[int] = []
    for cluster in np.unique(votes.labels):
        members = np.flatnonzero(votes.labels == cluster)
        nodes += list(members[np.argsort(-sure[members], kind="stable")][: max(2, int(share * len(members)))])
    learner = (
        LogisticRegression(C=10, max_iter=200)
        if model == "logistic regression"
        else LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.01)
    )
    return np.asarray(learner.fit(points[nodes], votes.labels[nodes]).predict(points))


def together(votes: Vote) -> Labels:
    """Spectral clustering by how often candidates put nodes together; then the last step of before."""
    logs = votes._log_weights(votes.heads != "absorbed")
    columns = []
    for labels, log in zip(votes.candidates[votes.heads != "absorbed"], logs - logs.max(), strict=True):
        members = np.eye(votes.count, dtype=np.float32)[labels]
        columns.append(np.exp(log / 2) * members / np.sqrt(np.maximum(members.sum(axis=0), 1)))
    points = unit_rows(Directions.of(np.hstack(columns), votes.count).left(0, votes.count))
    labels = fit_mixture(points, votes.labels, votes.count, 30).predict(points)
    other = Vote(votes.search, votes.candidates, votes.hops, votes.heads, votes.count)
    other.labels = labels
    return other.one_embedding[1]


def block_likelihood(table: Table) -> float:
    """Log-likelihood per edge of a degree-corrected block model, against one without blocks."""
    volumes = table.sum(axis=1)
    present = table > 0
    return float((table[present] * np.log((table / np.outer(volumes, volumes).clip(1e-30))[present])).sum())


WEIGHTS: dict[str, dict[str, Any]] = {
    JOINT: {},
    "votes: agreement^4 x assortativity^4": {"powers": (4, 4, 0)},
    "votes: agreement^4": {"powers": (4, 0, 0)},
    "votes: agreement^4 x variance^2": {"powers": (4, 0, 2)},
    "votes: agreement^4 x assortativity^2": {"powers": (4, 2, 0)},
    "votes: agreement^8 x assortativity^8 x variance^4": {"powers": (8, 8, 4)},
    "votes: agreement with other heads only": {"other_heads": True},
    "votes: block model's likelihood^2 for assortativity^4": {
        "powers": (4, 2, 2),
        "edge_rating": block_likelihood,
    },
    "votes: block model's likelihood^4 for assortativity^4": {"edge_rating": block_likelihood},
    "votes: uneven clusters need not resemble the others": {"allow_outliers": True},
}
LAST_STEPS: dict[str, Callable[[Vote], Labels]] = {
    BEFORE: lambda votes: votes.one_embedding[1],
    "no last step": lambda votes: votes.labels,
    "joint, votes only as a start": partial(joint, prior=0),
    "joint, votes only as a start, 50 steps": partial(joint, prior=0, steps=50),
    "joint, prior: square root of the votes": partial(joint, prior=0.5),
    "joint, prior: square of the votes": partial(joint, prior=2),
    "joint, 2 steps": partial(joint, steps=2),
    "joint, 50 steps": partial(joint, steps=50),
    "joint, all hops alike": partial(joint, power=0),
    "joint, all hops alike, square of the votes, 50 steps": partial(joint, power=0, prior=2, steps=50),
    "joint, hops by agreement^8": partial(joint, power=8),
    "joint, 2 directions for each cluster": partial(joint, directions=2),
    "joint, 4 directions for each cluster": partial(joint, directions=4),
    "joint, Student's t": partial(joint, tails=20),
    "joint, Student's t, square root of the votes, all hops alike, 50 steps": partial(
        joint, tails=20, prior=0.5, power=0, steps=50
    ),
    "joint, sizes of clusters left to the votes": without_sizes,
    "joint, clusters of the neighbors as a further prior": partial(neighbors, power=0.5),
    "joint, clusters of the neighbors as a strong prior": partial(neighbors, power=1),
    "joint, a covariance for each cluster": partial(own_covariances, common=2.5),
    "joint, a covariance for each cluster, close to the common one": partial(own_covariances, common=50),
    "spectral clustering by candidates that agree": together,
    AUTO: partial(own_features, weight=WEIGHT),
    "joint, then own features with a third of the weight": partial(own_features, weight=WEIGHT / 3),
    "joint, then own features with two thirds of the weight": partial(own_features, weight=2 * WEIGHT / 3),
    "joint, then own features with twice the weight": partial(own_features, weight=2 * WEIGHT),
}
LAST_STEPS |= {
    f"{model} on the surest {share:.0%}": partial(core, share=share, model=model)
    for model in ("discriminant analysis", "logistic regression")
    for share in (0.5, 0.8)
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
        candidates = search.candidates(count, seed)
        results = {
            title: joint(Vote(search, *candidates, count, **weights)) for title, weights in WEIGHTS.items()
        }
        votes = Vote(search, *candidates, count)
        results |= {title: last_step(votes) for title, last_step in LAST_STEPS.items()}
        for title, labels in results.items():
            measures = agreement(truth[known], labels[known])
            score = 100 * float(np.mean([measures[metric] for metric in ("ACC", "NMI", "ARI")]))
            scores.setdefault(title, []).append(round(score, 3))
    return scores


def tables(measured: dict[str, Scores]) -> dict[str, list[str]]:
    """One table of all variants, and one of the best by each half."""
    groups = {**HALVES, "planted": tuple(PLANTED)}
    means = {
        title: {name: float(np.mean(scores[title])) for name, scores in measured.items()}
        for title in next(iter(measured.values()))
    }
    rows, best = [], []
    for title, values in means.items():
        changes = {name: value - means[BEFORE][name] for name, value in values.items()}
        worst = min(changes, key=lambda name: changes[name])
        loss = f"{changes[worst]:+.2f} ({worst.removeprefix('planted: ')})" if title != BEFORE else ""
        rows.append([title, *(f"{_mean(values, names):.2f}" for names in groups.values()), loss])
    for half in HALVES:
        title = max(means, key=lambda title: _mean(means[title], HALVES[half]))
        shown = []
        for names in groups.values():
            mean, before = _mean(means[title], names), _mean(means[BEFORE], names)
            shown.append(f"{mean:.2f} ({mean - before:+.2f})")
        best.append([half, title, *shown])
    return {
        "variants": markdown(["variant", *groups, "largest loss or smallest gain"], rows),
        "variants-best": markdown(["best by", "variant", *groups], best),
    }


def _mean(values: dict[str, float], names: tuple[str, ...]) -> float:
    return float(np.mean([values[name] for name in names if name in values]))


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
