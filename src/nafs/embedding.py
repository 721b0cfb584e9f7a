"""Embedding: vectors that know which node they belong to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.budget import show_bytes
from nafs.checks import check_choice
from nafs.engines import run
from nafs.engines.progress import ProgressCallback
from nafs.engines.settings import Settings
from nafs.graph import Adjacency, Features, Graph, Labels, read_features, structural_features
from nafs.graph.ids import as_numpy
from nafs.graph.structural import DEFAULT_COLUMNS
from nafs.selection import Choice, choose
from nafs.smoothing.hops import STATE_DTYPES
from nafs.writers import write_embedding
from nafs.writers.embeddings import LAYOUTS, embedding_table, id_table


@dataclass(frozen=True, eq=False)
class Embedding:
    """Row i of ``matrix`` belongs to node ``ids[i]``.

    Attributes
    ----------
    matrix : ndarray of float32, shape (n, columns)
    id_array : Arrow array of n ids
    labels : Labels, optional
    settings : dict
        How it was made.
    choice : Choice, optional
        What was left open and chosen.
    file : Path, optional
        The .npy file that ``matrix`` is mapped from, while it is there.
    """

    matrix: NDArray[np.float32]
    id_array: Any
    labels: Labels | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    choice: Choice | None = None
    file: Path | None = None

    def __repr__(self) -> str:
        n, columns = self.matrix.shape
        return f"Embedding({n} nodes x {columns} columns)"

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def ids(self) -> NDArray[Any]:
        """Node ids: int64, or strings in an object array."""
        return as_numpy(self.id_array)

    def to_arrow(self, layout: str = "list") -> Any:
        """An Arrow table: id, label where known, and one column of lists or one column per dimension."""
        check_choice("layout", layout, LAYOUTS)
        labels = None if self.labels is None else self.labels.to_arrow()
        table = id_table(self.id_array, labels, 0, len(self))
        return embedding_table(self.matrix, table, lists=layout == "list")

    def to_pandas(self) -> Any:
        """A pandas data frame with the ids as index and one column per dimension."""
        import pandas

        columns = [f"e{i}" for i in range(self.matrix.shape[1])]
        return pandas.DataFrame(self.matrix, index=pandas.Index(self.ids, name="id"), columns=columns)

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the embedding; options as in :func:`nafs.writers.write_embedding`."""
        labels = None if self.labels is None else self.labels.to_arrow()
        write_embedding(path, self.matrix, self.id_array, labels, file=self.file, **options)


def with_some_features(graph: Graph, n_columns: int = DEFAULT_COLUMNS, seed: int = 0) -> Graph:
    """The graph itself if it has features; otherwise with structural ones, and a note about them."""
    if graph.features is not None:
        return graph
    made = structural_features(graph.adjacency, n_columns, seed)
    return graph.with_features(made, notes=[structural_note(n_columns, seed)])


def structural_note(n_columns: int, seed: int) -> str:
    """What is said where features had to be made."""
    return f"no features given: {n_columns} structural features from the graph alone (seed {seed})"


def embed(graph: Graph, **options: Any) -> Embedding:
    """The embedding of a graph, keyed by its node ids.

    Parameters
    ----------
    graph : Graph
        Where it has no features, structural ones are made from its edges.
    columns, seed : int
        Of the structural features.
    progress : callable, optional
        Called at least once per hop with a :class:`nafs.Progress`.
    client : dask.distributed.Client or str, optional
        For ``engine="dask"``: a client or the address of a scheduler. By default the client in use, or else
        workers on this machine.
    resume : bool
        Go on with a run in ``work_dir`` that was broken off.
    dtype : {"float32", "float16"}
        Of the embedding.
    **options
        ``n_hops``, ``r``, ``ensemble``, ``weighting``, ``distance``, ``preprocessing``, ``center``, ``goal``,
        ``n_clusters``, ``reduce_to``, ``reduction``, ``state_dtype``, ``n_threads``, ``memory_limit``,
        ``engine``, ``work_dir``, as in
        :class:`nafs.NAFS`.

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
    with making_embedding(graph, **options) as embedding:
        pass
    return replace(embedding, file=None)


@contextmanager
def making_embedding(
    graph: Graph,
    *,
    columns: int = DEFAULT_COLUMNS,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    client: Any = None,
    resume: bool = False,
    dtype: str = "float32",
    **settings: Any,
) -> Iterator[Embedding]:
    """The same, for as long as the block runs in the work folder: it is removed when the block ends well."""
    if not isinstance(graph, Graph):
        raise TypeError(
            f"embed takes a Graph; got {type(graph).__module__}.{type(graph).__qualname__}. Make one with "
            "nafs.read_graph, from_edges, from_networkx, from_igraph, from_pyg or Graph(adjacency, features)"
        )
    check_choice("dtype", dtype, STATE_DTYPES)
    given = Settings(**settings)
    remake = None
    if graph.features is None:
        _check_structural(graph, columns, given)
        graph = with_some_features(graph, columns, seed)

        def remake(edges: Adjacency) -> Features:
            return read_features(structural_features(edges, columns, seed))

    assert graph.features is not None
    choice, _, features = choose(graph.adjacency, graph.features, given, remake=remake)
    made = run.embed(
        graph.adjacency,
        features,
        given.method(choice.n_hops),
        given,
        client=client,
        resume=resume,
        dtype=dtype,
        held=0 if features is graph.features else features.nbytes,
        progress=progress,
    )
    how = asdict(choice.as_settings(given)) | {"engine": made.engine}
    yield Embedding(made.matrix, graph.id_array, graph.labels, how, choice, made.file)
    made.close()


def _check_structural(graph: Graph, columns: int, settings: Settings) -> None:
    """Structural features are made in memory: raise before that where the limit forbids it."""
    limit = settings.resources()["memory_limit"]
    needed = 4 * (graph.n_nodes * (columns + 4 * 16) + graph.adjacency.n_stored)
    if limit is not None and needed > limit:
        raise MemoryError(
            f"the graph has no features, and making {columns} structural ones takes {show_bytes(needed)}, "
            f"more than the memory_limit of {show_bytes(limit)}; give features, or fewer columns"
        )
