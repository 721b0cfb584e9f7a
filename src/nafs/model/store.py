"""The arrays of a model, which belong together: nodes, neighbour lists, features, states and embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import check_limit, left_now
from nafs._support.errors import InputError
from nafs._support.scratch import Allocate
from nafs.graph import Adjacency, Graph
from nafs.model.journal import Journal
from nafs.model.neighbors import LISTED, NeighborLists
from nafs.model.request import Nodes
from nafs.model.spread import Spreading
from nafs.model.states import Kept, blocks, combined, run_in_full, run_nbytes, with_spare
from nafs.smoothing.method import Method


class Store:
    """The graph of a model with all data of its nodes.

    A removed node keeps its place until the next full run.

    Attributes
    ----------
    method : Method
    nodes : Nodes
    kept : Kept
        Features, states and embedding.
    lists, readers : NeighborLists
        The nodes that each node reads, and those that read it; the same object if undirected.
    spreading : Spreading
    n_updates : int
        Updates since the last full run; each rounds the rows that it changes.
    journal : Journal or None
        Differences from the folder that the model was loaded from or saved in; None if anything may differ.
    """

    def __init__(
        self,
        method: Method,
        graph: Graph,
        kept: Kept,
        *,
        n_threads: int,
        allocate: Allocate = np.zeros,
        limit: int | None = None,
    ) -> None:
        self.method, self.directed, self.n_threads = method, graph.adjacency.directed, n_threads
        self.n_updates = 0
        self.journal: Journal | None = None
        self.nodes = Nodes(graph.id_array, np.ones(graph.n_nodes, bool))
        self.kept, self._allocate, self._limit = kept, allocate, limit
        self.lists, self.readers = _both_ways(graph.adjacency, kept.capacity)
        self.spreading = Spreading(kept, method, n_threads)
        self._broken = False

    def check(self) -> None:
        """Raise if an update failed and could not be undone."""
        if self._broken:
            raise InputError(
                "an update of this model failed half-way, and so did the attempt to undo it; load or "
                "build the model again"
            )

    @property
    def ids(self) -> Any:
        """Ids of the present nodes, as an Arrow array."""
        import pyarrow as pa

        alive = self.nodes.alive
        return self.nodes.ids if alive.all() else self.nodes.ids.filter(pa.array(alive))

    def room(self) -> int | None:
        """Bytes of memory that the limit leaves now; None without a limit."""
        return left_now(self._limit)

    def check_room(self, needed: int, purpose: str, hint: str) -> None:
        """Raise if the limit leaves less than this many bytes."""
        room = self.room()
        if self._limit is not None and room is not None:
            check_limit(self._limit - room + needed, self._limit, purpose, hint)

    def matrix(self) -> NDArray[np.float32]:
        """The embedding of the present nodes."""
        alive = self.nodes.alive
        rows = self.kept.embedding[: len(alive)]
        if self._limit is None or (alive.all() and self.method.ensemble != "max"):
            return combined(rows if alive.all() else rows[alive], self.method)
        places = np.flatnonzero(alive)
        width = combined(rows[:1], self.method).shape[1]
        matrix = self._allocate((len(places), width), np.float32)
        for top, bottom in blocks(len(places), rows.shape[1]):
            matrix[top:bottom] = combined(rows[places[top:bottom]], self.method)
        return matrix

    def graph(self) -> Graph:
        """The graph of the present nodes, with its features."""
        alive = self.nodes.alive
        adjacency = self.lists.to_adjacency(alive, directed=self.directed)
        return Graph(adjacency, self.kept.features[: len(alive)][alive], ids=self.ids)

    def grow(self, n_nodes: int) -> None:
        """Make room for more nodes, with some to spare so that most updates copy nothing."""
        rows = max(len(self.lists.starts), len(self.readers.starts))
        if n_nodes > self.kept.capacity or rows > self.kept.capacity:  # memory ran out half-way before
            capacity = max(rows, with_spare(n_nodes))
            self.lists.grow(capacity)
            if self.readers is not self.lists:
                self.readers.grow(capacity)
            kept = self.kept.grown(capacity, self.method, self._allocate)
            spreading = Spreading(kept, self.method, self.n_threads)
            self.kept, self.spreading = kept, spreading

    def full_run_fits(self, alive: NDArray[np.bool_]) -> bool:
        """Whether the memory limit allows a full run."""
        room = self.room()
        return room is None or self._full_run_nbytes(alive) <= room

    def _full_run_nbytes(self, alive: NDArray[np.bool_]) -> int:
        columns = self.kept.features.shape[1]
        return self._listed_nbytes + run_nbytes(int(alive.sum()), columns, self.method, 1)

    @property
    def _listed_nbytes(self) -> int:
        return LISTED * self.lists.n_stored  # more than the graph itself

    def full_run(self, alive: NDArray[np.bool_]) -> tuple[Kept, Adjacency]:
        """Compute everything from the present edges and features, in new arrays, without removed nodes."""
        old, limit = self.kept.features, self.room()
        if limit is not None:
            needed = self._full_run_nbytes(alive)
            self.check_room(needed, "the changes require a full run, which needs", "raise it")
            limit -= self._listed_nbytes
        graph = self.lists.to_adjacency(alive, directed=self.directed)
        kept = Kept.empty(with_spare(graph.n_nodes), old.shape[1], self.method, self._allocate)
        rows = np.flatnonzero(alive)
        for top, bottom in blocks(len(rows), old.shape[1]):
            kept.features[top:bottom] = old[rows[top:bottom]]
        run_in_full(kept, graph, self.method, n_threads=self.n_threads, limit=limit)
        return kept, graph

    def replace(self, kept: Kept, graph: Adjacency, nodes: Nodes) -> None:
        """Switch to the arrays of a full run."""
        import pyarrow as pa

        nodes = Nodes(nodes.ids.filter(pa.array(nodes.alive)), np.ones(graph.n_nodes, bool))
        lists, readers = _both_ways(graph, kept.capacity)
        spreading = Spreading(kept, self.method, self.n_threads)
        self.kept, self.nodes, self.lists, self.readers = kept, nodes, lists, readers
        self.spreading, self.journal, self.n_updates = spreading, None, 0

    def recover(self) -> None:
        """Recompute everything for the old graph, after an update failed while writing states."""
        self._broken = True
        try:
            self.replace(*self.full_run(self.nodes.alive), self.nodes)
        except Exception:
            return
        self._broken = False


def _both_ways(graph: Adjacency, capacity: int) -> tuple[NeighborLists, NeighborLists]:
    """The nodes that each node reads, and those that read it; the same lists if undirected."""
    lists = NeighborLists(graph, capacity)
    return lists, NeighborLists(graph.transposed(), capacity) if graph.directed else lists
