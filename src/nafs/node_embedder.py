"""Embeddings inside scikit-learn's model selection: the estimator holds the graph, and X are its nodes.

A plain pipeline of NAFS and a classifier cannot do that: cross-validation would hand NAFS the rows of each
fold without the edges between folds, so that training and test nodes would be smoothed over different,
mutilated graphs. Here every fold sees the whole graph, as transductive methods do. The labels of test nodes
stay unseen, because no label goes into an embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs.embedding import Embedding, embed
from nafs.readers.anything import as_graph
from nafs.smoothing.method import DEFAULT_R


class NodeEmbedder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows of a graph's embedding for the nodes in X.

    Parameters
    ----------
    graph : Graph, or anything that :func:`nafs.embed` takes
    n_hops, r, ensemble, weighting, distance, preprocessing, center, goal, n_clusters
        As in :class:`nafs.NAFS`.
    dim, reduction, structure, seed, state_dtype, n_threads, memory_limit, engine, work_dir
        As in :func:`nafs.embed`.
    nodes : {"position", "id"}, default="position"
        What X holds: positions of nodes in the graph, or their ids.

    Attributes
    ----------
    embedding_ : Embedding
        Of the whole graph.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from nafs import NodeEmbedder
    >>> from nafs.datasets import contextual_sbm
    >>> graph = contextual_sbm(200, n_classes=2, homophily=0.9, seed=0)
    >>> model = make_pipeline(NodeEmbedder(graph, n_hops=5), LogisticRegression())
    >>> scores = cross_val_score(model, np.arange(200), graph.labels.codes, cv=3)
    >>> bool(scores.mean() > 0.9)
    True
    """

    def __init__(
        self,
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
        work_dir: str | None = None,
        nodes: str = "position",
    ) -> None:
        self.graph, self.n_hops, self.r, self.ensemble = graph, n_hops, r, ensemble
        self.weighting, self.distance, self.preprocessing = weighting, distance, preprocessing
        self.center, self.goal, self.n_clusters = center, goal, n_clusters
        self.dim, self.reduction, self.structure, self.seed = dim, reduction, structure, seed
        self.state_dtype, self.n_threads, self.memory_limit = state_dtype, n_threads, memory_limit
        self.engine, self.work_dir, self.nodes = engine, work_dir, nodes

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the whole graph; X is only checked, and no label is looked at."""
        check_choice("nodes", self.nodes, ("position", "id"))
        options = self.get_params(deep=False)
        graph = as_graph(options.pop("graph"))
        del options["nodes"]
        self.embedding_: Embedding = embed(graph, **options)
        self._rows(X)
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """The embedding of the nodes in X, one row each."""
        check_is_fitted(self, "embedding_")
        return np.asarray(self.embedding_.matrix[self._rows(X)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the embedding's columns."""
        check_is_fitted(self, "embedding_")
        return np.asarray([f"e{i}" for i in range(self.embedding_.matrix.shape[1])], dtype=object)

    def _rows(self, X: Any) -> NDArray[np.int64]:
        wanted = np.asarray(X)
        wanted = wanted[:, 0] if wanted.ndim == 2 and wanted.shape[1] == 1 else wanted
        if wanted.ndim != 1:
            raise InputError(f"X must hold one node per row; got an array of shape {wanted.shape}")
        if self.nodes == "id":
            return self.embedding_.rows(wanted.tolist())
        n = len(self.embedding_)
        if wanted.dtype.kind not in "iu":
            raise InputError(
                f"X must hold positions of nodes, whole numbers from 0 to {n - 1}; got {wanted.dtype}; "
                "for ids use ",
                Parameter("nodes", "id"),
            )
        outside = (wanted < 0) | (wanted >= n)
        if outside.any():
            raise InputError(f"X must hold positions from 0 to {n - 1}; got {wanted[outside][0]}")
        return wanted.astype(np.int64)
