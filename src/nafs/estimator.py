"""NAFS as a scikit-learn estimator: a thin adapter over the engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from nafs._support.budget import check_limit, parse_memory
from nafs.engines import memory, run
from nafs.engines.progress import ProgressCallback
from nafs.engines.settings import Settings
from nafs.graph import Adjacency, Features, Graph, nearest_neighbor_graph, read_adjacency, read_features
from nafs.graph.adjacency import reading_nbytes
from nafs.graph.indices import check_indices
from nafs.selection import choose
from nafs.smoothing.method import DEFAULT_R, Method, check_hops


class NAFS(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Node embeddings without training, by node-adaptive feature smoothing.

    For each r the features X are smoothed over 0..K hops with Â_r = D̃^(r-1) Ã D̃^(-r); node i weighs hop k
    by w_i(k) = softmax_k D_i(k), where D_i(k) tells how far the node still is from over-smoothing; the
    weighted sums for the r's are combined by their mean, their maximum or side by side.

    Nothing is learnt: ``transform`` embeds the nodes of whatever graph it is given.

    Parameters
    ----------
    n_hops : int or "auto", default=20
        K, the number of hops. "auto" chooses it without labels, for the ``goal``.
    r : float or sequence of floats in [0, 1], default=(0, 0.1, 0.2, 0.3, 0.4, 0.5)
        Normalisations: 0 is the random walk, 0.5 the symmetric form, 1 the reverse walk.
    ensemble : {"mean", "max", "concat"}, default="mean"
        How the r's are combined.
    weighting : {"adaptive", "linear", "average", "last"}, default="adaptive"
        Softmax of the distances; distances over their sum (where all are 0, every hop alike; negative
        cosines count as 0); every hop alike; hop K alone.
    distance : {"cosine", "euclidean", "stationary_cosine"}, default="cosine"
        Cosine to the node's own features; Euclidean distance to the stationary state; one minus the
        cosine to the stationary state.
    preprocessing : {"auto", "none", "l2", "tfidf", "standardize"}, optional
        What is done to the features first, see :func:`nafs.selection.prepare`; "auto" goes by what the
        values look like. By default "auto" where ``n_hops`` is "auto", and "none" otherwise.
    center : {"auto", "none", "mean", "stationary"}, default="auto"
        What is taken away from every row first. "auto" takes nothing away but where the number of hops is
        chosen for links: then whichever of "none" and "mean" does better.
    goal : {"clusters", "links"}, default="clusters"
        What ``n_hops="auto"`` is to be good for: clusters, by the modularity of those found; or links, by
        edges that are hidden for the choice.
    n_clusters : int, optional
        Clusters that ``n_hops="auto"`` looks for; 8 where it is not known.
    reduce_to : int, optional
        Fewer features, made from wider ones before smoothing; what that loses is in :meth:`explain`.
    reduction : {"svd", "random"}, default="svd"
        By leading singular directions, or by a Gaussian random projection.
    n_neighbors : int, default=10
        Neighbours of each row in the graph that is built when no adjacency is given.
    metric : str, default="euclidean"
        Metric of that graph.
    directed : bool, optional
        ``False`` smooths over max(A, Aᵀ); ``None``, the default, does so too and warns if that changes
        the graph; ``True`` smooths each node over the nodes that it points to.
    self_loops : bool, default=False
        Keep self-loops of the adjacency, besides the one that the method adds to every node.
    state_dtype : {"float32", "float16"}, default="float32"
        Storage of the smoothed features between hops. float16 halves that memory, is faster where
        nodes have many neighbours, and keeps about three digits relative to the largest feature: scale
        columns alike, and do without it where single values tower over the rest.
    n_threads : int, optional
        Threads of the kernel; all cores by default. The result is the same for any number.
    memory_limit : int or str, optional
        Bytes, or a string like "4GB", for states, sums, the result and copies of the inputs. Within it
        several narrow r's are carried side by side, which is faster; what cannot fit raises MemoryError
        before it starts, and so does a graph whose reading, before that, would take more for a moment. By
        default one r is carried at a time.
    engine : {"auto", "memory", "disk", "dask"}, default="auto"
        Where hops run. "disk" keeps all but two panels of columns in files, within ``memory_limit``; "dask"
        does the same on the workers of a Dask cluster; "auto" is memory where that fits, or else disk. Their
        embedding is mapped from a file that goes with the array.
    work_dir : path, optional
        Folder for the files of "disk" and "dask", removed at the end; a temporary one by default. A run that
        was broken off there goes on where it was.

    Attributes
    ----------
    embedding_ : ndarray of float32, shape (n, columns)
        Embedding of the nodes that ``fit`` saw; columns are f, or f times the number of r's for
        "concat".
    adjacency_ : Adjacency
        The graph that ``fit`` used, after the rules of :func:`nafs.graph.read_adjacency`.
    choice_ : Choice
        What was left open and chosen: ``n_hops``, ``preprocessing``, ``center``, the criterion's ``curve``.
    n_hops_ : int
        The number of hops, given or chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X had column names.

    References
    ----------
    W. Zhang et al., "NAFS: A Simple yet Tough-to-beat Baseline for Graph Representation Learning",
    ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from nafs import NAFS
    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> NAFS(n_hops=2, r=0.5).fit_transform(np.eye(3), adjacency=path).round(2)
    array([[0.67, 0.23, 0.05],
           [0.21, 0.65, 0.21],
           [0.05, 0.23, 0.67]], dtype=float32)
    """

    def __init__(
        self,
        n_hops: int | str = 20,
        r: float | Sequence[float] = DEFAULT_R,
        ensemble: str = "mean",
        weighting: str = "adaptive",
        distance: str = "cosine",
        *,
        preprocessing: str | None = None,
        center: str = "auto",
        goal: str = "clusters",
        n_clusters: int | None = None,
        reduce_to: int | None = None,
        reduction: str = "svd",
        n_neighbors: int = 10,
        metric: str = "euclidean",
        directed: bool | None = None,
        self_loops: bool = False,
        state_dtype: str = "float32",
        n_threads: int | None = None,
        memory_limit: int | str | None = None,
        engine: str = "auto",
        work_dir: str | None = None,
    ) -> None:
        self.n_hops = n_hops
        self.r = r
        self.ensemble = ensemble
        self.weighting = weighting
        self.distance = distance
        self.preprocessing = preprocessing
        self.center = center
        self.goal = goal
        self.n_clusters = n_clusters
        self.reduce_to = reduce_to
        self.reduction = reduction
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.directed = directed
        self.self_loops = self_loops
        self.state_dtype = state_dtype
        self.n_threads = n_threads
        self.memory_limit = memory_limit
        self.engine = engine
        self.work_dir = work_dir

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        adjacency: Any = None,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Embed the nodes and keep the result in ``embedding_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, f), or Graph
            Node features; or a graph that has features, and then no ``adjacency``.
        y : ignored
            Here for scikit-learn's sake. A graph passed in its place is refused.
        adjacency : sparse matrix of shape (n, n), optional
            The graph, by keyword. Without it, the nearest-neighbour graph of the rows of X.
        progress : callable, optional
            Called at least once per hop with a :class:`nafs.Progress`.

        Returns
        -------
        self
        """
        self._fit(X, y, adjacency, progress)
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        adjacency: Any = None,
        progress: ProgressCallback | None = None,
    ) -> NDArray[np.float32]:
        """Embed the nodes, keep the result in ``embedding_`` and return it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, f)
        y : ignored
        adjacency : sparse matrix of shape (n, n), optional
        progress : callable, optional

        Returns
        -------
        ndarray of float32, shape (n, columns)
        """
        return self._fit(X, y, adjacency, progress)

    def transform(
        self, X: Any, *, adjacency: Any = None, progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """Embed the nodes of another graph with the same features and settings.

        Each call stands alone: rows of X are smoothed over each other, never over rows seen in
        ``fit``, so the result for a row depends on what comes with it. Choices, and the numbers that
        features are scaled and centred by, are those of ``fit``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, f)
        adjacency : sparse matrix of shape (m, m), optional
            Needed where ``fit`` was given one.
        progress : callable, optional

        Returns
        -------
        ndarray of float32, shape (m, columns)
        """
        check_is_fitted(self, "embedding_")
        if self._had_graph and adjacency is None and not isinstance(X, Graph):
            raise ValueError(
                "fit was given a graph and transform was not: pass adjacency=...; "
                "the rows that were fitted are in embedding_"
            )
        features, graph = self._read(X, adjacency, reset=False)
        settings, held = self._settings(), _held(features, graph, X, adjacency)
        prepared = self._preparation.apply(features)
        held += 0 if prepared is features else prepared.nbytes
        return _embed(graph, prepared, settings.method(self.n_hops_), settings, held, progress)

    def explain(self) -> str:
        """What was left open in the settings, and what was chosen for which reason; a line each."""
        check_is_fitted(self, "embedding_")
        return str(self.choice_.explain())

    def sweep(
        self,
        X: Any,
        *,
        adjacency: Any = None,
        hops: Iterable[int] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the embedding for many K in one pass, for the price of the largest.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, f)
        adjacency : sparse matrix of shape (n, n), optional
        hops : iterable of ints, optional
            The K's wanted; 1..n_hops by default. They come in ascending order.
        progress : callable, optional

        Returns
        -------
        iterator of (int, ndarray)
            Each embedding is a new array that the iterator does not keep. Features are prepared as for
            ``fit``, but ``center="auto"`` is "none": it is chosen together with the number of hops.

        Examples
        --------
        >>> import numpy as np
        >>> from nafs import NAFS
        >>> pair = np.array([[0, 1], [1, 0]])
        >>> [(K, Z.shape) for K, Z in NAFS().sweep(np.eye(2), adjacency=pair, hops=[1, 5])]
        [(1, (2, 2)), (5, (2, 2))]
        """
        settings = self._settings()
        method = settings.method()
        wanted = range(1, method.n_hops + 1) if hops is None else hops
        if isinstance(wanted, str) or not isinstance(wanted, Iterable):
            raise TypeError(f"hops must be several numbers, such as range(1, 21); got {hops!r}")
        ascending = sorted({check_hops(hop, "hops") for hop in wanted})
        if not ascending:
            raise ValueError("hops is empty: name at least one number of hops")
        features, graph = self._read(X, adjacency, reset=None)
        given, held = features, _held(features, graph, X, adjacency)
        _, _, features = choose(graph, features, settings.with_hops(method.n_hops), held=held)
        return memory.sweep(
            graph,
            features,
            method,
            ascending,
            held=held + (0 if features is given else features.nbytes),
            progress=progress,
            **settings.resources(),
        )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the embedding's columns.

        Parameters
        ----------
        input_features : array-like of str, optional

        Returns
        -------
        ndarray of str
            The names of the features; for "concat", with the r that each column belongs to.
        """
        names = super().get_feature_names_out(input_features)
        if self._preparation.directions is not None:
            names = [f"{self.reduction}{i}" for i in range(self._preparation.directions.shape[1])]
        method = self._settings().method()
        if method.ensemble == "concat":
            names = [f"{name}_r{r:.12g}" for r in method.r for name in names]
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _fit(self, X: Any, y: Any, adjacency: Any, progress: ProgressCallback | None) -> NDArray[np.float32]:
        shape: tuple[int, ...] = getattr(
            y, "shape", ()
        )  # looked at first: building a graph in vain takes long
        if (
            len(shape) == 2
            and shape[0] == shape[1] > 1
            and not isinstance(X, Graph)
            and shape[:1] == np.shape(X)[:1]
        ):
            raise TypeError("the second argument is y, which is ignored: pass the graph as adjacency=...")
        features, graph = self._read(X, adjacency, reset=True)
        settings, held = self._settings(), _held(features, graph, X, adjacency)
        self.choice_, self._preparation, prepared = choose(graph, features, settings, held=held)
        held += 0 if prepared is features else prepared.nbytes
        method = settings.method(self.choice_.n_hops)
        self.embedding_ = _embed(graph, prepared, method, settings, held, progress)
        self.n_hops_ = self.choice_.n_hops
        self.adjacency_ = graph
        self._had_graph = adjacency is not None or isinstance(X, Graph)
        return self.embedding_

    def _read(self, X: Any, adjacency: Any, *, reset: bool | None) -> tuple[Features, Adjacency]:
        self._settings()
        if isinstance(X, Graph):
            return self._read_graph(X, adjacency, reset)
        if sp.issparse(X):
            check_indices(X, "features")  # before scikit-learn converts it
        if reset is None:  # a sweep leaves a fitted model as it is
            X = check_array(X, accept_sparse="csr", ensure_all_finite=False, input_name="X")
        else:
            X = validate_data(self, X, accept_sparse="csr", ensure_all_finite=False, reset=reset)
        features = read_features(X)
        if adjacency is None:
            return features, nearest_neighbor_graph(X, self.n_neighbors, self.metric)
        check_limit(
            reading_nbytes(adjacency),
            parse_memory(self.memory_limit),
            "bringing the graph into canonical form may take",
            "raise the limit, or pass what nafs.graph.read_adjacency returns",
        )
        graph = read_adjacency(
            adjacency, features.shape[0], directed=self.directed, self_loops=self.self_loops
        )
        return features, graph

    def _read_graph(self, graph: Graph, adjacency: Any, reset: bool | None) -> tuple[Features, Adjacency]:
        if adjacency is not None:
            raise TypeError("a Graph brings its own edges: leave adjacency out")
        if self.directed is not None and self.directed != graph.adjacency.directed:
            raise ValueError(
                f"directed={self.directed}, but the graph was read with {graph.adjacency.directed}"
            )
        if graph.features is None:
            raise ValueError(
                "the graph has no features; nafs.embed(graph) makes structural ones, or use "
                "graph.with_features(...)"
            )
        found = graph.features.shape[1]
        if reset:
            self.n_features_in_ = found
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        elif reset is False and found != self.n_features_in_:
            raise ValueError(f"the graph has {found} features, but fit saw {self.n_features_in_}")
        return graph.features, graph.adjacency

    def _settings(self) -> Settings:
        return Settings(
            self.n_hops,
            self.r,
            self.ensemble,
            self.weighting,
            self.distance,
            self.state_dtype,
            self.n_threads,
            self.memory_limit,
            self.preprocessing,
            self.center,
            self.goal,
            self.n_clusters,
            self.reduce_to,
            self.reduction,
            self.engine,
            self.work_dir,
        )


def _embed(
    graph: Adjacency,
    features: Features,
    method: Method,
    settings: Settings,
    held: int,
    progress: ProgressCallback | None,
) -> NDArray[np.float32]:
    resume = settings.work_dir is not None  # with the same inputs and settings, that is
    made = run.embed(graph, features, method, settings, resume=resume, held=held, progress=progress)
    made.close()
    return made.matrix


def _held(features: Features, graph: Adjacency, X: Any, adjacency: Any) -> int:
    return 0 if isinstance(X, Graph) else _copied(features, X) + _copied(graph, adjacency)


def _copied(read: Features | Adjacency, given: Any) -> int:
    """Bytes that reading an input took besides the caller's own arrays."""
    if read is given or (isinstance(read, Features) and read.dense is given):
        return 0
    return read.nbytes
