"""The last step of the consensus: where votes are divided, embeddings and each node's own features decide.

A mixture is fitted to the embeddings of all numbers of hops together, with the votes as a prior (see
:mod:`nafs.clustering.joint_mixture`). Then each node's own features, before smoothing, are heard (see
:mod:`nafs.clustering.own_features`).

Mixtures are sure of themselves, so own features move few nodes. Where they deserve more, they are heard
beside the votes alone. Which of both is used is decided by what the clusters say about the edges times what
they say about the features (see :func:`nafs.clustering.measures.mutual_information`): hearing own features
more usually raises the second, and costs some of the first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nafs._support.scratch import Allocate
from nafs.clustering.edges import Edges
from nafs.clustering.joint_mixture import JointMixture, columns_for, fit_joint_mixture, log_votes
from nafs.clustering.measures import mutual_information
from nafs.clustering.own_features import BLOCK, OwnFeatures

_VOTES = 2  # weight of the votes where they replace the mixture
_WITHOUT_VOTES = 1 / 4  # weight of the mixture where votes replace it, for nodes that have none
_NOTHING = 1e-3  # information about features below which they are assumed to say nothing
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
    """The clusters of all nodes, how many own features moved, and whether votes replaced the mixture."""

    labels: Labels
    moved: int
    without_mixture: bool


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
    without_mixture = False
    if own is not None:
        known = own if others is None else OwnFeatures(own.features.take(others.sample))
        labels = known.refine(scores).argmax(axis=0)
        if sampled.edges is not None:
            beside_votes = _VOTES * log_votes(sampled.shares)
            alternative = known.refine(beside_votes).argmax(axis=0)
            ratings = [_rating(each, sampled, known) for each in (labels, alternative)]
            without_mixture = ratings[1] > _BETTER * ratings[0] > 0
            if without_mixture:
                scores, labels = beside_votes, alternative
    else:
        labels = smoothed
    if others is None:
        return Settled(labels, int((labels != smoothed).sum()), without_mixture)
    return _extend(mixture, scores, smoothed, others, own, without_mixture)


def _rating(labels: Labels, sampled: SampledNodes, own: OwnFeatures) -> float:
    """What clusters say about edges, times what they say about features."""
    count = sampled.shares.shape[1]
    assert sampled.edges is not None
    information = own.information(labels, count)
    if information < _NOTHING:  # rounding, where features are the same for all nodes
        return 0.0
    return mutual_information(sampled.edges.table(labels, count)) * information


def _extend(
    mixture: JointMixture,
    scores: Matrix,
    smoothed: Labels,
    others: OtherNodes,
    own: OwnFeatures | None,
    without_mixture: bool,
) -> Settled:
    """The clusters of all nodes from those of the sample."""
    count, n_nodes = len(scores), len(others.embeddings[0])
    width = columns_for(count)
    weight = _WITHOUT_VOTES if without_mixture else 1.0
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
        return Settled(before, 0, without_mixture)
    every[:, others.sample] = scores
    odds = own.odds(every)
    labels = np.empty(n_nodes, np.int64)
    for begin in range(0, n_nodes, BLOCK):
        end = min(begin + BLOCK, n_nodes)
        labels[begin:end] = (every[:, begin:end].T + own.evidence(odds, begin, end)).argmax(axis=1)
    return Settled(labels, int((labels != before).sum()), without_mixture)
