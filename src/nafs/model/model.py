"""Model: a graph, its features and states, and the embedding, kept so that changes cost little."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.atomic import whole_folder
from nafs._support.errors import InputError
from nafs._support.scratch import Allocate
from nafs.graph import Graph
from nafs.graph.ids import as_numpy
from nafs.model.neighbors import NeighborLists
from nafs.model.request import Nodes, check_rows, read_request
from nafs.model.spread import Change, Spread, TooManyError, spread
from nafs.model.states import combine, smooth, states_shape, with_spare
from nafs.smoothing.method import Method
from nafs.smoothing.threads import check_threads

TOLERANCE = 1e-5  # share of the mean length of rows below which a difference is dropped
_WORTH = 0.5  # share of all entries to read from which a full run is cheaper
_ROWS = 1 << 14  # copied in one go
_VERSION = 1
_FILES = ("model.json", "graph", "states.npy", "embedding.npy")


@dataclass(frozen=True)
class UpdateReport:
    """What an update did.

    Attributes
    ----------
    n_nodes : int
        Nodes afterwards.
    new, removed, changed : int
        New nodes, removed nodes, and old nodes whose edges or features changed.
    recomputed : int
        Nodes whose embedding was computed anew.
    full : bool
        Whether everything was, because that was cheaper or the method needs it.
    why : str
        The reason for a full run.
    """

    n_nodes: int
    new: int
    removed: int
    changed: int
    recomputed: int
    full: bool
    why: str = ""

    @property
    def share(self) -> float:
        """Share of the nodes that were computed anew."""
        return self.recomputed / max(1, self.n_nodes)

    def explain(self) -> str:
        """One line for people.

        Examples
        --------
        >>> from nafs.model import UpdateReport
        >>> UpdateReport(1000, 10, 0, 50, 120, False).explain()
        '10 new, 0 removed and 50 changed nodes: 120 of 1,000 embeddings (12 %) computed anew'
        """
        how = f"{self.recomputed:,} of {self.n_nodes:,} embeddings ({100 * self.share:.0f} %) computed anew"
        if self.full:
            how = f"everything computed anew: {self.why}"
        return f"{self.new:,} new, {self.removed:,} removed and {self.changed:,} changed nodes: {how}"


class Model:
    """An embedding that follows changes of its graph.

    Made by :meth:`build`. Nodes keep their place when others leave; :attr:`ids` and :attr:`matrix` list
    those that are there.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import Graph
    >>> from nafs.model import Model
    >>> from nafs.smoothing import Method
    >>> path = Graph(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.eye(3), ids=["a", "b", "c"])
    >>> model = Model.build(path, Method(2, (0.5,)))
    >>> report = model.update(edges=(["c"], ["d"]), features=(["d"], [[1.0, 0.0, 0.0]]))
    >>> report.new, model.ids.tolist()
    (1, ['a', 'b', 'c', 'd'])
    """

    def __init__(
        self,
        method: Method,
        lists: NeighborLists,
        ids: Any,
        features: NDArray[np.float32],
        states: NDArray[Any],
        matrix: NDArray[np.float32],
        *,
        n_threads: int | None = None,
    ) -> None:
        self.method = method
        self.n_threads = check_threads(n_threads)
        self._nodes = Nodes(ids, np.ones(lists.n_nodes, bool))
        self._lists, self._features = lists, features
        self._states, self._matrix = states, matrix
        self._floors: NDArray[np.float64] | None = None

    @classmethod
    def build(
        cls,
        graph: Graph,
        method: Method,
        *,
        state_dtype: str = "float32",
        n_threads: int | None = None,
        allocate: Allocate = np.empty,
    ) -> Model:
        """Embed a graph and keep the states.

        Parameters
        ----------
        graph : Graph
            Undirected, with features as they go into smoothing: scaled and reduced.
        method : Method
        state_dtype : {"float32", "float16"}
            float16 halves the size; rows that an update reads then have relative errors up to 5e-4.
        n_threads : int, optional
        allocate : callable
            Makes the array of states, whose size :func:`states_nbytes` tells before.
        """
        if graph.features is None:
            raise InputError("a model needs features; structural ones change everywhere with every edge")
        if graph.adjacency.directed:
            raise InputError("a model that can be updated needs an undirected graph")
        n, f = graph.features.shape
        X = np.zeros((with_spare(n), f), np.float32)
        X[:n] = graph.features.toarray()
        threads = check_threads(n_threads)
        states = allocate(states_shape(len(X), f, method), np.dtype(state_dtype))
        states[n:] = 0
        smooth(graph.adjacency, X[:n], method, states, n_threads=threads)
        matrix = np.zeros((len(X), method.n_columns(f)), np.float32)
        matrix[:n] = combine(X[:n], states[:n], method)
        lists = NeighborLists.of(graph.adjacency)
        return cls(method, lists, graph.id_array, X, states, matrix, n_threads=threads)

    @property
    def ids(self) -> NDArray[Any]:
        """Ids of the nodes."""
        return np.asarray(as_numpy(self._nodes.ids)[self._nodes.alive])

    @property
    def matrix(self) -> NDArray[np.float32]:
        """The embedding, a row for each id."""
        alive = self._nodes.alive
        rows = self._matrix[: len(alive)]
        return rows if alive.all() else rows[alive]

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self._nodes.alive.sum())

    @property
    def nbytes(self) -> int:
        """Bytes of features, states and embedding."""
        return int(self._features.nbytes + self._states.nbytes + self._matrix.nbytes)

    @property
    def graph(self) -> Graph:
        """The graph with its features as they are now."""
        import pyarrow as pa

        alive = self._nodes.alive
        ids = self._nodes.ids.filter(pa.array(alive))
        return Graph(self._lists.to_adjacency(alive), self._features[: len(alive)][alive], ids=ids)

    def embed_new(self, features: Any, neighbors: Sequence[Any], weights: Any = None) -> NDArray[np.float32]:
        """The embedding that a new node would have; the model stays as it is.

        The new node sees the graph, but the graph does not see the new node: its neighbours keep their
        states, where in a full run they would change a little.

        Parameters
        ----------
        features : array-like of shape (f,)
        neighbors : sequence of ids
        weights : array-like, optional
            Of the edges.

        Returns
        -------
        ndarray of float32
        """
        places = self._nodes.places(neighbors, "neighbors")
        x = check_rows(features, 1, self._features.shape[1])
        edge = np.ones(len(places), np.float32) if weights is None else np.asarray(weights, np.float32)
        r = np.asarray(self.method.r)
        degree = 1.0 + float(edge.sum(dtype=np.float64))
        pull = (edge[:, None] * self._lists.degrees[places][:, None] ** -r).astype(np.float32)
        groups, hops = len(r), self.method.n_hops
        around = np.repeat(self._features[places, None, :], groups, axis=1)
        states = np.empty((1, groups, hops, x.shape[1]), np.float32)
        own = np.repeat(x[:, None, :], groups, axis=1)[0]
        for k in range(hops):
            total = np.einsum("jg,jgf->gf", pull, around) + own * (degree**-r)[:, None]
            own = (total * (degree ** (r - 1))[:, None]).astype(np.float32)
            states[0, :, k] = own
            around = self._states[places, :, k].astype(np.float32)
        return np.asarray(combine(x, states, self.method)[0])

    def update(
        self,
        *,
        edges: tuple[Any, ...] | None = None,
        features: tuple[Any, Any] | None = None,
        remove_edges: tuple[Any, Any] | None = None,
        remove_nodes: Any = None,
        tolerance: float = TOLERANCE,
    ) -> UpdateReport:
        """Change the graph and bring the embedding up to date.

        The result is that of embedding the whole new graph with the same method, up to the tolerance.

        Parameters
        ----------
        edges : (sources, targets) or (sources, targets, weights), optional
            New edges by id; unknown ids become nodes. The weight of an edge that exists is replaced.
        features : (ids, rows), optional
            Features of new nodes, or new features of old ones. A new node without any gets zeros.
        remove_edges : (sources, targets), optional
        remove_nodes : ids, optional
        tolerance : float
            Differences of states below this share of the mean length of rows are dropped; 0 keeps all.

        Returns
        -------
        UpdateReport
        """
        n_before, n_columns = len(self._nodes.ids), self._features.shape[1]
        request = read_request(
            self._nodes, self._lists, n_columns, edges, features, remove_edges, remove_nodes
        )
        n = len(request.nodes.ids)
        lists, rewired = self._lists.changed(n, request.edges)
        rewired = np.union1d(rewired, np.arange(n_before, n))
        self._grow(n)
        asked = np.union1d(request.removed, request.refeatured)
        touched = np.union1d(rewired, asked)
        before = self._features[touched]
        self._features[request.removed] = 0
        self._features[request.refeatured] = request.rows
        differs = (self._features[touched] != before).any(axis=1) | np.isin(touched, rewired)
        changed, before = touched[differs], before[differs]
        result: Spread | None = None
        why = "the distance is to the stationary state, which any change moves"
        if not self.method.needs_stationary_state:
            change = Change(self._lists, lists, self._features[:n], rewired, changed, before)
            most = _WORTH * self.method.n_hops * max(1, lists.n_stored)
            try:
                result = spread(change, self._states[:n], self.method, tolerance * self._lengths(), most)
            except TooManyError:
                why = "that is cheaper, as so much is affected"
        self._lists, self._nodes = lists, request.nodes
        if result is None:
            self._run_in_full()
            recomputed = self.n_nodes
        else:
            why, recomputed = "", self._apply(result, changed)
        old = np.setdiff1d(changed[changed < n_before], request.removed)
        return UpdateReport(
            self.n_nodes, n - n_before, len(request.removed), len(old), recomputed, result is None, why
        )

    def _apply(self, found: Spread, changed: NDArray[np.int64]) -> int:
        """Add the differences to the states, and combine the rows anew."""
        rows = np.unique(np.concatenate([changed, *found.rows]))
        states = self._states[rows].astype(np.float32)
        for k, (nodes, differences) in enumerate(zip(found.rows, found.differences, strict=True)):
            states[np.searchsorted(rows, nodes), :, k] += differences
        self._states[rows] = states
        self._matrix[rows] = combine(self._features[rows], states, self.method)
        return int(self._nodes.alive[rows].sum())

    def _run_in_full(self) -> None:
        n = self._lists.n_nodes
        graph = self._lists.to_adjacency(np.ones(n, bool))
        X = self._features[:n]
        smooth(graph, X, self.method, self._states, n_threads=self.n_threads)
        self._matrix[:n] = combine(X, self._states[:n], self.method)
        self._lists, self._floors = NeighborLists.of(graph), None

    def _lengths(self) -> NDArray[np.float64]:
        """Mean length of rows for each r, at the hop where they are shortest."""
        if self._floors is None:
            n = self._lists.n_nodes
            some = slice(0, n, max(1, n // 4096))
            states, X = self._states[some].astype(np.float32), self._features[some]
            squares = np.einsum("igkf,igkf->gk", states, states, dtype=np.float64) / len(X)
            own = np.full((len(squares), 1), np.einsum("if,if->", X, X, dtype=np.float64) / len(X))
            self._floors = np.sqrt(np.hstack([squares, own]).min(axis=1))
        return self._floors

    def _grow(self, n_nodes: int) -> None:
        """Make room for more nodes, with some to spare so that most updates copy nothing."""
        if n_nodes > len(self._features):
            spare = with_spare(n_nodes) - len(self._features)
            self._features, self._states, self._matrix = (
                np.concatenate([array, np.zeros((spare, *array.shape[1:]), array.dtype)])
                for array in (self._features, self._states, self._matrix)
            )

    def save(self, folder: Any, *, force: bool = False) -> None:
        """Write the model into a folder of .npy files and JSON, without pickle; it appears when complete.

        Parameters
        ----------
        folder : path
        force : bool
            Replace a model that is there already.
        """
        alive = self._nodes.alive
        with whole_folder(Path(folder), force=force, contents=_FILES) as part:
            self.graph.save(part / "graph")
            rows, n = np.flatnonzero(alive), int(alive.sum())
            for name, array in (("states", self._states), ("embedding", self._matrix)):
                shape = (with_spare(n), *array.shape[1:])  # room that is not written takes no disk
                file = np.lib.format.open_memmap(part / f"{name}.npy", "w+", array.dtype, shape)
                for top in range(0, n, _ROWS):
                    file[top : min(n, top + _ROWS)] = array[rows[top : top + _ROWS]]
                file.flush()
            about = {"format": "nafs model", "version": _VERSION, "method": asdict(self.method)}
            (part / "model.json").write_text(json.dumps(about, indent=1), encoding="utf-8")

    @classmethod
    def load(cls, folder: Any, *, n_threads: int | None = None) -> Model:
        """Read a model; states stay on disk until they are needed, and updates do not change the files."""
        folder = Path(folder)
        try:
            about = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"{folder} is not a saved model: it has no model.json") from None
        if about.get("format") != "nafs model" or about.get("version") != _VERSION:
            raise InputError(f"{folder} was not saved by this version of nafs")
        given = about["method"]
        method = Method(**{**given, "r": tuple(given["r"])})
        graph = Graph.load(folder / "graph")
        assert graph.features is not None
        states = np.load(folder / "states.npy", mmap_mode="c", allow_pickle=False)
        matrix = np.load(folder / "embedding.npy", mmap_mode="c", allow_pickle=False)
        n, f = graph.features.shape
        expected = (len(method.r), method.n_hops, f)
        if states.shape[1:] != expected or not n <= len(states) == len(matrix):
            raise InputError(f"{folder} is damaged: states.npy does not fit the graph; build the model again")
        X = np.zeros((len(states), f), np.float32)
        X[:n] = graph.features.toarray()
        lists = NeighborLists.of(graph.adjacency)
        return cls(method, lists, graph.id_array, X, states, matrix, n_threads=n_threads)
