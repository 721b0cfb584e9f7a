"""Embedding: vectors keyed by node id."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import left_of, parse_memory
from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs._support.extras import require
from nafs._support.markup import html_table
from nafs.answers import Classification, Clusters, classify, clusters_of, warn_if_fewer
from nafs.clustering import Clustering
from nafs.embedding.embedded_graph import embedded_graph
from nafs.embedding.vector_clusters import cluster_vectors
from nafs.graph import Graph, Labels, read_labels
from nafs.graph.ids import as_numpy
from nafs.graph.unknown_ids import rows_of
from nafs.links import LinkHead
from nafs.links.head import NUMBERS
from nafs.readers.joined import with_id_name
from nafs.readers.vectors import read_embedding
from nafs.selection import Choice
from nafs.similarity import likely_links, nearest, reasons_of, suggest_pairs, write_index
from nafs.smoothing.threads import check_threads
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
        All settings, the engine, the version, and checksums of the input.
    choice : Choice, optional
        The automatic choices.
    file : Path, optional
        The .npy file that ``matrix`` is mapped from, as long as it exists.
    id_name : str
        What the table of nodes calls the ids, and so do answers; "id" if it is not known.
    """

    matrix: NDArray[np.float32]
    id_array: Any
    labels: Labels | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    choice: Choice | None = None
    file: Path | None = None
    id_name: str = "id"

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
        settings = self.settings
        summary = (
            f", {settings['n_hops']} hops, {settings['ensemble']}"
            if "n_hops" in settings and "ensemble" in settings
            else ""
        )
        header = ["id", *(f"e{i}" for i in range(columns)), *more]
        return html_table(rows, caption=f"{self!r}{summary}", header=header)

    def __len__(self) -> int:
        return len(self.matrix)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The vectors, so that NumPy and scikit-learn accept an embedding as an array."""
        return np.array(self.matrix, dtype=dtype, copy=bool(copy)) if copy else np.asarray(self.matrix, dtype)

    @property
    def ids(self) -> NDArray[Any]:
        """Node ids: int64, or strings in an object array."""
        return as_numpy(self.id_array)

    def rows(self, ids: Any) -> NDArray[np.int64]:
        """Row numbers of ids. The error for an unknown id names the closest ids."""
        keys = [ids] if isinstance(ids, (str, int, float, np.number)) else list(ids)
        return rows_of(keys, self.id_array)

    def similar(
        self,
        ids: Any,
        k: int = 10,
        *,
        score: str = "cosine",
        exact: bool | None = None,
        n_threads: int | None = None,
        progress: Callable[[float], None] | None = None,
        memory_limit: int | str | None = None,
    ) -> Any:
        """Find the nearest nodes of the given nodes.

        Parameters
        ----------
        ids : id or sequence of ids, or None
            ``None`` means every node.
        k : int
            Neighbours of each node.
        score : {"cosine", "inner"}
        exact : bool, optional
            Compare with every node, or search an index; by default exact unless an index is faster.
        n_threads : int, optional
        progress : callable, optional
            Called with the share of the work done since the last call.
        memory_limit : int or str, optional
            Bytes, or a string like "4GB", that may be used besides the embedding.

        Returns
        -------
        Arrow table
            id (or what the table of nodes calls it), rank, neighbor, score.

        Examples
        --------
        >>> from nafs import embed, from_edges
        >>> pairs = from_edges((["ann", "cy"], ["bob", "dee"]))
        >>> embed(pairs, n_hops=5).similar("ann", k=1).to_pylist()[0]["neighbor"]
        'bob'
        """
        import pyarrow as pa

        queries = np.arange(len(self)) if ids is None else self.rows(ids)
        neighbors, scores = nearest(
            self.matrix,
            queries,
            k,
            score=score,
            exact=exact,
            n_threads=check_threads(n_threads),
            progress=progress,
            memory_limit=left_of(parse_memory(memory_limit), self.matrix, self.id_array),
        )
        count = neighbors.shape[1]
        columns = {
            "id": self.id_array.take(pa.array(np.repeat(queries, count))),
            "rank": np.tile(np.arange(1, count + 1, dtype=np.int32), len(queries)),
            "neighbor": self.id_array.take(pa.array(neighbors.ravel())),
            "score": scores.ravel(),
        }
        return with_id_name(pa.table(columns), self.id_name)

    def explain(self) -> str:
        """What was chosen and why, one line each; nothing if the settings left no choice."""
        return "" if self.choice is None else self.choice.explain()

    def suggest_links(
        self,
        graph: Any,
        k: int = 10,
        ids: Any = None,
        *,
        score: str | None = None,
        exact: bool | None = None,
        n_threads: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Any:
        """Suggest links: the best pairs without an edge, k per node in ``ids`` or k in the whole graph.

        Parameters
        ----------
        graph : Graph, or anything that :func:`nafs.embed` takes
            The embedded graph, or one with the same nodes.
        k : int
        ids : id or sequence of ids, optional
            Nodes without edges are only suggested if they are named here.
        score : {"head", "inner", "cosine"}, optional
            The link head uses vectors and edges. It is available if the hops were chosen for links; then it
            is the default, unless cosine puts more hidden edges first. For other embeddings the default is
            "cosine", which usually finds far fewer links: embed with ``goal="links"`` for the best
            suggestions. :meth:`link_score` says which one is used.
        exact, n_threads, progress
            As in :meth:`similar`.

        Returns
        -------
        Arrow table
            source, target, score, and the reason, such as shared neighbors.

        Notes
        -----
        Scores of the head are log-odds up to a constant, with the degrees left out: they rank pairs, and are
        not probabilities. They and inner products are comparable only between suggestions from one
        embedding. Cosines lie between -1 and 1, and are comparable between embeddings made with the same
        settings.
        """
        import pyarrow as pa

        graph = embedded_graph(graph, self.id_array)
        nodes = None if ids is None else self.rows(ids)
        search: dict[str, Any] = {
            "nodes": nodes,
            "exact": exact,
            "n_threads": check_threads(n_threads),
            "progress": progress,
        }
        score = self.link_score(score)
        if score == "head":
            head = LinkHead.from_dict(self.settings["link_head"])
            pairs, scores, words = likely_links(graph.adjacency, self.matrix, head, k, **search)
        else:
            pairs, scores = suggest_pairs(
                graph.adjacency, self.matrix, k, score=score, only_linked=True, **search
            )
            words = [[NUMBERS[score]]] * len(pairs)
        reasons = reasons_of(graph.adjacency, pairs, words, self.id_array)
        source, target = (self.id_array.take(pa.array(column)) for column in pairs.T)
        return pa.table({"source": source, "target": target, "score": scores, "reason": reasons})

    def link_score(self, score: str | None = None) -> str:
        """How :meth:`suggest_links` scores pairs with this parameter: "head", "inner" or "cosine"."""
        fitted = self.settings.get("link_head") is not None
        if score == "head" and not fitted:
            raise InputError(
                Parameter("score", "head"), ' needs an embedding made with n_hops="auto" and goal="links"'
            )
        if score is not None:
            return score
        default = self.settings.get("suggest_by", "head") if fitted else self.settings.get("score", "cosine")
        return str(default)

    def cluster(
        self, n_clusters: int | str = "auto", *, graph: Any = None, seed: int | None = None
    ) -> Clusters:
        """Cluster the nodes without labels.

        If the number of hops was chosen for this number of clusters, the clusters are those that it was
        chosen with: a consensus over several numbers of hops. Otherwise the vectors are clustered, which is
        usually not as good; ``explain()`` says which.

        Parameters
        ----------
        n_clusters : int or "auto"
            "auto" tries many numbers and chooses the one on which the candidates agree best. Empty clusters
            are left out; a warning says if fewer than this number remain.
        graph : Graph, or anything that :func:`nafs.embed` takes, optional
            Its feature names describe the clusters. Where vectors are clustered, its edges help to choose
            the number.
        seed : int, optional
            With a seed, the vectors are clustered in any case.

        Returns
        -------
        Clusters
            With ``to_pandas()``, ``description()`` and ``explain()``.

        Examples
        --------
        >>> from nafs import embed
        >>> from nafs.datasets import contextual_sbm
        >>> graph = contextual_sbm(200, n_classes=2, homophily=0.95, signal=2.0, seed=0)
        >>> clusters = embed(graph, n_hops=5).cluster(2)
        >>> clusters.description().num_rows
        2
        """
        graph = None if graph is None else embedded_graph(graph, self.id_array)
        clustering = None if seed is not None else self._clusters_of_choice(n_clusters)
        if clustering is None:
            hops = int(self.settings.get("n_hops", 0))
            clustering = cluster_vectors(self.matrix, hops, n_clusters, graph, seed or 0)
        clusters = clusters_of(self.matrix, self.id_array, clustering, graph, self.id_name)
        return warn_if_fewer(clusters, n_clusters)

    def _clusters_of_choice(self, n_clusters: int | str) -> Clustering | None:
        """The clusters that the number of hops was chosen with, if there are as many as requested."""
        known = None if self.choice is None else self.choice.clustering
        requested = self.settings.get("n_clusters") or "auto"
        return known if known is not None and n_clusters in (requested, known.n_clusters) else None

    def classify(
        self, labels: Any = None, *, graph: Any = None, unlabelled: bool = True, seed: int = 0
    ) -> Classification:
        """Predict the class of every node from the labels of some, with calibrated probabilities.

        Parameters
        ----------
        labels : mapping of id to class, Series, data frame, or sequence with None where unknown, optional
            By default the labels that came with the graph. A Series is keyed by its index; a data frame has
            the two columns id and class.
        graph : Graph, or anything that :func:`nafs.embed` takes, optional
            Its features, before smoothing, count beside the vectors where that makes held-out labels
            likelier. They must not be negative; ``explain()`` says whether they count.
        unlabelled : bool
            Whether nodes without a label count too, where that makes held-out labels likelier. They show
            where there are groups of nodes.
        seed : int
            Seed of the folds for estimating the accuracy.

        Returns
        -------
        Classification
            With ``to_pandas()``, and ``explain()``, which says how accurate held-out predictions were.

        Notes
        -----
        Wide features lose something when they are reduced to the 256 columns of the default width: for
        classes, embed with ``dim="full"`` where memory allows. ``explain()`` says so.

        Examples
        --------
        >>> from nafs import embed, from_edges
        >>> pairs = from_edges((["ann", "cy", "ann"], ["bob", "dee", "eve"]))
        >>> answer = embed(pairs, n_hops=5).classify({"ann": "red", "cy": "blue"})
        >>> dict(zip(answer.ids.to_pylist(), answer.to_arrow()["predicted"].to_pylist()))["dee"]
        'blue'
        """
        labels = self.labels if labels is None else labels
        if labels is None:
            raise InputError(Parameter("labels"), " are needed: the graph has none")
        graph = None if graph is None else embedded_graph(graph, self.id_array)
        answer = classify(self.matrix, self.id_array, labels, graph=graph, unlabelled=unlabelled, seed=seed)
        before = str(self.settings.get("input", {}).get("features", "")).partition("-")[0]
        if before.isdigit() and int(before) > self.matrix.shape[1]:
            note = f"the vectors keep {self.matrix.shape[1]:,} of {int(before):,} columns; classes may be "
            note += 'predicted better with all of them: dim="full"'
            answer = replace(answer, notes=(*answer.notes, note))
        return replace(answer, id_name=self.id_name)

    def explore(
        self,
        graph: Graph | None = None,
        columns: Any = None,
        *,
        path: str | os.PathLike[str] | None = None,
        height: int = 720,
        n_threads: int | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> Any:
        """An interactive page: in a notebook, or in a file.

        Parameters
        ----------
        graph : Graph, optional
            The embedded graph, to show degrees, hops and neighbours.
        columns : data frame, optional
            Facts about the nodes to colour by, filter by and search for. Its ids are in the column named id,
            or in the one that holds the ids of the nodes.
        path : path, optional
            Write the page here (.html) instead of showing it.
        height : int
            Height of the page in the notebook, in pixels.
        n_threads : int, optional
        progress : callable, optional
            Called with the part of the work, such as "map", and the share of it that is done. By default a
            notebook shows both in a line above the page.

        Returns
        -------
        An object that notebooks show, or ``None`` if a path is given.
        """
        from importlib import import_module

        # The page depends on embeddings, so it is imported only on demand.
        return import_module("nafs.report.notebook").explore(
            self,
            graph,
            columns,
            path=path,
            height=height,
            n_threads=check_threads(n_threads),
            progress=progress,
        )

    def to_arrow(self, layout: str = "list") -> Any:
        """An Arrow table: id, label if any, and one column of lists or one column per dimension."""
        check_choice("layout", layout, LAYOUTS)
        labels = None if self.labels is None else self.labels.to_arrow()
        table = id_table(self.id_array, labels, 0, len(self))
        return embedding_table(self.matrix, table, lists=layout == "list")

    def to_pandas(self) -> Any:
        """A pandas data frame with the ids as index and one column per dimension."""
        pandas = require("pandas", "to_pandas()")
        columns = [f"e{i}" for i in range(self.matrix.shape[1])]
        return pandas.DataFrame(self.matrix, index=pandas.Index(self.ids, name="id"), columns=columns)

    def to_polars(self) -> Any:
        """A polars data frame: id, label if any, and one column per dimension."""
        polars = require("polars", "to_polars()")
        return polars.from_arrow(self.to_arrow("columns"))

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        layout: str = "list",
        force: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Write the embedding to a file.

        Parameters
        ----------
        path : path
            .parquet, .feather, .arrow, .jsonl, .csv, .tsv (the last two also .gz), .npy, .lance (a Lance
            dataset), or .usearch (a search index; its keys are rows of ``NAME.ids.csv``).
        layout : {"list", "columns"}
            One column of lists, or one column per dimension.
        force : bool
            Overwrite an existing file.
        progress : callable, optional
            Called with the number of rows written since the last call.
        """
        labels = None if self.labels is None else self.labels.to_arrow()
        if os.fspath(path).lower().endswith(".usearch"):
            about = self.settings
            write_index(path, self.matrix, self.id_array, labels, about=about, force=force, progress=progress)
            return
        write_embedding(
            path,
            self.matrix,
            self.id_array,
            labels,
            file=self.file,
            about=self.settings,
            layout=layout,
            force=force,
            progress=progress,
        )

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        graph: Graph | None = None,
        *,
        memory_limit: int | str | None = None,
    ) -> Embedding:
        """Read an embedding written by :meth:`write`, any table keyed by id, or a matrix.

        With a graph, only the vectors of its nodes are returned, in its order. With a memory limit, large
        tables are read through temporary files.
        """
        matrix, ids, labels, about = read_embedding(path, graph, memory_limit=memory_limit)
        return cls(matrix, ids, None if labels is None else read_labels(labels), about)
