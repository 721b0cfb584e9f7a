"""Compute the embedding of a graph."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nafs.answers import Clusters, clusters_of
from nafs.embedding.embedding import Embedding
from nafs.engines.progress import ProgressCallback
from nafs.graph import Graph
from nafs.pipeline import Job, Outcome, Settings, decide, execute
from nafs.readers.anything import as_graph
from nafs.smoothing.method import DEFAULT_R
from nafs.structure import DEFAULT_COLUMNS


def embed(
    graph: Any,
    n_hops: int | str = 20,
    r: float | Sequence[float] = DEFAULT_R,
    ensemble: str = "mean",
    weighting: str = "adaptive",
    distance: str = "cosine",
    *,
    preprocessing: str | None = None,
    center: str = "auto",
    goal: str = "clusters",
    n_clusters: int | str | None = None,
    reduce_to: int | None = None,
    reduction: str = "svd",
    structure: str | int = "none",
    columns: int = DEFAULT_COLUMNS,
    seed: int = 0,
    state_dtype: str = "float32",
    n_threads: int | None = None,
    memory_limit: int | str | None = None,
    engine: str = "auto",
    work_dir: str | os.PathLike[str] | None = None,
    dtype: str = "float32",
    resume: bool = False,
    client: Any = None,
    progress: ProgressCallback | None = None,
) -> Embedding:
    """Compute the embedding of a graph, keyed by its node ids.

    Parameters
    ----------
    graph : Graph, NetworkX or igraph graph, PyG Data, data frame of edges, or pair (edges, nodes) of frames
        If it has no features, structural ones are computed from its edges.
    n_hops, r, ensemble, weighting, distance, preprocessing, center, goal, n_clusters, reduce_to, reduction
        As in :class:`nafs.NAFS`.
    structure : {"auto", "none"} or int
        Structural columns beside the graph's features: none, a number, or by hidden edges where the number
        of hops is "auto" too.
    columns, seed : int
        Number of columns and seed of the structural features.
    state_dtype, n_threads, memory_limit, engine, work_dir
        As in :class:`nafs.NAFS`.
    dtype : {"float32", "float16"}
        Type of the embedding.
    resume : bool
        Resume the interrupted run in ``work_dir``, if there is one.
    client : dask.distributed.Client or str, optional
        For ``engine="dask"``: a client or the address of a scheduler. By default the current client, or
        else workers on this machine.
    progress : callable, optional
        Called at least once per hop with a :class:`nafs.Progress`.

    Returns
    -------
    Embedding

    Examples
    --------
    >>> from nafs import embed, from_edges
    >>> friends = from_edges((["ann", "bob"], ["bob", "cy"]))
    >>> embedding = embed(friends, n_hops=5)
    >>> embedding, embedding.ids
    (Embedding(3 nodes x 128 columns), array(['ann', 'bob', 'cy'], dtype=object))
    """
    graph = as_graph(graph)
    settings = Settings.of(
        n_hops=n_hops,
        r=r,
        ensemble=ensemble,
        weighting=weighting,
        distance=distance,
        preprocessing=preprocessing,
        center=center,
        goal=goal,
        n_clusters=n_clusters,
        reduce_to=reduce_to,
        reduction=reduction,
        structure=structure,
        columns=columns,
        seed=seed,
        state_dtype=state_dtype,
        n_threads=n_threads,
        memory_limit=memory_limit,
        engine=engine,
        work_dir=work_dir,
    )
    job = Job.of(graph, settings, dtype=dtype, resume=resume, client=client)
    with execute(decide(job), progress) as outcome:
        embedding = embedding_of(graph, job, outcome)
    return replace(embedding, file=None)


def cluster(
    graph: Any,
    n_clusters: int | str = "auto",
    *,
    r: float | Sequence[float] = DEFAULT_R,
    weighting: str = "adaptive",
    distance: str = "cosine",
    preprocessing: str | None = None,
    center: str = "auto",
    columns: int = DEFAULT_COLUMNS,
    seed: int = 0,
    n_threads: int | None = None,
    memory_limit: int | str | None = None,
    progress: ProgressCallback | None = None,
) -> Clusters:
    """Clusters of a graph's nodes, by the consensus of many partitions at many numbers of hops.

    Parameters
    ----------
    graph : Graph, or anything that :func:`embed` takes
    n_clusters : int or "auto"
    r, weighting, distance, preprocessing, center, columns, n_threads, memory_limit, progress
        As in :func:`embed`.
    seed : int
        Of the partitions, and of structural features where the graph has none.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> import nafs
    >>> from nafs.datasets import contextual_sbm
    >>> graph = contextual_sbm(200, n_classes=2, homophily=0.95, signal=2.0, seed=0)
    >>> nafs.cluster(graph, 2).to_pandas().cluster.nunique()
    2
    """
    graph = as_graph(graph)
    embedding = embed(
        graph,
        n_hops="auto",
        r=r,
        weighting=weighting,
        distance=distance,
        n_clusters=n_clusters,
        preprocessing=preprocessing,
        center=center,
        columns=columns,
        seed=seed,
        n_threads=n_threads,
        memory_limit=memory_limit,
        progress=progress,
    )
    assert embedding.choice is not None
    assert embedding.choice.clustering is not None
    return clusters_of(embedding.matrix, embedding.id_array, embedding.choice.clustering, graph)


def embedding_of(graph: Graph, job: Job, outcome: Outcome) -> Embedding:
    """The outcome of a job as an embedding with the ids and labels of its graph."""
    settings = outcome.settings | {"input": job.fingerprint}
    return Embedding(outcome.matrix, graph.id_array, graph.labels, settings, outcome.choice, outcome.file)


def with_some_features(graph: Graph, columns: int = DEFAULT_COLUMNS, seed: int = 0) -> Graph:
    """The graph itself if it has features; otherwise the graph with structural features and a note."""
    if graph.features is not None:
        return graph
    job = Job.of(graph, Settings.of(columns=columns, seed=seed))
    return graph.with_features(job.features.toarray(), notes=list(job.notes))
