"""Compute the embedding of a graph."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nafs.answers import Clusters
from nafs.embedding.embedding import Embedding
from nafs.engines.progress import ProgressCallback
from nafs.graph import Graph
from nafs.pipeline import Job, Outcome, Settings, decide, execute
from nafs.readers.anything import as_graph
from nafs.smoothing.method import DEFAULT_R


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
    dim: int | str = "auto",
    reduction: str = "svd",
    structure: str | int = "auto",
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
    n_hops, r, ensemble, weighting, distance, preprocessing, center, goal, n_clusters
        As in :class:`nafs.NAFS`.
    dim : int, "auto" or "full"
        Width of the embedding ("concat": for each r). Wider features are reduced to this many columns before
        smoothing, which has the same effect as reducing the embedding; the choice states the loss. "auto"
        reduces features of more than 256 columns to 256 unless the ensemble is "max", which depends on the
        columns themselves. "full" keeps all columns. Without features: the number of structural features,
        by default 128.
    reduction : {"svd", "random"}
        How features are reduced: to their leading singular directions, or by a random projection.
    structure : {"auto", "none"} or int
        Structural columns beside the graph's features: none, or a number of them. "auto" adds them where
        hidden edges show that they help, if the number of hops is "auto" too. With a given number of hops it
        adds none, as in the paper; ``choice.explain()`` says so.
    seed : int
        Seed of structural features and of clusters.
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
        dim=dim,
        reduction=reduction,
        structure=structure,
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
    dim: int | str = "auto",
    structure: str | int = "auto",
    seed: int = 0,
    n_threads: int | None = None,
    memory_limit: int | str | None = None,
    progress: ProgressCallback | None = None,
) -> Clusters:
    """Cluster the nodes of a graph, by the consensus of many partitions at many numbers of hops.

    Parameters
    ----------
    graph : Graph, anything that :func:`embed` takes, or an Embedding
        The vectors of an embedding are clustered as they are; the options below then have no effect.
    n_clusters : int or "auto"
        As in :meth:`Embedding.cluster`.
    r, weighting, distance, preprocessing, center, dim, structure, n_threads, memory_limit, progress
        As in :func:`embed`.
    seed : int
        Seed of the partitions, and of structural features if the graph has no features.

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
    if isinstance(graph, Embedding):
        return graph.cluster(n_clusters)
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
        dim=dim,
        structure=structure,
        seed=seed,
        n_threads=n_threads,
        memory_limit=memory_limit,
        progress=progress,
    )
    return embedding.cluster(n_clusters, graph=graph)


def embedding_of(graph: Graph, job: Job, outcome: Outcome) -> Embedding:
    """The outcome of a job as an embedding with the ids and labels of its graph."""
    settings = outcome.settings | {"input": job.fingerprint}
    return Embedding(
        outcome.matrix, graph.id_array, graph.labels, settings, outcome.choice, outcome.file, graph.id_name
    )


def with_some_features(graph: Graph, dim: int | str = "auto", seed: int = 0) -> Graph:
    """The graph itself if it has features; otherwise the graph with structural features and a note."""
    if graph.features is not None:
        return graph
    job = Job.of(graph, Settings.of(dim=dim, seed=seed))
    return graph.with_features(job.features.toarray(), notes=list(job.notes))
