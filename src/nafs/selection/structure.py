"""Structural columns beside features: whether they help, decided without labels.

Some edges are hidden. Structural features of the remaining graph are put beside the features, with different
shares of the squared length of a row. The share that best separates hidden edges from other pairs is chosen.
For clusters there is one exception: features can have clear groups that the edges hardly follow. If two
halves of many columns find the same clusters, the features stay alone, whatever the edges say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.clustering import mixture, project
from nafs.graph import Adjacency, Features, Graph, read_features
from nafs.links import score_links, split_links
from nafs.selection.reduction import reduce, reduction_nbytes

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9)
ENOUGH = 0.005  # an AUC this close to the best is as good as the best
GAIN = 0.05  # gain in AUC that structural columns have to bring beside many columns
GAIN_BESIDE_FEW = 0.02  # for clusters beside a few, which cannot describe many groups
SURE = 2.0  # standard errors that any gain has to exceed
HOPS = (0, 1, 3, 8)
MANY = 64  # columns; with fewer, the edges decide alone
_HALF = 128  # directions of each half of the columns; groups of rare words are not among the first 64
AGREEMENT = 0.1  # adjusted Rand index of the clusters that two halves of the columns find
_HALF_HOPS = (3, 1)  # the second is tried only if the first finds nothing
_CLUSTERS = 8
_HIDDEN = 0.05  # share of the edges in each of the two hidden sets
_MOST_HIDDEN = 10_000

Sweep = Callable[[Adjacency, Features, tuple[int, ...]], Iterator[tuple[int, NDArray[np.float32]]]]


@dataclass(frozen=True)
class StructureChoice:
    """The share of structural columns, why, and the AUC on hidden edges for each share that was tried.

    ``computed`` holds the graph without the hidden edges and its structural columns.
    """

    share: float
    reason: str
    curve: dict[float, float] = field(default_factory=dict)
    computed: tuple[Adjacency, Features] | None = field(default=None, compare=False)


def choose_structure(
    graph: Adjacency,
    features: Features,
    make: Callable[[Adjacency], Features],
    sweep: Sweep,
    *,
    goal: str = "clusters",
) -> StructureChoice:
    """The share of structural columns beside features.

    Parameters
    ----------
    graph : Adjacency
        Undirected.
    features : Features
        As they go into smoothing.
    make : callable
        Makes structural features from a graph.
    sweep : callable
        Returns the embeddings of features for some numbers of hops.
    goal : {"clusters", "links"}

    Returns
    -------
    StructureChoice
    """
    n_edges = graph.n_stored // 2
    if graph.directed or n_edges < 20:
        return StructureChoice(
            0.0, "no structural columns: testing them needs an undirected graph of at least 20 edges"
        )
    if goal == "clusters":
        agreement = halves_agreement(graph, features, sweep)
        if agreement >= AGREEMENT:
            return StructureChoice(
                0.0,
                "no structural columns: the features form clusters by themselves, because two random halves "
                f"of the columns agree on clusters beyond chance (adjusted Rand index {agreement:.2f})",
            )
    narrow, _ = reduce(features, MANY)
    hidden = min(_HIDDEN, _MOST_HIDDEN / n_edges)
    try:
        split = split_links(Graph(graph), validation=hidden, test=hidden, hard=False)
    except InputError as error:  # nearly all pairs have an edge
        return StructureChoice(0.0, f"no structural columns: {error}")
    visible = split.graph.adjacency
    pairs = np.concatenate([split.validation, split.test, split.validation_none, split.test_none])
    truth = np.arange(len(pairs)) < len(split.validation) + len(split.test)
    structural = make(visible)
    curve, placed = {}, {}
    for share in SHARES:
        mixed = beside(narrow, structural, share)
        scores = (score_links(matrix, pairs, "cosine") for _, matrix in sweep(visible, mixed, HOPS))
        placed[share] = max((placements(truth, score) for score in scores), key=Placements.auc)
        curve[share] = placed[share].auc()
    best = max(curve.values())
    good = [share for share, value in curve.items() if value >= best - ENOUGH]
    # Features stay alone unless they clearly fail to explain the edges: on Cora, structural columns recognise
    # hidden edges a little better and cost ten points of accuracy. Features that fail get as little weight as
    # possible, because they may be noise.
    share = max(good)
    gain = GAIN if features.shape[1] >= MANY or goal == "links" else GAIN_BESIDE_FEW
    gain = max(gain, SURE * placed[share].standard_error(placed[0.0]))
    if curve[share] - curve[0.0] <= gain:
        share = 0.0
    quality = f"hidden edges are recognised with an AUC of {curve[share]:.3f}"
    if share == 0:
        reason = f"no structural columns: {quality} without them, {best:.3f} with them"
        return StructureChoice(0.0, reason, curve)
    reason = f"structural columns with {share:.0%} of the weight: {quality}, {curve[0.0]:.3f} without them"
    return StructureChoice(share, reason, curve, (visible, structural))


class Placements(NamedTuple):
    """How scores place hidden edges and other pairs; the mean of either is the AUC.

    Attributes
    ----------
    edges : ndarray
        For each hidden edge, the share of the other pairs with a lower score.
    others : ndarray
        For each other pair, the share of the hidden edges with a higher score.
    """

    edges: NDArray[np.float64]
    others: NDArray[np.float64]

    def auc(self) -> float:
        """The area under the ROC curve."""
        return float(self.edges.mean())

    def standard_error(self, reference: Placements) -> float:
        """The standard error of the difference of two AUCs on the same pairs (DeLong et al., 1988)."""
        variances = [
            np.var(mine - other, ddof=1) / len(mine) for mine, other in zip(self, reference, strict=True)
        ]
        # Where all pairs are placed right, the variance is 0, however few they are.
        return max(float(np.sqrt(sum(variances))), 1 / (2 * min(map(len, self))))


def placements(truth: NDArray[np.bool_], scores: NDArray[Any]) -> Placements:
    """How scores place hidden edges and other pairs relative to each other; ties count half.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.selection.structure import placements
    >>> placements(np.array([True, True, False, False]), np.array([3.0, 1.0, 2.0, 0.0])).auc()
    0.75
    """
    from scipy.stats import rankdata

    ranks = rankdata(scores)
    n_edges, n_others = int(truth.sum()), int((~truth).sum())
    above = (ranks[truth] - rankdata(scores[truth])) / n_others
    below = 1 - (ranks[~truth] - rankdata(scores[~truth])) / n_edges
    return Placements(above, below)


def structure_choice_nbytes(graph: Adjacency, features: Features, n_columns: int, making: int) -> int:
    """Bytes that :func:`choose_structure` needs besides the features and a sweep.

    ``making`` is what computing the structural columns needs.
    """
    n, f = features.shape
    halves = 5 * features.nbytes  # the columns as a sparse matrix, and one half of them
    halves += reduction_nbytes(n, f, _HALF) if f > _HALF else 0
    mixing = making + 24 * graph.n_stored + 8 * n * (MANY + n_columns)  # visible edges, and two mixtures
    return max(halves, mixing)


def halves_agreement(graph: Adjacency, features: Features, sweep: Sweep, seed: int = 0) -> float:
    """Adjusted Rand index of the clusters that two halves of the columns find; 0 if there are few columns.

    After three hops most groups are clearer; but where edges rarely stay within groups, they are blurred, and
    one hop counts if it shows more.
    """
    from sklearn.metrics import adjusted_rand_score

    n, f = features.shape
    if f < MANY or n < 2 * _CLUSTERS:
        return 0.0
    order = np.random.default_rng(seed).permutation(f)
    matrix, described = sp.csc_array(features.matrix), features.norms > 0
    best = 0.0
    for hop in _HALF_HOPS:
        clusters = []
        for part in (order[::2], order[1::2]):
            narrow, _ = reduce(read_features(sp.csr_array(matrix[:, part])), _HALF)
            *_, (_, smoothed) = sweep(graph, narrow, (hop,))
            points = project(smoothed, 2 * _CLUSTERS)
            clusters.append(mixture(points, _CLUSTERS, n_init=3, max_iter=30, most=5000)[described])
        best = max(best, float(adjusted_rand_score(*clusters)))
        if best >= AGREEMENT:
            break
    return best


def beside(features: Features, structural: Features, share: float) -> Features:
    """Features and structural columns side by side.

    Parameters
    ----------
    features, structural : Features
        With a row for each node.
    share : float
        Share of the mean squared length of a row that the structural columns have.

    Examples
    --------
    >>> from nafs.graph import read_features
    >>> from nafs.selection.structure import beside
    >>> beside(read_features([[3.0], [4.0]]), read_features([[1.0], [-1.0]]), 0.5).toarray().round(2)
    array([[ 0.6 ,  0.71],
           [ 0.8 , -0.71]], dtype=float32)
    """
    if share == 0:
        return features
    blocks = []
    for block, weight in ((features, 1 - share), (structural, share)):
        length = np.sqrt(float((block.norms.astype(np.float64) ** 2).mean()))
        blocks.append(block.matrix * np.float32(np.sqrt(weight) / length if length > 0 else 0.0))
    if features.is_sparse:
        return read_features(sp.csr_array(sp.hstack([blocks[0], sp.csr_array(blocks[1])], format="csr")))
    return read_features(np.hstack(blocks).astype(np.float32))
