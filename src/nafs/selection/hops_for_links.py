"""Choose the number of hops for link prediction: the K that best separates hidden edges from non-edges.

In a large graph, sixty hops can be a little better than one, and take sixty times as long. There, the search
stops once the AUC hardly rises, and the smallest K that comes close to the best is chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nafs._support.errors import InputError, MemoryLimitError, Parameter
from nafs.graph import Adjacency, Features, Graph
from nafs.links import SCORES, LinkHead, LinkSplit, PairNumbers, head_nbytes, score_links, split_links
from nafs.links.pairs import Pairs
from nafs.links.top import FIRST, hidden_among_first
from nafs.selection.choice import (
    COLUMNS,
    LADDER,
    LARGE,
    Choice,
    Question,
    fewest_hops,
    search_is_over,
)
from nafs.selection.preprocessing import prepare
from nafs.selection.reduction import reduce

HEAD_COLUMNS = (256, 128, 64, 32)  # leading directions of the features that the head is fitted with
HIDDEN = 0.05  # share of the edges in each of the two hidden sets
DOUBTFUL = 0.6  # AUC on hidden edges below which suggestions are doubtful
_FEW_FIRST = 10  # hidden edges among the first pairs
MOST_HIDDEN = 10_000  # edges per set; enough to measure the AUC to a third of a percentage point
TOLERANCE = 0.002  # AUC by which the chosen number of hops may fall short of the best in a large graph


def choose_for_links(question: Question) -> Choice:
    """The number of hops, the centre and the score with the best AUC on hidden edges."""
    from sklearn.metrics import roc_auc_score

    graph, features = question.graph, question.features
    hidden = min(HIDDEN, MOST_HIDDEN / max(1, int(np.count_nonzero(graph.rows < graph.indices))))
    split = _split(Graph(graph), hidden)
    visible = split.graph.adjacency
    pairs = np.concatenate([split.validation, split.test, split.validation_none, split.test_none])
    truth = np.arange(len(pairs)) < len(split.validation) + len(split.test)
    if question.remake is not None:
        features = question.remake(visible)
    # Two centres may be swept, so features are reduced further than for clusters.
    columns = min(COLUMNS, max(COLUMNS // 2, features.shape[1] // 4))
    prepared = prepare(features, visible, question.preprocessing)
    narrow, _ = reduce(prepared, columns)
    tolerance = TOLERANCE if graph.n_nodes > LARGE else 0.0
    best: tuple[Any, ...] = (-1.0,)
    for center in question.centers:
        # Reduction and centring commute, so wide sparse features never become dense.
        centred = prepare(narrow, visible, "none", center)
        curves: dict[str, dict[int, float]] = {score: {} for score in SCORES}
        copies = visible.nbytes + (0 if centred is narrow else narrow.nbytes)
        for hop, matrix in question.sweep(visible, centred, (0, *LADDER), held=copies):
            for score, curve in curves.items():
                curve[hop] = float(roc_auc_score(truth, score_links(matrix, pairs, score)))
            if all(search_is_over(curve, tolerance) for curve in curves.values()):
                break
        for score, curve in curves.items():
            if max(curve.values()) > best[0]:
                best = (max(curve.values()), center, score, curve)
    value, center, score, curve = best
    hops, n_hidden = fewest_hops(curve, tolerance), int(truth.sum())
    quality = "the best"
    if curve[hops] < value:
        quality = f"within {tolerance} of the best"
    centering = "without centering" if center == "none" else f"with the {center} subtracted"
    product = "inner product" if score == "inner" else score
    reasons = [
        f"{hops} hop{'' if hops == 1 else 's'}, {centering}: the {product} of the vectors recognises "
        f"{n_hidden:,} hidden edges with an AUC of {curve[hops]:.3f}, {quality} of 0 to {max(curve)} hops"
    ]
    chance = 0.5 + 3 / np.sqrt(6 * n_hidden)  # three standard errors above guessing
    if value < max(DOUBTFUL, chance):
        reasons.append(
            f"suggested links are doubtful: an AUC of {value:.3f} on {n_hidden:,} hidden edges is hardly "
            "better than guessing"
        )
    groups = (
        np.concatenate([split.validation, split.test]),
        np.concatenate([split.validation_none, split.test_none]),
        np.concatenate([split.validation_hard, split.test_hard]),
    )
    del narrow, centred, matrix
    head, first = _fit_head(question, prepared, visible, (hops, center), split, groups)
    suggest_by = "cosine" if first["cosine"] > first["head"] else "head"
    reasons.append(f"weights of the link head, a regression fitted on hidden edges: {head.explain()}")
    ranked_by = "the link head" if suggest_by == "head" else "cosine similarity"
    reasons.append(
        f"suggestions are ranked by {ranked_by}: of the {FIRST} pairs that the link head puts first, "
        f"{first['head']} are hidden edges; of those that cosine similarity puts first, {first['cosine']}"
    )
    if max(first.values()) < _FEW_FIRST:
        reasons.append("hardly any of these pairs are hidden edges, so the first suggestions are uncertain")
    return Choice(
        hops, question.preprocessing, center, tuple(reasons), curve, score, head=head, suggest_by=suggest_by
    )


def _fit_head(
    question: Question,
    prepared: Features,
    visible: Adjacency,
    chosen: tuple[int, str],
    split: LinkSplit,
    groups: tuple[Pairs, Pairs, Pairs],
) -> tuple[LinkHead, dict[str, int]]:
    """The link head, fitted with as many leading directions as the memory limit allows.

    Also how many hidden edges come first by a head that was fitted on the other half of them, and by cosine.
    """
    hops, center = chosen
    for columns in HEAD_COLUMNS:
        centred = prepare(reduce(prepared, columns)[0], visible, "none", center)
        fitting = head_nbytes(visible, centred.shape[1], sum(map(len, groups)))
        try:
            sweep = question.sweep(visible, centred, (hops,), held=visible.nbytes + fitting)
        except MemoryLimitError:
            if columns == HEAD_COLUMNS[-1]:
                raise
            continue
        ((_, matrix),) = sweep
        numbers = PairNumbers(visible, matrix)
        values = numbers.of_each(groups)
        halves = (split.validation, split.validation_none, split.validation_hard)  # first in each group
        half = LinkHead.fit_values(
            *(all_of[: len(part)] for all_of, part in zip(values, halves, strict=True))
        )
        return LinkHead.fit_values(*values), hidden_among_first(numbers, half, split.test)
    raise AssertionError


def _split(graph: Graph, share: float) -> LinkSplit:
    """Hidden edges, with non-edges drawn by degree unless the graph is too dense around its hubs."""
    try:
        return split_links(graph, validation=share, test=share)
    except InputError:
        if graph.adjacency.directed:  # no number of hops would help
            raise
        try:
            return split_links(graph, validation=share, test=share, hard=False)
        except InputError as error:
            hint = ("; nothing has to be chosen if ", Parameter("n_hops"), " is a number")
            raise InputError(*error.parts, *hint) from None
