"""Embedding: vectors that know which node they belong to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import check_limit
from nafs._support.checks import check_choice
from nafs._support.markup import html_table
from nafs.engines import run
from nafs.engines.progress import ProgressCallback
from nafs.engines.settings import Settings
from nafs.engines.work import fingerprint
from nafs.graph import Adjacency, Features, Graph, Labels, read_features, read_labels, structural_features
from nafs.graph.ids import as_numpy, id_column, positions
from nafs.graph.structural import DEFAULT_COLUMNS
from nafs.readers.vectors import read_embedding
from nafs.selection import Choice, choose
from nafs.similarity import nearest, suggest_pairs
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
        How it was made: the settings, the engine, the version, and checksums of the graph.
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

    def _repr_html_(self) -> str:
        shown, columns = min(5, len(self)), min(6, self.matrix.shape[1])
        more = ["…"] if self.matrix.shape[1] > columns else []
        rows = [
            [self.id_array[i].as_py(), *(f"{value:.4g}" for value in self.matrix[i, :columns]), *more]
            for i in range(shown)
        ]
        made = self.settings
        how = (
            f", {made['n_hops']} hops, {made['ensemble']}" if "n_hops" in made and "ensemble" in made else ""
        )
        header = ["id", *(f"e{i}" for i in range(columns)), *more]
        return html_table(rows, caption=f"{self!r}{how}", header=header)

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def ids(self) -> NDArray[Any]:
        """Node ids: int64, or strings in an object array."""
        return as_numpy(self.id_array)

    def rows(self, ids: Any) -> NDArray[np.int64]:
        """Row numbers of some ids; one that is none is refused with the closest there are."""
        wanted = [ids] if isinstance(ids, (str, int, np.integer)) else list(ids)
        if not wanted:
            raise ValueError("no nodes are asked for: name at least one")
        keys = id_column([str(key) for key in wanted])
        places = positions(self.id_array, keys)
        for key, place in zip(wanted, places, strict=True):
            if place < 0:
                raise ValueError(f"no node is called {key!r}{_closest(str(key), self.id_array)}")
        return places

    def similar(self, ids: Any, k: int = 10, **options: Any) -> Any:
        """The nearest nodes of some nodes.

        Parameters
        ----------
        ids : id or sequence of ids, or None
            ``None``: of every node.
        k : int
        **options
            ``score`` ("cosine" or "inner"), ``exact``, ``n_threads``, ``progress``: see
            :func:`nafs.similarity.nearest`.

        Returns
        -------
        Arrow table
            id, rank, neighbor, score.

        Examples
        --------
        >>> from nafs import embed, from_edges
        >>> pairs = from_edges((["ann", "cy"], ["bob", "dee"]))
        >>> embed(pairs, n_hops=5).similar("ann", k=1).to_pylist()[0]["neighbor"]
        'bob'
        """
        import pyarrow as pa

        queries = np.arange(len(self)) if ids is None else self.rows(ids)
        found, scores = nearest(self.matrix, queries, k, **options)
        count = found.shape[1]
        return pa.table(
            {
                "id": self.id_array.take(pa.array(np.repeat(queries, count))),
                "rank": np.tile(np.arange(1, count + 1, dtype=np.int32), len(queries)),
                "neighbor": self.id_array.take(pa.array(found.ravel())),
                "score": scores.ravel(),
            }
        )

    def suggest_links(self, graph: Graph, k: int = 10, ids: Any = None, **options: Any) -> Any:
        """The best pairs of nodes that are no edges: k for each of some nodes, or k in the whole graph.

        Parameters
        ----------
        graph : Graph
            With the same nodes.
        k : int
        ids : id or sequence of ids, optional
        **options
            ``score`` ("inner" or "cosine"; by default what did best when hops were chosen for links, or else
            "inner"), ``exact``, ``n_threads``, ``progress``: see :func:`nafs.similarity.suggest_pairs`.

        Returns
        -------
        Arrow table
            source, target, score.
        """
        import pyarrow as pa

        if not graph.id_array.equals(self.id_array):
            strange = np.flatnonzero(positions(self.id_array, graph.id_array) < 0)
            what = "its nodes are in another order"
            if len(strange) or graph.n_nodes != len(self):
                what = f"it has {graph.n_nodes} nodes and the embedding {len(self)}"
            if len(strange):
                what += f", and {graph.id_array[int(strange[0])].as_py()!r} is not embedded"
            raise ValueError(f"this is not the graph that was embedded: {what}")
        options.setdefault("score", self.settings.get("score", "inner"))
        nodes = None if ids is None else self.rows(ids)
        pairs, scores = suggest_pairs(graph.adjacency, self.matrix, k, nodes=nodes, **options)
        source, target = (self.id_array.take(pa.array(column)) for column in pairs.T)
        return pa.table({"source": source, "target": target, "score": scores})

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

    def to_polars(self) -> Any:
        """A polars data frame: id, label where known, and one column per dimension."""
        import polars

        return polars.from_arrow(self.to_arrow("columns"))

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the embedding; options as in :func:`nafs.writers.write_embedding`."""
        labels = None if self.labels is None else self.labels.to_arrow()
        write_embedding(
            path, self.matrix, self.id_array, labels, file=self.file, about=self.settings, **options
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], graph: Graph | None = None) -> Embedding:
        """Read an embedding: one that :meth:`write` wrote, or any table keyed by id or matrix.

        With a graph, the vectors of its nodes, in its order.
        """
        matrix, ids, labels, about = read_embedding(path, graph)
        return cls(matrix, ids, None if labels is None else read_labels(labels), about)


