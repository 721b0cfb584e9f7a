"""NAFS as a scikit-learn estimator: a thin adapter over the pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nafs._support.errors import InputError
from nafs.engines.progress import ProgressCallback
from nafs.graph import Graph
from nafs.pipeline import Settings, decide, execute, sweep
from nafs.pipeline.inputs import read_job, refuse_graph_as_target
from nafs.pipeline.settings import option_names
from nafs.smoothing.ensembles import ensemble_named
from nafs.smoothing.method import DEFAULT_R


class NAFS(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Node embeddings without training, by node-adaptive feature smoothing (Zhang et al., ICML 2022).

    For each r the features X are smoothed over 0..K hops with Â_r = D̃^(r-1) Ã D̃^(-r). Node i weights hop k
    by softmax_k D_i(k), where D_i(k) measures how far the node is from over-smoothing. The weighted sums of
    all r's are combined. Nothing is learnt: ``transform`` embeds the nodes of any graph.

    Parameters
    ----------
    n_hops : int or "auto", default=20
        K, the number of hops. "auto" chooses it for the ``goal``, without labels.
    r : float or sequence of floats in [0, 1], default=(0, 0.1, 0.2, 0.3, 0.4, 0.5)
        Normalisations: 0 is the random walk, 0.5 the symmetric form, 1 the reverse walk.
    ensemble : {"mean", "max", "concat"}, default="mean"
        How the r's are combined.
    weighting : {"adaptive", "linear", "average", "last"}, default="adaptive"
        Softmax of the distances; distances over their sum; all hops equal; hop K alone.
    distance : {"cosine", "euclidean", "stationary_cosine"}, default="cosine"
        Cosine to the node's features; Euclidean distance, or one minus the cosine, to the stationary state.
    preprocessing : {"auto", "none", "l2", "tfidf", "standardize", "components"}, optional
        Scaling of the features; "auto" looks at their values. "components" is for principal components, which
        it divides by the square roots of their deviations. Default: "auto" if ``n_hops`` is, else "none".
    center : {"auto", "none", "mean", "stationary"}, default="auto"
        Row that is subtracted from all rows; "auto" is "none", or "mean" if that is better for links.
    goal : {"clusters", "links"}, default="clusters"
        What ``n_hops="auto"`` optimises: agreement on clusters, or prediction of hidden edges.
    n_clusters : int or "auto", optional
        Clusters that ``n_hops="auto"`` looks for; by default their number is chosen too.
    dim : int, "auto" or "full", default="full"
        Reduce wider features to this many columns before smoothing, "auto" to at most 256;
        :meth:`explain` says what is lost. "full" is the paper's method to the digit.
    reduction : {"svd", "random"}, default="svd"
        By leading singular directions, or by a Gaussian random projection.
    n_neighbors, metric : int, default=10, and str, default="euclidean"
        Parameters of the nearest-neighbour graph that is built if no adjacency is passed.
    directed : bool, optional
        ``False`` smooths over max(A, Aᵀ); ``None`` also warns if it differs from A; ``True`` smooths over A.
    self_loops : bool, default=False
        Keep self-loops of the adjacency, in addition to the one that the method adds to every node.
    state_dtype : {"float32", "float16"}, default="float32"
        Storage between hops. float16 halves its memory and keeps about three digits of the largest feature.
    n_threads : int, optional
        Threads of the kernel; all cores by default. The result is the same for any number.
    memory_limit : int or str, optional
        Bytes, or a string like "4GB", for states, sums, the result and copies of the inputs.
    engine : {"auto", "memory", "disk", "dask"}, default="auto"
        Run in memory, in files within ``memory_limit``, or on Dask. "auto": memory if that fits, or disk.
    work_dir : path, optional
        Folder for the files of "disk" and "dask"; an interrupted run in it is resumed.

    Attributes
    ----------
    embedding_ : ndarray of float32, shape (n, columns)
        Embedding of the fitted nodes; "concat" has the columns of all r's.
    adjacency_ : Adjacency
        The fitted graph, in the canonical form of :func:`nafs.graph.read_adjacency`.
    choice_ : Choice
        The automatic choices, with the ``curve`` of the criterion.
    n_hops_, n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import NAFS
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
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
        n_clusters: int | str | None = None,
        dim: int | str = "full",
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
        self.n_hops, self.r, self.ensemble, self.weighting = n_hops, r, ensemble, weighting
        self.distance, self.preprocessing, self.center, self.goal = distance, preprocessing, center, goal
        self.n_clusters, self.dim, self.reduction = n_clusters, dim, reduction
        self.n_neighbors, self.metric, self.directed = n_neighbors, metric, directed
        self.self_loops, self.state_dtype, self.n_threads = self_loops, state_dtype, n_threads
        self.memory_limit, self.engine, self.work_dir = memory_limit, engine, work_dir

    def fit(
        self, X: Any, y: Any = None, *, adjacency: Any = None, progress: ProgressCallback | None = None
    ) -> Self:
        """Embed the nodes and keep the result in ``embedding_``.

        ``X``: node features (array or sparse matrix), or a ``Graph``. ``adjacency``: a sparse matrix; by
        default the nearest-neighbour graph of the rows. ``progress``: called with a :class:`nafs.Progress`.
        """
        self.fit_transform(X, y, adjacency=adjacency, progress=progress)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, *, adjacency: Any = None, progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """Embed the nodes, keep the result in ``embedding_`` and return it; parameters as in :meth:`fit`."""
        refuse_graph_as_target(X, y)
        job = read_job(self, self._settings(), X, adjacency, reset=True)
        with execute(decide(job), progress) as outcome:
            self.embedding_ = outcome.matrix
        self.choice_, self._preparation = outcome.choice, outcome.preparation
        self.n_hops_, self.adjacency_ = outcome.choice.n_hops, job.adjacency
        self._had_graph = adjacency is not None or isinstance(X, Graph)
        return self.embedding_

    def transform(
        self, X: Any, *, adjacency: Any = None, progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """Embed the nodes of another graph; parameters as in :meth:`fit`.

        Rows of X are smoothed only over each other. Fitted choices, scaling, centre and reduction are reused.
        """
        check_is_fitted(self, "embedding_")
        if self._had_graph and adjacency is None and not isinstance(X, Graph):
            raise InputError("transform needs a graph, as fit did: pass adjacency=... (or use embedding_)")
        job = read_job(self, self._settings(), X, adjacency, reset=False)
        with execute(decide(job, fitted=(self.choice_, self._preparation)), progress) as outcome:
            return np.asarray(outcome.matrix)

    def explain(self) -> str:
        """The automatic choices with their reasons, one per line."""
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
        """Yield (K, embedding) for each K in ``hops``, ascending, at the cost of the largest K alone.

        ``hops`` is 1..n_hops by default; ``center="auto"`` means "none"; other parameters as in :meth:`fit`.
        """
        return sweep(read_job(self, self._settings(), X, adjacency, reset=None), hops, progress)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the embedding's columns: those of the features; "concat" appends each r."""
        names = super().get_feature_names_out(input_features)
        if self._preparation.directions is not None:
            names = [f"{self.reduction}{i}" for i in range(self._preparation.directions.shape[1])]
        method = self._settings().method.method(self.n_hops_)
        if ensemble_named(method.ensemble).side_by_side:
            names = [f"{name}_r{r:.12g}" for r in method.r for name in names]
        return np.asarray(names, dtype=object)

    def _settings(self) -> Settings:
        options = {name: getattr(self, name) for name in option_names() if hasattr(self, name)}
        return Settings.of(structure="none", **options)  # transform has no edges that fit saw

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
