"""Model: an embedding that can be updated when its graph changes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import parse_memory
from nafs._support.checks import check_choice
from nafs._support.scratch import Allocate
from nafs.graph import Adjacency, Features, Graph
from nafs.graph.ids import as_numpy, id_column
from nafs.graph.node_columns import has_usual_name
from nafs.model.drift import Drift
from nafs.model.new_frames import edges_of, features_of, ids_of
from nafs.model.new_node import embed_one
from nafs.model.recipe import Recipe, columns_of
from nafs.model.report import UpdateReport
from nafs.model.request import check_weights, read_request
from nafs.model.requirements import check_decision, check_room, needs_features, without_structure
from nafs.model.saving import Parts, load_parts, save_parts
from nafs.model.states import Kept, Tick, run_in_full, with_spare
from nafs.model.storage import Place
from nafs.model.store import Store
from nafs.model.updating import carry_out
from nafs.pipeline import Decision, Job, Settings, decide
from nafs.pipeline.execute import prepare_features
from nafs.readers.anything import as_graph
from nafs.smoothing.method import Method
from nafs.smoothing.threads import check_threads

TOLERANCE = 1e-5  # total error that updates may leave, as a share of a node's largest value


class Model:
    """An embedding that can be updated when its graph changes.

    Created by :meth:`build`. Nodes keep their place when others are removed; :attr:`ids` and :attr:`matrix`
    list the present ones.

    Attributes
    ----------
    method : Method
    recipe : Recipe
        How features are computed from raw columns, for new rows too.
    settings : dict
        All settings of the embedding, with the chosen values.

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

    def __init__(self, store: Store, parts: Parts, place: Place | None = None) -> None:
        self.method, self.directed, self.n_threads = store.method, store.directed, store.n_threads
        self.recipe, self.settings, self.self_loops = parts.recipe, parts.settings, parts.self_loops
        self._store, self._drift = store, parts.drift
        self._place = place  # the folder that the model was loaded from or saved in

    @classmethod
    def build(
        cls,
        graph: Any,
        settings: Settings | Method | int,
        *,
        n_threads: int | None = None,
        allocate: Allocate = np.zeros,
        progress: Tick | None = None,
    ) -> Model:
        """Embed a graph and keep the states of all hops.

        Parameters
        ----------
        graph : Graph, or anything that :func:`nafs.embed` takes
        settings : Settings, Method or int
            With a Method or a number of hops, features are smoothed as they are.
        n_threads : int, optional
            Of a Method; Settings have their own.
        allocate : callable
            Allocates the large arrays, filled with zeros; :func:`kept_nbytes` computes their size in advance.
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
        if isinstance(settings, int):
            settings = Method(settings)
        if isinstance(settings, Settings):
            decision = decide(Job.of(graph, without_structure(settings)))
            return cls.execute(decision, graph, allocate=allocate, progress=progress)
        if graph.features is None:
            raise needs_features()
        kept = Kept.empty(with_spare(graph.n_nodes), graph.features.shape[1], settings, allocate)
        threads = check_threads(n_threads)
        _run(kept, graph.adjacency, graph.features, settings, threads, None, progress)
        store = Store(settings, graph, kept, n_threads=threads, allocate=allocate)
        return cls(store, Parts(Recipe.of(graph), _names_of(graph), Drift(), self_loops=False))

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
        limit = check_room(decision, features.shape[1])
        kept = Kept.empty(with_spare(graph.n_nodes), features.shape[1], method, allocate)
        _run(kept, graph.adjacency, features, method, resources.threads, limit, progress)
        choice = replace(decision.choice, reasons=(*decision.choice.reasons, *lost))
        parts = Parts(
            Recipe.of(graph, preparation),
            decision.settings | {"reasons": list(choice.reasons)} | _names_of(graph),
            Drift.of(decision, graph.adjacency),
            self_loops=False,
        )
        store = Store(method, graph, kept, n_threads=resources.threads, allocate=allocate)
        return cls(store, parts)

    @property
    def ids(self) -> NDArray[Any]:
        """Ids of the nodes."""
        return as_numpy(self.id_array)

    @property
    def id_array(self) -> Any:
        """Ids of the nodes as an Arrow array."""
        return self._store.ids

    @property
    def matrix(self) -> NDArray[np.float32]:
        """The embedding, a row for each id."""
        self._store.check()
        return self._store.matrix()

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self._store.nodes.alive.sum())

    @property
    def nbytes(self) -> int:
        """Bytes of features, states and embedding."""
        return self._store.kept.nbytes

    @property
    def graph(self) -> Graph:
        """The graph with its features as they are now."""
        self._store.check()
        return self._store.graph()

    def embed_new(self, features: Any, neighbors: Sequence[Any], weights: Any = None) -> NDArray[np.float32]:
        """The embedding that a new node would have; the model does not change.

        The new node sees the graph, but the graph does not see the new node: its neighbours keep their
        states, which would change a little in a full run.

        Parameters
        ----------
        features : array-like of shape (f,), or dict of columns
            As the features that the model was built from.
        neighbors : sequence of ids
            A repeated one counts once, or with the sum of its weights.
        weights : array-like, optional
            Of the edges.

        Returns
        -------
        ndarray of float32
        """
        self._store.check()
        places = self._store.nodes.places(neighbors, "neighbors")
        if isinstance(features, dict):
            features = {
                name: value if isinstance(value, list) else [value] for name, value in features.items()
            }
        x = self.recipe.apply(features, 1)[0]
        for note in self.recipe.notes_on(features):
            warnings.warn(note, UserWarning, stacklevel=2)
        if weights is None:
            places = np.unique(places)
            weights = np.ones(len(places))
        checked = check_weights(weights, len(places), "weights").astype(np.float32)
        return embed_one(self._store.kept, self.method, x, places, checked)

    def update(
        self,
        *,
        edges: Any = None,
        features: Any = None,
        remove_edges: Any = None,
        remove_nodes: Any = None,
        missing: Literal["error", "zeros"] = "error",
        tolerance: float = TOLERANCE,
    ) -> UpdateReport:
        """Change the graph and update the embedding.

        The result equals embedding the whole new graph with the same method, up to the tolerance. If an
        error or Ctrl-C stops the update, the model stays as it was.

        Parameters
        ----------
        edges : (sources, targets), (sources, targets, weights) or data frame, optional
            New edges by id; unknown ids become nodes. An edge that exists gets the new weight.
        features : (ids, rows) or data frame with a column of ids, optional
            Features of new nodes, or new features of old ones, as the features that the model was built from:
            a matrix, or a data frame of the same columns.
        remove_edges : (sources, targets) or data frame, optional
        remove_nodes : ids or data frame, optional
        missing : {"error", "zeros"}
            What to do with new nodes without features: an error, or zeros.
        tolerance : float
            Differences that add up to less than this share of a node's largest value may be dropped, in this
            and all later updates together; 0 drops nothing. Rounding to float32 comes on top: about 1e-8 for
            each hop and update, if all updates move a value in the same direction. After 300 hops of updates
            (100 updates of 3 hops) the next one is therefore a full run, which the report says.

        Returns
        -------
        UpdateReport
        """
        check_choice("missing", missing, ("error", "zeros"))
        store = self._store
        store.check()
        prepared, notes = None, []
        edges, remove_edges = edges_of(edges), edges_of(remove_edges)
        id_name = self.settings.get("reading", {}).get("id_column")
        remove_nodes = ids_of(remove_nodes, store.nodes.ids, id_name)
        if features is not None:
            features, key = features_of(features, store.nodes.ids, columns_of(self.recipe), id_name)
            ids = id_column(features[0], "features")
            prepared = ids, self.recipe.apply(features[1], len(ids))
            notes = [*self.recipe.notes_on(features[1])]
            if key is not None and key != id_name and not has_usual_name(key):
                notes.append(f"the column {key!r} was taken as the ids of the features")
        request = read_request(
            store.nodes,
            store.lists,
            store.readers,
            store.kept.features.shape[1],
            edges=edges,
            features=prepared,
            remove_edges=remove_edges,
            remove_nodes=remove_nodes,
            self_loops=self.self_loops,
        )
        if missing == "error":
            request.refuse_missing()
        if request.nodes.ids.type != store.nodes.ids.type:
            notes.append("a new id is text, so all ids, which were whole numbers, are text from now on")
        outcome = carry_out(store, request, tolerance)
        if outcome.why and not outcome.full:
            notes.append(f"a full run is due ({outcome.why}), but the memory limit does not allow one")
        self._drift.count(len(request.pairs), len(request.fresh) + len(request.leaving))
        return UpdateReport(
            self.n_nodes,
            len(request.fresh),
            len(request.leaving),
            outcome.changed,
            len(outcome.rows),
            outcome.full,
            outcome.why if outcome.full else "",
            (*([request.note] if request.note else []), *notes, *self._notes(features)),
            outcome.rows,
            store.nodes.ids,
        )

    def _notes(self, features: Any) -> tuple[str, ...]:
        """Notes after an update; an error here does not undo the update."""
        try:
            return self._drift.note(self, features)
        except Exception as error:
            return (f"whether the settings still fit the graph could not be checked: {error}",)

    def save(self, folder: Any, *, force: bool = False) -> None:
        """Save the model in a folder of .npy files and JSON, without pickle.

        A model that was loaded from this folder adds only the changes since; see :mod:`nafs.model.storage`.

        Parameters
        ----------
        folder : path
        force : bool
            Replace another model. Changes that another program saved in the folder of this model are never
            replaced.
        """
        self._store.check()
        parts = Parts(self.recipe, self.settings, self._drift, self.self_loops)
        self._place = save_parts(self._store, parts, self._place, Path(folder), force=force)

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
        limit = parse_memory(memory_limit)
        threads = check_threads(n_threads)
        return cls(*load_parts(Path(folder), n_threads=threads, limit=limit, allocate=allocate))


def _names_of(graph: Graph) -> dict[str, Any]:
    """Settings that tell an update what the table of nodes calls the ids, if that is known."""
    name = graph.column_names.get("id_column")
    return {} if name is None else {"reading": {"id_column": name}}


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
