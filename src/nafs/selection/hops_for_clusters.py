"""The number of hops for clusters, and the clusters, from the features and the edges alone.

One sweep over a few leading directions of the features gives an embedding for each number of hops. In a large
graph, the sweep takes two of the r's: their mean is nearly that of all, and it takes a third of the time.
:mod:`nafs.clustering.consensus` describes how they are clustered.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nafs._support.budget import check_limit, program_bytes
from nafs._support.scratch import scratch_in
from nafs.clustering.consensus import ClusterSearch, search_nbytes
from nafs.clustering.edges import Edges
from nafs.clustering.number import NUMBERS
from nafs.clustering.own_features import OwnFeatures
from nafs.clustering.sample import SAMPLE, SMALLEST, draw, sample_size
from nafs.engines.base import FeatureSize
from nafs.selection.choice import LADDER, LARGE, Choice, Question
from nafs.selection.preprocessing import prepare
from nafs.selection.reduction import find_directions, projected
from nafs.smoothing.method import AUTO

LIBRARIES = 96 << 20  # bytes of scikit-learn and linear algebra beyond those of every command
COLUMNS = 256  # leading directions of the features
_KEPT = 1 << 22  # values of directions that are kept for the embedding, which usually needs the same ones
HOPS = LADDER[: LADDER.index(20) + 1]  # larger ones are tried if clusters get better up to the last


def search_clusters(question: Question, sample: int = SAMPLE) -> ClusterSearch:
    """Embeddings for all numbers of hops, ready to be clustered; partitions of a sample are compared."""
    graph, wanted = question.graph, _wanted(question)
    most = None if isinstance(wanted, str) else wanted
    limit = question.resources.limit
    while limit is not None and sample > SMALLEST and _at_most(question, most, sample) > limit:
        sample = max(sample // 2, SMALLEST)
    needed = sum(_needed(question, most, sample))
    check_limit(
        _at_most(question, most, sample),
        limit,
        "looking for clusters at several numbers of hops takes",
        "raise the limit, or give a number of hops",
    )
    prepared = prepare(question.features, graph, question.preprocessing, question.centers[0])
    directions = find_directions(prepared, max(COLUMNS, 4 * (most or 0)))
    narrow = prepared if directions is None else projected(prepared, directions)
    if graph.n_nodes > LARGE:
        question = question.with_two_r()
    search = ClusterSearch(
        question.sweep(graph, narrow, LADDER, held=needed),
        most,
        n_usual=len(HOPS),
        graph=graph,
        features=prepared,
        sample=sample,
        sample_seed=question.preparations.seed,
        allocate=np.empty if limit is None else scratch_in(None),
    )
    if directions is not None and directions.size <= _KEPT:
        search.directions = directions
    return search


def _needed(question: Question, most: int | None, sample: int) -> tuple[int, int]:
    """Approximate bytes that the search holds during the sweep, and those that it needs after it."""
    graph, limit = question.graph, question.resources.limit
    count = NUMBERS[-1] if most is None else most
    size = sample_size(count, sample)
    nodes = draw(graph.n_nodes, size, graph, question.preparations.seed)
    columns, in_files = _n_columns(question, most), limit is not None
    held = search_nbytes(graph.n_nodes, columns, most, len(LADDER), sample=sample, in_files=in_files)
    held += Edges.nbytes(graph, nodes) + (LIBRARIES if program_bytes(limit) else 0)
    return held, OwnFeatures.nbytes(question.features, 0 if nodes is None else size, count)


def _at_most(question: Question, most: int | None, sample: int) -> int:
    """Approximate bytes of the search and of the sweep, which is kept in case that it is continued."""
    needed, later = _needed(question, most, sample)
    if question.graph.n_nodes > LARGE:
        question = question.with_two_r()
    columns, narrow = _n_columns(question, most), FeatureSize.of(question.features)
    if columns < narrow.n_columns:
        narrow = FeatureSize(columns, 4 * columns * question.graph.n_nodes)
    return question.sweep_nbytes(narrow, LADDER, held=needed + later)


def _n_columns(question: Question, most: int | None) -> int:
    """The number of columns that are smoothed."""
    return min(question.features.shape[1], max(COLUMNS, 4 * (most or 0)))


def choose_for_clusters(question: Question) -> Choice:
    """The clusters that most partitions agree on, and the number of hops that reproduces them best."""
    wanted, requested = _wanted(question), question.preparations.n_clusters
    search = search_clusters(question)
    clustering = search.cluster(wanted, question.preparations.seed)
    reasons = clustering.reasons
    if isinstance(requested, int) and requested != wanted:
        reasons += (f"{wanted} clusters instead of {requested}: there are only {wanted} nodes",)
        clustering = replace(clustering, reasons=reasons)
    return Choice(
        clustering.n_hops,
        question.preprocessing,
        question.centers[0],
        reasons,
        clustering.curve,
        clustering=clustering,
        directions=search.directions,
    )


def _wanted(question: Question) -> int | str:
    """The number of clusters, or "auto" if the user sets none."""
    count = question.preparations.n_clusters
    if count is None or count == AUTO:
        return AUTO
    return min(int(count), question.graph.n_nodes)
