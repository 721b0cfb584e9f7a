"""Model: an embedding that follows changes of its graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import check_limit, left_of, parse_memory
from nafs._support.errors import InputError, Parameter
from nafs._support.scratch import Allocate
from nafs.graph import Adjacency, Features, Graph
from nafs.graph.ids import as_numpy, id_column
from nafs.model.cost import TooMuchError, Work, full_time
from nafs.model.drift import Drift
from nafs.model.journal import LIST_ARRAYS, Journal, check_change
from nafs.model.neighbors import NeighborLists, Rewritten
from nafs.model.recipe import Recipe
from nafs.model.report import UpdateReport
from nafs.model.request import Nodes, Request, read_request
from nafs.model.spread import Change, Spread, Spreading
from nafs.model.states import Kept, Tick, blocks, combined, run_in_full, run_nbytes, with_spare
from nafs.model.storage import (
    Place,
    append,
    is_saved_model,
    load_base,
    load_changes,
    method_of,
    plain_method,
    read_about,
    reading,
    save_base,
)
from nafs.model.undo import Undo, uninterrupted
from nafs.pipeline import Decision, Job, Settings, decide
from nafs.pipeline.execute import prepare_features
from nafs.readers.anything import as_graph
from nafs.smoothing import _kernel
from nafs.smoothing.distances import distance_named
from nafs.smoothing.ensembles import ensemble_named
from nafs.smoothing.method import AUTO, Method
from nafs.smoothing.threads import check_threads
from nafs.smoothing.weightings import weighting_named

TOLERANCE = 1e-5  # share of a node's largest value that updates may leave out, in all


class Model:
    """An embedding that follows changes of its graph.

    Made by :meth:`build`. Nodes keep their place when others leave; :attr:`ids` and :attr:`matrix` list
    those that are there.

    Attributes
    ----------
    method : Method
    recipe : Recipe
        How features are made from raw columns; new rows are made in the same way.
    settings : dict
        All settings of the embedding, with the chosen values.
    notes : list of str
        What the model wants to say, such as why a number of hops was chosen.

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
        graph: Graph,
        kept: Kept,
        recipe: Recipe,
        *,
        settings: dict[str, Any] | None = None,
        drift: Drift | None = None,
        self_loops: bool = False,
        n_threads: int | None = None,
        allocate: Allocate = np.zeros,
        limit: int | None = None,
    ) -> None:
        adjacency = graph.adjacency
        self.method, self.recipe = method, recipe
        self.settings = {} if settings is None else settings
        self.directed, self.self_loops = adjacency.directed, self_loops
        self.n_threads = check_threads(n_threads)
        self._drift = Drift() if drift is None else drift
        self._nodes = Nodes(graph.id_array, np.ones(graph.n_nodes, bool))
        self._kept, self._allocate, self._limit = kept, allocate, limit
        self._lists, self._readers = _both_ways(adjacency, kept.capacity)
        self._spreading = Spreading(kept, method, self.n_threads)
        self._place: Place | None = None  # the folder that the model was loaded from or saved in
        self._journal: Journal | None = None  # None: only a whole model can be saved
        self._broken = False

    @classmethod
    def build(
        cls,
        graph: Any,
        settings: Settings | Method,
        *,
        n_threads: int | None = None,
        allocate: Allocate = np.zeros,
        progress: Tick | None = None,
    ) -> Model:
        """Embed a graph and keep the states of all hops.

        Parameters
        ----------
        graph : Graph, or anything that :func:`nafs.embed` takes
        settings : Settings or Method
            With a Method, features are smoothed as they are.
        n_threads : int, optional
            Of a Method; Settings have their own.
        allocate : callable
            Allocates the large arrays, filled with zeros; :func:`kept_nbytes` tells their size before.
        progress : callable, optional
            Called with the number of rows that a hop has smoothed since the last call.

        Returns
        -------
        Model

        Examples
        --------
        >>> import nafs
        >>> from nafs.model import Model
        >>> from nafs.pipeline import Settings
        >>> graph = nafs.datasets.power_law(100, n_features=20, seed=0)
        >>> Model.build(graph, Settings.of(n_hops=2, preprocessing="l2", dim=8)).matrix.shape
        (100, 8)
        """
        graph = as_graph(graph)
        if isinstance(settings, Settings):
            decision = decide(Job.of(graph, without_structure(settings)))
            return cls.execute(decision, graph, allocate=allocate, progress=progress)
        if graph.features is None:
            raise _needs_features()
        kept = Kept.empty(with_spare(graph.n_nodes), graph.features.shape[1], settings, allocate)
        threads = check_threads(n_threads)
        _run(kept, graph.adjacency, graph.features, settings, threads, None, progress)
        return cls(settings, graph, kept, Recipe.of(graph), n_threads=threads, allocate=allocate)

    @classmethod
    def execute(
        cls,
        decision: Decision,
        graph: Graph,
        *,
        allocate: Allocate = np.zeros,
        progress: Tick | None = None,
    ) -> Model:
        """Build a model as decided by :func:`nafs.pipeline.decide`; see :meth:`build`."""
        check_decision(decision)
        method, resources = decision.method, decision.job.settings.resources
        preparation, features, lost = prepare_features(decision)
        kept = Kept.empty(with_spare(graph.n_nodes), features.shape[1], method, allocate)
        limit = None if resources.limit is None else resources.limit - decision.problem.held
        _run(kept, graph.adjacency, features, method, resources.threads, limit, progress)
        choice = replace(decision.choice, reasons=(*decision.choice.reasons, *lost))
        recipe = Recipe.of(graph, preparation)
        return cls(
            method,
            graph,
            kept,
            recipe,
            settings=decision.settings | {"reasons": list(choice.reasons)},
            drift=Drift.of(decision, graph.adjacency),
            n_threads=resources.threads,
            allocate=allocate,
        )

    @property
    def ids(self) -> NDArray[Any]:
        """Ids of the nodes."""
        return as_numpy(self.id_array)

    @property
    def id_array(self) -> Any:
        """Ids of the nodes as an Arrow array."""
        import pyarrow as pa

        alive = self._nodes.alive
        return self._nodes.ids if alive.all() else self._nodes.ids.filter(pa.array(alive))

    @property
    def matrix(self) -> NDArray[np.float32]:
        """The embedding, a row for each id."""
        self._check()
        alive = self._nodes.alive
        rows = self._kept.embedding[: len(alive)]
        return combined(rows if alive.all() else rows[alive], self.method)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self._nodes.alive.sum())

    @property
    def nbytes(self) -> int:
        """Bytes of features, states and embedding."""
        return self._kept.nbytes

    @property
    def graph(self) -> Graph:
        """The graph with its features as they are now."""
        self._check()
        alive = self._nodes.alive
        adjacency = self._lists.to_adjacency(alive, directed=self.directed)
        return Graph(adjacency, self._kept.features[: len(alive)][alive], ids=self.id_array)

    def embed_new(self, features: Any, neighbors: Sequence[Any], weights: Any = None) -> NDArray[np.float32]:
        """The embedding that a new node would have; the model stays as it is.

        The new node sees the graph, but the graph does not see the new node: its neighbours keep their
        states, where in a full run they would change a little.

        Parameters
        ----------
        features : array-like of shape (f,), or dict of columns
            As the features that the model was built from.
        neighbors : sequence of ids
        weights : array-like, optional
            Of the edges.

        Returns
        -------
        ndarray of float32
        """
        self._check()
        if self.method.needs_stationary_state:
            raise InputError(f"embed_new cannot use the distance {self.method.distance!r}")
        places = self._nodes.places(neighbors, "neighbors")
        if isinstance(features, dict):
            features = {
                name: value if isinstance(value, list) else [value] for name, value in features.items()
            }
        x = self.recipe.apply(features, 1)
        edge = np.ones(len(places), np.float32) if weights is None else np.asarray(weights, np.float32)
        r = np.asarray(self.method.r)
        degree = 1.0 + float(edge.sum(dtype=np.float64))
        scale = (degree**r).astype(np.float32)
        hops = self.method.n_hops
        states = np.empty((hops, len(r), x.shape[1]), np.float32)
        own = x / scale[:, None]
        for k in range(hops):
            around = np.tensordot(edge, self._kept.z(places, k), axes=1)
            own = (own + around) / np.float32(degree)
            states[k] = own
        return np.asarray(combined(_weighted(x[0], states, scale, self.method)[None], self.method)[0])

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

        The result is that of embedding the whole new graph with the same method, up to the tolerance. If an
        error or Ctrl-C stops the update, the model stays as it was.

        Parameters
        ----------
        edges : (sources, targets) or (sources, targets, weights), optional
            New edges by id; unknown ids become nodes. An edge that exists gets the new weight.
        features : (ids, rows), optional
            Features of new nodes, or new features of old ones, as the features that the model was built from:
            a matrix, or a data frame of the same columns. A new node without any gets zeros.
        remove_edges : (sources, targets), optional
        remove_nodes : ids, optional
        tolerance : float
            Differences that add up to less than this share of a node's largest value may be dropped, in this
            and all later updates together; 0 drops nothing.

        Returns
        -------
        UpdateReport
        """
        self._check()
        prepared = None
        if features is not None:
            ids = id_column(features[0], "features")
            prepared = ids, self.recipe.apply(features[1], len(ids))
        request = read_request(
            self._nodes,
            self._lists,
            self._readers,
            self._kept.features.shape[1],
            edges=edges,
            features=prepared,
            remove_edges=remove_edges,
            remove_nodes=remove_nodes,
            self_loops=self.self_loops,
        )
        self._grow(len(request.nodes.ids))
        undo = Undo()
        try:
            change = self._stage(request, undo)
            result, why = self._spread(change, tolerance)
            fresh = None if result is not None else self._full_run(request.nodes.alive)
        except BaseException:
            undo.take_back()
            raise
        finally:
            _kernel.release_threads()
        with uninterrupted():
            try:
                if result is None:
                    assert fresh is not None
                    self._take(fresh, request.nodes)
                    rows = np.arange(len(self._nodes.ids), dtype=np.int32)
                else:
                    rows = self._apply(result, change, request, tolerance)
                    self._nodes = request.nodes
            except BaseException:
                undo.take_back()
                self._recover()
                raise
            self._drift.count(len(request.pairs), len(request.fresh) + len(request.leaving))
        old = np.setdiff1d(change.nodes, request.fresh)
        return UpdateReport(
            self.n_nodes,
            len(request.fresh),
            len(request.leaving),
            len(old),
            len(rows),
            result is None,
            why,
            (*([request.note] if request.note else []), *self._notes(features)),
            self._nodes.ids.take(rows),
        )

    def _notes(self, features: Any) -> tuple[str, ...]:
        """What to say after an update, which is done whatever happens here."""
        try:
            return self._drift.note(self, features)
        except Exception as error:
            return (f"whether the settings still fit the graph could not be checked: {error}",)

    def _recover(self) -> None:
        """Compute everything again for the graph as it was: an update failed while it wrote states."""
        self._broken = True
        try:
            self._take(self._full_run(self._nodes.alive), self._nodes)
        except Exception:
            return
        self._broken = False

    def _check(self) -> None:
        if self._broken:
            raise InputError(
                "an update of this model failed half-way, and so did the attempt to take it back; load or "
                "build the model again"
            )

    def _grow(self, n_nodes: int) -> None:
        """Make room for more nodes, with some to spare so that most updates copy nothing."""
        rows = max(len(self._lists.starts), len(self._readers.starts))
        if n_nodes > self._kept.capacity or rows > self._kept.capacity:  # memory ran out half-way before
            capacity = max(rows, with_spare(n_nodes))
            self._lists.grow(capacity)
            if self._readers is not self._lists:
                self._readers.grow(capacity)
            kept = self._kept.grown(capacity, self.method, self._allocate)
            spreading = Spreading(kept, self.method, self.n_threads)
            self._kept, self._spreading = kept, spreading

    def _stage(self, request: Request, undo: Undo) -> Change:
        """Write new edges, degrees and features; states and embeddings are as before."""
        kept, lists = self._kept, self._lists
        rewritten = lists.rewritten(request.pairs)
        both = [(lists, rewritten)]
        if self._readers is not lists:
            both.append((self._readers, self._readers.rewritten(request.pairs.transposed())))
        for part, rows in both:
            undo.remember(part.starts, rows.rows)
            undo.remember(part.counts, rows.rows)
            part.write(rows)
        rewired = rewritten.rows
        touched = np.unique(np.concatenate([rewired, request.fresh, request.refeatured, request.removed]))
        features, scale = kept.features[touched], kept.scale[touched]
        scale[np.isin(touched, request.fresh)] = 0  # they have no part in the old embedding
        degrees = kept.degrees[rewired]
        undo.remember(kept.features, touched)
        for array in (kept.degrees, kept.scale, kept.inverse_degree):
            undo.remember(array, rewired)
        kept.features[request.removed] = 0
        kept.features[request.refeatured] = request.rows
        kept.set_degrees(rewired, rewritten.degrees, self.method)
        differs = (kept.features[touched] != features).any(axis=1) | ~(scale > 0).all(axis=1)
        differs |= np.isin(touched, rewired)
        leaves = np.isin(touched, request.leaving)
        differs &= ~leaves
        stays = ~np.isin(rewired, request.leaving)
        pairs = rewritten.differences
        assert pairs is not None
        return Change(
            touched[differs].astype(np.int32),
            features[differs],
            scale[differs],
            rewired[stays].astype(np.int32),
            rewritten.degrees[stays],
            degrees[stays],
            pairs.of(~np.isin(pairs.readers, request.leaving)),
            touched[leaves].astype(np.int32),
            features[leaves],
            scale[leaves],
        )

    def _spread(self, change: Change, tolerance: float) -> tuple[Spread | None, str]:
        """The differences that follow from a change, or why everything has to be computed."""
        if self.method.needs_stationary_state:
            return (
                None,
                f"any change moves the stationary state, which the distance {self.method.distance!r} uses",
            )
        hops, n_values = self.method.n_hops, self._kept.states[0, :1].size
        full = full_time(len(self._nodes.ids), self._lists.n_stored, n_values, hops)
        work = Work(n_values, hops, full)
        try:
            result = self._spreading.follow(
                change, self._kept, self._lists, self._readers, tolerance=tolerance, work=work
            )
        except TooMuchError:
            return None, "that is faster where so much changes"
        return result, ""

    def _full_run(self, alive: NDArray[np.bool_]) -> tuple[Kept, Adjacency]:
        """Everything computed from the staged edges and features, in new arrays, without removed nodes."""
        graph = self._lists.to_adjacency(alive, directed=self.directed)
        old = self._kept.features
        limit = self._limit
        if limit is not None:
            held = graph.nbytes + self._lists.nbytes
            needed = held + run_nbytes(graph.n_nodes, old.shape[1], self.method, 1)
            check_limit(needed, limit, "so much changes that a full run is due, which needs", "raise it")
            limit -= held
        kept = Kept.empty(with_spare(graph.n_nodes), old.shape[1], self.method, self._allocate)
        rows = np.flatnonzero(alive)
        for top, bottom in blocks(len(rows), old.shape[1]):
            kept.features[top:bottom] = old[rows[top:bottom]]
        run_in_full(kept, graph, self.method, n_threads=self.n_threads, limit=limit)
        return kept, graph

    def _take(self, fresh: tuple[Kept, Adjacency], nodes: Nodes) -> None:
        """Go over to the arrays of a full run."""
        import pyarrow as pa

        kept, graph = fresh
        nodes = Nodes(nodes.ids.filter(pa.array(nodes.alive)), np.ones(graph.n_nodes, bool))
        lists, readers = _both_ways(graph, kept.capacity)
        spreading = Spreading(kept, self.method, self.n_threads)
        self._kept, self._nodes, self._lists, self._readers = kept, nodes, lists, readers
        self._spreading, self._journal = spreading, None

    def _apply(self, result: Spread, change: Change, request: Request, tolerance: float) -> NDArray[np.int32]:
        """Add the differences to the states and the embedding; returns the nodes that changed."""
        kept = self._kept
        rows = self._spreading.apply(result, change, kept, self._lists, tolerance=tolerance)
        for array in (kept.states, kept.embedding, kept.largest, kept.dropped):
            array[request.leaving] = 0
        if self._journal is not None:
            self._journal.add(np.concatenate([rows, change.nodes, request.leaving]), request.pairs)
        return rows

    def save(self, folder: Any, *, force: bool = False) -> None:
        """Save the model in a folder of .npy files and JSON, without pickle.

        A model that was loaded from this folder adds what has changed since; see :mod:`nafs.model.storage`.

        Parameters
        ----------
        folder : path
        force : bool
            Replace another model. What another program has saved in the folder that this model was loaded
            from is never replaced.
        """
        self._check()
        folder = Path(folder)
        place, journal = self._place, self._journal
        if place is not None and not (is_saved_model(folder) and folder.resolve() == place.folder):
            place = None
        if place and journal and (journal.empty or append(place, *self._changes(journal))):
            self._journal = Journal(len(self._nodes.ids))
            return
        recipe, arrays = self.recipe.to_plain()
        about = {
            "method": plain_method(self.method),
            "columns": self._kept.features.shape[1],
            "self_loops": self.self_loops,
            "settings": self.settings,
            "recipe": recipe,
            "drift": self._drift.to_plain(),
        }
        n = len(self._nodes.ids)
        adjacency = self._lists.to_adjacency(np.ones(n, bool), directed=self.directed)
        graph = Graph(adjacency, ids=self._nodes.ids)
        self._place = save_base(
            folder,
            graph,
            self._kept,
            self._nodes.alive,
            about,
            arrays,
            force=force or place is not None,
            replaces=place,
        )
        self._journal = Journal(n)

    def _changes(self, journal: Journal) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What differs from the folder: arrays and values for JSON."""
        n, kept = len(self._nodes.ids), self._kept
        rows = journal.rows()
        arrays = {name: array[rows] for name, array in kept.arrays().items() if name != "dropped"}
        arrays |= {"rows": rows, "dropped": kept.dropped[:n], "alive": self._nodes.alive}
        lists = {"lists": self._lists} | ({"readers": self._readers} if self.directed else {})
        for name, part in lists.items():
            changed = journal.list_rows(name)
            _, neighbors, weights = part.entries(changed)
            arrays |= {
                f"{name}_rows": changed,
                f"{name}_counts": part.counts[changed],
                f"{name}_indices": neighbors,
                f"{name}_weights": weights,
            }
        new = self._nodes.ids[journal.n_ids :]
        about = {
            "ids": new.to_pylist(),
            "text_ids": str(self._nodes.ids.type) != "int64",
            "drift": self._drift.to_plain(),
        }
        return arrays, about

    @classmethod
    def load(
        cls,
        folder: Any,
        *,
        n_threads: int | None = None,
        memory_limit: int | str | None = None,
        allocate: Allocate = np.zeros,
    ) -> Model:
        """Read a saved model.

        States stay on disk until they are needed. Updates change the folder only when :meth:`save` is called.

        Parameters
        ----------
        folder : path
        n_threads : int, optional
        memory_limit : int or str, optional
            Bytes, or a text such as "4GB", that full runs stay within besides the arrays from ``allocate``.
        allocate : callable
            Allocates large arrays, filled with zeros.

        Returns
        -------
        Model
        """
        folder = Path(folder)
        limit = left_of(parse_memory(memory_limit))
        about = read_about(folder)
        with reading(folder):
            method = method_of(about)
            graph, kept, alive, arrays = load_base(folder, about, method)
            model = cls(
                method,
                graph,
                kept,
                Recipe.from_plain(about["recipe"], arrays),
                settings=about["settings"],
                drift=Drift.from_plain(about["drift"]),
                self_loops=bool(about["self_loops"]),
                n_threads=n_threads,
                allocate=allocate,
                limit=limit,
            )
            model._nodes = Nodes(graph.id_array, alive)
            n_changes = 0
            for change, rows in load_changes(folder):
                model._replay(change, rows)
                n_changes += 1
        model._place = Place(folder.resolve(), about["token"], n_changes)
        model._journal = Journal(len(model._nodes.ids))
        return model

    def _replay(self, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over a change from the journal."""
        import pyarrow as pa

        ids = self._nodes.ids
        if about["text_ids"]:
            ids = ids.cast(pa.large_string())
        ids = pa.concat_arrays([ids, pa.array(about["ids"], ids.type)])
        if ids.null_count:
            raise ValueError("an id of its journal is missing")
        check_change(arrays, self._kept, len(ids), directed=self.directed)
        alive, rows = arrays["alive"], arrays["rows"]
        self._grow(len(ids))
        for name, array in self._kept.arrays().items():
            if name == "dropped":
                array[: len(ids)] = arrays[name]
            else:
                array[rows] = arrays[name]
        for name, part in (("lists", self._lists), ("readers", self._readers)):
            if f"{name}_rows" in arrays:
                part.write(Rewritten(*(arrays[f"{name}_{what}"] for what in LIST_ARRAYS)))  # type: ignore[arg-type]
        self._nodes = Nodes(ids, alive)
        self._drift = Drift.from_plain(about["drift"])


def without_structure(settings: Settings) -> Settings:
    """Settings for a model: structural columns are not tried, and an error if they were asked for.

    Examples
    --------
    >>> from nafs.model.model import without_structure
    >>> from nafs.pipeline import Settings
    >>> without_structure(Settings.of(n_hops="auto")).structure
    'none'
    """
    if settings.preparations.structure not in (AUTO, "none"):
        raise _needs_features()
    return replace(settings, preparations=replace(settings.preparations, structure="none"))


def check_decision(decision: Decision) -> None:
    """Raise if a model cannot be built as decided, before anything is computed."""
    if decision.job.depends_on_edges:
        raise _needs_features()
    if decision.plan.engine != "memory":
        raise InputError(
            "a model that can be updated is computed in memory; leave out ",
            Parameter("engine"),
            ", or raise ",
            Parameter("memory_limit"),
        )


def _needs_features() -> InputError:
    return InputError(
        "a model that can be updated needs features of its own, without structural columns, which change "
        "everywhere with every edge: pass features, and ",
        Parameter("structure", "none"),
    )


def _run(
    kept: Kept,
    graph: Adjacency,
    features: Features,
    method: Method,
    n_threads: int,
    limit: int | None,
    progress: Tick | None,
) -> None:
    for begin, end in features.blocks(1 << 22):
        kept.features[begin:end] = features.rows(begin, end, np.float32)
    run_in_full(kept, graph, method, n_threads=n_threads, limit=limit, tick=progress)


def _both_ways(graph: Adjacency, capacity: int) -> tuple[NeighborLists, NeighborLists]:
    """Whom each node reads, and who reads it; the same lists if the graph is undirected."""
    lists = NeighborLists(graph, capacity)
    return lists, NeighborLists(graph.transposed(), capacity) if graph.directed else lists


def _weighted(
    x: NDArray[np.float32], states: NDArray[np.float32], scale: NDArray[np.float32], method: Method
) -> NDArray[np.float32]:
    """The embedding of one node as it is kept, from its features and its states of shape (K, len(r), f)."""
    every = np.concatenate([(x / scale[:, None])[None], states]).astype(np.float64)
    distance, weighting = distance_named(method.distance), weighting_named(method.weighting)
    dots, squares = every @ x.astype(np.float64), np.einsum("kgf,kgf->kg", every, every)
    weights = weighting.weights(
        distance.formula(dots, squares, np.asarray(np.linalg.norm(x))), distance, axis=0
    )
    parts = np.einsum("kg,kgf->gf", weights, every) * scale[:, None]
    averaged = ensemble_named(method.ensemble).averages
    return np.asarray(parts.mean(axis=0) if averaged else parts.ravel(), np.float32)
