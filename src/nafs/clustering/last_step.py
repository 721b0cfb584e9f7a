"""The last step of the consensus: where votes are divided, embeddings and each node's own features decide.

A mixture is fitted to the embeddings of all numbers of hops together, with the votes as a prior (see
:mod:`nafs.clustering.joint_mixture`). Then each node's own features, before smoothing, are heard (see
:mod:`nafs.clustering.own_features`).

Mixtures are sure of themselves, so own features move few nodes. Where they deserve more, they are heard
beside the votes alone. There are two reasons to do so:

- Features tell more about the clusters than edges do: nodes with similar features that are not linked share a
  cluster more often than linked nodes, and hearing own features more raises how often they do. Votes then
  count as much as they say.
- Clusters say more about edges and features together, as the product of both (see
  :func:`nafs.clustering.measures.mutual_information`). Hearing own features more usually raises what they say
  about features, and costs some of what they say about edges. Votes then count twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs._support.scratch import Allocate
from nafs.clustering.edges import Edges, assortativity_of
from nafs.clustering.joint_mixture import JointMixture, columns_for, fit_joint_mixture, log_votes
from nafs.clustering.measures import mutual_information
from nafs.clustering.own_features import BLOCK, OwnFeatures

_TWICE = 2.0  # weight of the votes where they replace the mixture, unless features tell more than edges
_WITHOUT_VOTES = 1 / 8  # of the weight of the votes that replace the mixture: its weight for nodes without
NOTHING = 1e-3  # information about features below which they are assumed to say nothing
_BETTER = 1.01  # factor by which edges and features must prefer the clusters without the mixture

Labels = NDArray[np.int64]
Matrix = NDArray[Any]


class SampledNodes(NamedTuple):
    """Nodes that were voted on: votes, embeddings with the importance of each, and the edges among them."""

    shares: NDArray[np.float64]
    embeddings: list[NDArray[np.float32]]
    importance: list[float]
    edges: Edges | None


class OtherNodes(NamedTuple):
    """All nodes, if only a sample was voted on: which those are, and the embeddings of all."""

    sample: NDArray[np.int64]
    embeddings: list[NDArray[np.float16]]
    allocate: Allocate


class Settled(NamedTuple):
    """The clusters of all nodes, how many own features moved, and why votes replaced the mixture, if so."""

    labels: Labels
    moved: int
    reason: str = ""


class _Votes(NamedTuple):
    """Votes that replace the mixture: their weight, and why; a weight of 0 if the mixture stays."""

    weight: float = 0.0
    reason: str = ""


def settle(sampled: SampledNodes, others: OtherNodes | None, own: OwnFeatures | None) -> Settled:
    """The clusters of all nodes.

    Parameters
    ----------
    sampled : SampledNodes
    others : OtherNodes, optional
        Without it, all nodes were voted on.
    own : OwnFeatures, optional
        The features of all nodes.
    """
    width = columns_for(sampled.shares.shape[1])
    mixture, scores = fit_joint_mixture(
        [rows[:, :width] for rows in sampled.embeddings], sampled.importance, sampled.shares
    )
    smoothed = scores.argmax(axis=0)
    votes, labels = _Votes(), smoothed
    if own is not None:
        known = own if others is None else OwnFeatures(own.features.take(others.sample))
        labels = known.refine(scores).argmax(axis=0)
        if sampled.edges is not None:
            votes = _instead_of_mixture(labels, sampled, sampled.edges, known)
        if votes.weight:
            scores = votes.weight * log_votes(sampled.shares)
            labels = known.refine(scores).argmax(axis=0)
    if others is None:
        return Settled(labels, int((labels != smoothed).sum()), votes.reason)
    return _extend(mixture, scores, smoothed, others, own, votes)


def _instead_of_mixture(labels: Labels, sampled: SampledNodes, edges: Edges, own: OwnFeatures) -> _Votes:
    """The votes that should replace the mixture, which leads to ``labels``."""
    count = sampled.shares.shape[1]

    def together(pairs: Edges, clusters: Labels) -> float:
        return assortativity_of(pairs.table(clusters, count))

    def by_votes(weight: float) -> Labels:
        return np.asarray(own.refine(weight * log_votes(sampled.shares)).argmax(axis=0))

    winner = sampled.shares.argmax(axis=1)
    alike = own.most_alike(edges)
    if (
        alike is not None
        and together(alike, winner) > together(edges, winner)
        and together(alike, by_votes(1.0)) > together(alike, labels)
    ):
        return _Votes(
            1.0, "nodes with similar features and no edge share a cluster more often than linked nodes"
        )
    usual, other = (_rating(each, edges, own, count) for each in (labels, by_votes(_TWICE)))
    if other > _BETTER * usual > 0:
        return _Votes(_TWICE, "clusters then say more about edges and features together")
    return _Votes()


def _rating(labels: Labels, edges: Edges, own: OwnFeatures, count: int) -> float:
    """What clusters say about edges, times what they say about features."""
    information = own.information(labels, count)
    if information < NOTHING:  # rounding, where features are the same for all nodes
        return 0.0
    return mutual_information(edges.table(labels, count)) * information


def _extend(
    mixture: JointMixture,
    scores: Matrix,
    smoothed: Labels,
    others: OtherNodes,
    own: OwnFeatures | None,
    votes: _Votes,
) -> Settled:
    """The clusters of all nodes from those of the sample."""
    count, n_nodes = len(scores), len(others.embeddings[0])
    width = columns_for(count)
    weight = _WITHOUT_VOTES * votes.weight or 1.0
    before = np.empty(n_nodes, np.int64)
    every = None if own is None else others.allocate((count, n_nodes), np.dtype(np.float32))
    for begin in range(0, n_nodes, BLOCK):
        end = min(begin + BLOCK, n_nodes)
        rows = [kept[begin:end, :width].astype(np.float32) for kept in others.embeddings]
        block = mixture.scores(rows)
        before[begin:end] = block.argmax(axis=1)
        if every is not None:
            every[:, begin:end] = weight * block.T
    before[others.sample] = smoothed
    if own is None or every is None:
        return Settled(before, 0)
    every[:, others.sample] = scores
    odds = own.odds(every)
    labels = np.empty(n_nodes, np.int64)
    for begin in range(0, n_nodes, BLOCK):
        end = min(begin + BLOCK, n_nodes)
        labels[begin:end] = (every[:, begin:end].T + own.evidence(odds, begin, end)).argmax(axis=1)
    return Settled(labels, int((labels != before).sum()), votes.reason)
