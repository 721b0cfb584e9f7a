"""Clusters by consensus: many partitions of one graph, and what they have in common.

Candidates come from every head at every number of hops of one sweep. None of them is right everywhere, and
no criterion that is computed from the graph alone picks the right one. But wrong partitions are wrong in
different ways. Each candidate therefore votes. Its vote counts the more, the more it agrees with the others
and says about the edges. Most heads split a group that holds half of the graph, and would outvote those that
do not. If there are several numbers of hops, the candidates of the head ``absorbed``, which can leave such a
group whole, therefore vote separately (see :mod:`nafs.clustering.ballot`).

The last step fits a mixture to the embeddings of all numbers of hops together and hears each node's own
features (see :mod:`nafs.clustering.last_step`). A number of hops counts by the agreement of its candidates
with the winner, again to the fourth power.

If clusters get better up to the largest number of hops, larger ones are tried as well (see
:mod:`nafs.clustering.candidates`).

For large graphs, candidates are partitions of a sample of the nodes (see :mod:`nafs.clustering.sample`), and
the last step assigns the other nodes, without votes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.blas import one_blas_thread
from nafs._support.errors import InputError, Parameter
from nafs._support.scratch import Allocate
from nafs.clustering.agreement import overlaps
from nafs.clustering.ballot import POWER, Winner, elect, indices_with
from nafs.clustering.candidates import (
    COMPARED,
    Candidates,
    Ratings,
    candidates_nbytes,
    choose_hops,
    find_candidates,
    is_rising,
    rate_hops,
)
from nafs.clustering.chance import agreement_by_chance
from nafs.clustering.directions import Directions
from nafs.clustering.edges import Edges
from nafs.clustering.heads import ALL_HEADS
from nafs.clustering.joint_mixture import columns_for
from nafs.clustering.last_step import OtherNodes, SampledNodes, Settled, settle
from nafs.clustering.number import NUMBERS, PARTS, ROWS, Part, choose_number, number_curve
from nafs.clustering.own_features import OwnFeatures
from nafs.clustering.reasons import Course, reason_for_number, reasons_for
from nafs.clustering.result import AGREES, Clustering
from nafs.clustering.sample import SAMPLE, draw, sample_size
from nafs.graph import Adjacency, Features

_SMALL = 5000  # nodes up to which one part of them is enough to choose the number of clusters
_ENOUGH_HOPS = 3  # numbers of hops needed for a vote on uneven clusters
_BLOCK = 1 << 14  # rows multiplied at a time

Sweep = Iterable[tuple[int, NDArray[Any]]]


class ClusterSearch:
    """The embeddings of one sweep, ready to be clustered with any seed and any number of clusters.

    Parameters
    ----------
    sweep : iterable of (int, ndarray of shape (n, d))
        Numbers of hops and embeddings. Embeddings are not kept, so they may share one buffer.
    n_usual : int, optional
        Numbers of hops that are read from the sweep, by default all. The sweep is only continued if clusters
        get better up to the last of them.
    most_clusters : int, optional
        The largest number of clusters that will be requested; by default the largest that "auto" tries.
    graph : Adjacency, optional
        Its edges weigh the candidates, merge small clusters into large ones, and help to choose the number
        of clusters.
    features : Features, optional
        The features before smoothing. If none is negative, they count beside the embeddings in the last step.
    sample : int
        Nodes whose partitions are compared.
    sample_seed : int
        Seed of the choice of these nodes, where there are more.
    allocate : callable
        Allocates arrays with a few values per node for each number of hops, in memory or in files.

    Attributes
    ----------
    most_clusters : int
    heads : tuple of str
        The heads that produce candidates. Set it to leave some out and see what they contribute. At least one
        head besides ``absorbed`` is needed, and ``merged`` works only with a graph.
    weigh_by_edges : bool
        Whether votes are weighted by what the candidates say about the edges. Only then larger numbers of
        hops than those of the sweep are tried.
    use_own_features : bool
        Whether the features before smoothing count in the last step.
    directions : ndarray, optional
        The directions that the features were reduced to before the sweep, if they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering import ClusterSearch
    >>> corners = np.repeat(np.eye(3), 20, axis=0)
    >>> search = ClusterSearch([(1, corners + 0.01 * np.random.default_rng(0).random(corners.shape))], 3)
    >>> clustering = search.consensus(3)
    >>> np.bincount(clustering.labels), round(clustering.agreement, 2)
    (array([20, 20, 20]), 1.0)
    """

    @one_blas_thread()
    def __init__(
        self,
        sweep: Sweep,
        most_clusters: int | None = None,
        *,
        n_usual: int | None = None,
        graph: Adjacency | None = None,
        features: Features | None = None,
        sample: int = SAMPLE,
        sample_seed: int = 0,
        allocate: Allocate = np.empty,
    ) -> None:
        self.n_nodes = 0
        self.heads = ALL_HEADS
        self.weigh_by_edges = True
        self.use_own_features = True
        self.directions: NDArray[np.float32] | None = None
        self.hops: dict[int, Directions] = {}
        self._own = OwnFeatures(features) if features is not None and OwnFeatures.can_use(features) else None
        self._allocate = allocate
        self._edges: Edges | None = None
        self._order: NDArray[np.int64] | None = None
        self._all_rows: dict[int, NDArray[np.float16]] = {}
        self.most_clusters = NUMBERS[-1] if most_clusters is None else most_clusters
        self._rest = iter(sweep)

        def start(n_nodes: int) -> None:
            self.n_nodes = n_nodes
            self.sample = draw(n_nodes, sample_size(self.most_clusters, sample), graph, sample_seed)
            self._edges = None if graph is None else Edges.among(graph, self.sample)
            if self.sample is None and n_nodes > _SMALL:  # the nodes of a sample already are in such an order
                self._order = draw(n_nodes, PARTS * ROWS, graph, sample_seed)

        self._read(islice(self._rest, n_usual), start)
        if not self.hops:
            raise InputError("there is no embedding to cluster")
        self._usual = list(self.hops)

    def _read(self, sweep: Sweep, start: Callable[[int], None] | None = None) -> None:
        """Keep the leading directions of each embedding; ``start`` is called with the number of nodes."""
        directions: dict[int, Future[Directions]] = {}
        with ThreadPoolExecutor(1) as pool:  # directions are found while the sweep goes on
            for hop, embedding in sweep:
                matrix = embedding if embedding.shape[1] > 1 else _with_constant(embedding)
                if start is not None and not directions:
                    start(len(matrix))
                # Scaled so that products of columns neither vanish nor overflow.
                largest = np.float32(
                    max(abs(float(matrix.max(initial=0))), abs(float(matrix.min(initial=0)))) or 1
                )
                rows = (
                    np.asarray(matrix if self.sample is None else matrix[self.sample], np.float32) / largest
                )
                wait(directions.values())  # so that one copy of the rows is waiting at most
                directions[hop] = pool.submit(Directions.of, rows, 4 * self.most_clusters)
                if self.sample is not None:
                    axes = directions[hop].result().axes[:, : columns_for(self.most_clusters)] / largest
                    rows = self._allocate((len(matrix), axes.shape[1]), np.float16)
                    for begin in range(0, len(matrix), _BLOCK):
                        rows[begin : begin + _BLOCK] = matrix[begin : begin + _BLOCK] @ axes
                    self._all_rows[hop] = rows
        self.hops |= {hop: future.result() for hop, future in directions.items()}

    def _sampled_features(self) -> OwnFeatures | None:
        """The features of the sampled nodes before smoothing, if they are known."""
        if self._own is None or self.sample is None:
            return self._own
        return OwnFeatures(self._own.features.take(self.sample))

    @one_blas_thread()
    def number_curve(self, seed: int = 0) -> dict[int, float]:
        """The criterion for each number of clusters that is tried; see :mod:`nafs.clustering.number`."""
        chosen = self._some_hops(self._usual)
        n_rows = len(chosen[0].rows)
        if n_rows <= ROWS:
            places = [np.arange(n_rows)]
        elif self.n_nodes <= _SMALL:
            places = [np.sort(np.random.default_rng(seed).choice(n_rows, ROWS, replace=False))]
        else:
            order = np.arange(n_rows) if self._order is None else self._order
            places = [order[top : top + ROWS] for top in range(0, len(order) - ROWS + 1, ROWS)][:PARTS]
        parts = [
            Part(
                [Directions(one.rows[rows], one.axes) for one in chosen],
                None if self._edges is None else self._edges.among_rows(rows, n_rows),
            )
            for rows in places
        ]
        return number_curve(parts, len(places[0]) - 1, seed)

    def _some_hops(self, hops: list[int]) -> list[Directions]:
        """Embeddings for few, medium and many of some numbers of hops."""
        return [self.hops[hops[at]] for at in sorted({len(hops) * part // 6 for part in (1, 3, 5)})]

    def cluster(self, n_clusters: int | str, seed: int = 0) -> Clustering:
        """The consensus; if the number of clusters is "auto", it is chosen first."""
        if n_clusters != "auto":
            return self.consensus(int(n_clusters), seed)
        if self.n_nodes < 4:
            return self.consensus(1, seed)
        curve = self.number_curve()
        number = choose_number(curve)
        clustering = self.consensus(number, seed)
        reason = reason_for_number(curve, number, with_edges=self._edges is not None)
        return replace(clustering, numbers=curve, reasons=(reason, *clustering.reasons))

    @one_blas_thread()
    def consensus(self, n_clusters: int, seed: int = 0) -> Clustering:
        """The clusters that most candidates agree on.

        Parameters
        ----------
        n_clusters : int
            At most ``most_clusters``.
        seed : int
            Seed of the starts of all heads.

        Returns
        -------
        Clustering
        """
        if not 1 <= n_clusters <= self.n_nodes:
            raise InputError(
                Parameter("n_clusters"),
                f" must be from 1 to the number of nodes, {self.n_nodes}; got {n_clusters}",
            )
        candidates = self.candidates(n_clusters, seed)
        used = sorted(set(candidates.hops.tolist()))
        split = (candidates.labels != candidates.labels[:, :1]).any(axis=1)
        if split.any() and not split.all():  # partitions with one cluster agree, and say nothing
            candidates = candidates.where(split)
        winner, uneven = elect(
            candidates.labels,
            candidates.heads == "absorbed",
            n_clusters,
            self._edges,
            lambda: self._sampled_features() if self.use_own_features else None,
            weigh=self.weigh_by_edges,
        )
        labels, moved, own_features_first = self._settle(winner, candidates, used)
        sampled = labels if self.sample is None else labels[self.sample]
        indices = indices_with(sampled, candidates.labels, n_clusters)
        curve = {hop: float(indices[candidates.hops == hop].mean()) for hop in used if hop in candidates.hops}
        present = np.unique(labels)
        clustering = Clustering(
            labels if len(present) == n_clusters else np.searchsorted(present, labels),
            max(curve, key=lambda hop: curve[hop]),
            len(present),
            float(indices.mean()),
            agreement_by_chance(self._some_hops(used), n_clusters),
            len(indices),
            int((indices >= AGREES).sum()),
            overlaps(sampled, candidates.labels, n_clusters)[present],
            curve,
        )
        n_sampled = 0 if self.sample is None else len(self.sample)
        course = Course(
            used, self._usual, self._own is not None, n_sampled, uneven, moved, own_features_first
        )
        return replace(clustering, reasons=tuple(reasons_for(clustering, n_clusters, course)))

    @one_blas_thread()
    def candidates(self, n_clusters: int, seed: int = 0) -> Candidates:
        """Partitions of the sample by all heads at all numbers of hops that are used."""
        usual = self._candidates_at(self._usual, n_clusters, seed)
        if self._edges is None or not self.weigh_by_edges:
            return usual
        last = usual.where(np.isin(usual.hops, self._usual[-COMPARED:]))
        if not is_rising(self._rate(last, n_clusters), self._own is not None):
            return usual
        try:
            self._read(self._rest)
        except BaseException:
            self._rest = _interrupted()  # which cannot be continued: later calls would miss some hops
            raise
        further = [hop for hop in self.hops if hop not in self._usual]
        if not further:
            return usual
        starts = int(((usual.hops == usual.hops[0]) & (usual.heads == usual.heads[0])).sum())
        every = usual.concatenated(self._candidates_at(further, n_clusters, seed, starts))
        chosen = choose_hops(self._rate(every, n_clusters), self._usual[-1])
        return every.where(np.isin(every.hops, chosen))

    def _rate(self, candidates: Candidates, n_clusters: int) -> Ratings:
        """The rating of each number of hops. The features of the sample are not kept."""
        assert self._edges is not None
        return rate_hops(candidates, n_clusters, self._edges, self._sampled_features())

    def _candidates_at(
        self, hops: list[int], n_clusters: int, seed: int, starts: int | None = None
    ) -> Candidates:
        """Partitions of the sample by all heads at some numbers of hops."""
        # Agreement between starts alone is too weak a reason to prefer clusters of uneven size.
        heads = [head for head in self.heads if head != "absorbed" or len(self.hops) >= _ENOUGH_HOPS]
        embeddings = {hop: self.hops[hop] for hop in hops}
        return find_candidates(embeddings, n_clusters, seed, heads=heads, edges=self._edges, starts=starts)

    def _settle(self, winner: Winner, candidates: Candidates, used: list[int]) -> Settled:
        """The clusters of all nodes by the last step."""
        indices = indices_with(winner.labels, candidates.labels, winner.shares.shape[1])
        of_hop = {hop: indices[candidates.hops == hop] for hop in used}
        sampled = SampledNodes(
            winner.shares,
            [self.hops[hop].rows for hop in used],
            [max(float(values.mean()), 0.0) ** POWER if len(values) else 0.0 for values in of_hop.values()],
            self._edges,
        )
        others = None
        if self.sample is not None:
            others = OtherNodes(self.sample, [self._all_rows[hop] for hop in used], self._allocate)
        return settle(sampled, others, self._own if self.use_own_features else None)


def _with_constant(column: NDArray[Any]) -> NDArray[Any]:
    """A single column, beside a constant: rows of one number have no direction, rows of both have."""
    return np.column_stack([column, np.full(len(column), np.std(column) or 1, column.dtype)])


def _interrupted() -> Iterator[tuple[int, NDArray[Any]]]:
    raise RuntimeError("the sweep over hops was interrupted; make a new search")
    yield


def search_nbytes(
    n_nodes: int,
    n_columns: int,
    n_clusters: int | None,
    n_hops: int,
    *,
    sample: int = SAMPLE,
    in_files: bool = False,
) -> int:
    """Approximate bytes that a search holds; ``in_files``: without the arrays that are kept in files."""
    most = NUMBERS[-1] if n_clusters is None else n_clusters
    size = sample_size(most, sample)
    rows, width = min(n_nodes, size), min(columns_for(most), n_columns)
    # Leading directions of all nodes at every number of hops, and the scores of all nodes in the end.
    others = 2 * n_nodes * width if n_nodes > size and not in_files else 0
    scores = 4 * n_nodes * most if n_nodes > size and not in_files else 0
    directions = 4 * rows * (min(4 * most, n_columns) + width)
    candidates = candidates_nbytes(rows, most, n_hops, len(ALL_HEADS))
    copies = 8 * rows * n_columns  # of one embedding
    return n_hops * (directions + others) + candidates + scores + copies