def _closest(key: str, ids: Any) -> str:
    """What to say of an id that is none: those that look like it."""
    from difflib import get_close_matches

    import pyarrow as pa
    import pyarrow.compute as pc

    wanted, names = key.lower(), ids.cast(pa.large_string())
    lower = pc.utf8_lower(names)
    # Those that hold it first, then those that begin alike, as far as there are some.
    found = names.filter(pc.match_substring(lower, wanted))[:3].to_pylist() if wanted else []
    for letters in (len(wanted) - 1, len(wanted) * 2 // 3, 1, 0):
        some = names.filter(pc.starts_with(lower, wanted[: max(0, letters)]))
        if len(some) and len(found) < 3:
            known = {name.lower(): name for name in some[:50_000].to_pylist()}
            found += [known[name] for name in get_close_matches(wanted, known, n=3, cutoff=0.5)]
    found = list(dict.fromkeys(found))[:3]
    return f"; the closest are {', '.join(map(repr, found))}" if found else ""


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
        ``engine``, ``work_dir``, as in :class:`nafs.NAFS`.

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
    known = [entry.name for entry in fields(Settings)]
    for name in settings.keys() - set(known):
        close = [other for other in known if name in other or other in name]
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
        raise TypeError(f"embed has no option {name!r}; {hint}")
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
    from nafs import __version__

    how = asdict(choice.as_settings(given)) | {"engine": made.engine, "version": __version__}
    if choice.score is not None:
        how["score"] = choice.score
    if choice.reasons:
        how["reasons"] = list(choice.reasons)
    if remake is not None:
        how |= {"columns": columns, "seed": seed}
    how["input"] = fingerprint(graph.adjacency, graph.features)
    try:
        yield Embedding(made.matrix, graph.id_array, graph.labels, how, choice, made.file)
    except BaseException:
        if made.temporary:  # nobody could go on with it
            made.close()
        raise
    made.close()


def _check_structural(graph: Graph, columns: int, settings: Settings) -> None:
    """Structural features are made in memory: raise before that where the limit forbids it."""
    check_limit(
        4 * (graph.n_nodes * (columns + 4 * 16) + graph.adjacency.n_stored),
        settings.resources()["memory_limit"],
        f"the graph has no features, and making {columns} structural ones takes",
        "give features, or fewer columns",
    )
