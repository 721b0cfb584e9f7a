"""Graph: neighbour lists, features, node ids and labels in one validated value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs._support.mapped import is_mapped
from nafs._support.markup import html_table
from nafs.graph.adjacency import Adjacency, read_adjacency
from nafs.graph.feature_reading import read_features
from nafs.graph.features import Features
from nafs.graph.ids import as_numpy, is_counting, read_ids
from nafs.graph.labels import Labels, read_labels

if TYPE_CHECKING:
    from nafs.graph.description import Description


_ROWS = 1 << 14  # per block


def _are_numbers(ids: Any) -> bool:
    """Whether the ids are 0, 1, 2, ..., so that they need not be stored."""
    import pyarrow as pa

    return pa.types.is_int64(ids.type) and is_counting(np.asarray(ids))


class Graph:
    """A graph whose nodes may have features, ids and labels; row i of everything belongs to node i.

    Parameters
    ----------
    adjacency : sparse matrix, sparse array, ndarray of shape (n, n), or Adjacency
        See :func:`nafs.graph.read_adjacency` for the rules.
    features : array-like or sparse matrix of shape (n, f), optional
    ids : sequence of n ints or strings, optional
        Unique. Without ids, the id of node i is i.
    labels : sequence of n ints or strings, optional
        Missing (None, NaN) where unknown.
    feature_names : sequence of f strings, optional
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`.
    notes : sequence of str
        What was merged, dropped or assumed when the graph was read.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs import Graph
    >>> Graph(np.array([[0, 1], [1, 0]]), [[1.0, 0.0], [0.0, 1.0]], ids=["a", "b"])
    Graph(2 nodes, 1 edge, 2 features, ids 'a', 'b')
    """

    def __init__(
        self,
        adjacency: Any,
        features: Any = None,
        *,
        ids: Any = None,
        labels: Any = None,
        feature_names: Any = None,
        directed: bool | None = None,
        self_loops: bool = False,
        notes: Any = (),
    ) -> None:
        self.features: Features | None = None if features is None else read_features(features)
        n = None if self.features is None else self.features.shape[0]
        self.adjacency: Adjacency = read_adjacency(adjacency, n, directed=directed, self_loops=self_loops)
        self._ids = None if ids is None else read_ids(ids)
        if self._ids is not None and len(self._ids) == self.n_nodes and _are_numbers(self._ids):
            self._ids = None
        self.labels: Labels | None = None if labels is None else read_labels(labels)
        self.feature_names: tuple[str, ...] | None = None
        self.notes: tuple[str, ...] = tuple(notes)
        self.column_names: dict[str, str] = {}  # by meaning, of the tables that the graph was read from
        self._check_length("ids", self._ids)
        self._check_length("labels", None if self.labels is None else self.labels.codes)
        if feature_names is not None:
            self.feature_names = tuple(str(name) for name in feature_names)
            width = 0 if self.features is None else self.features.shape[1]
            if len(set(self.feature_names)) < len(self.feature_names):
                raise InputError(Parameter("feature_names"), " must be unique")
            if len(self.feature_names) != width:
                raise InputError(
                    f"{len(self.feature_names)} ", Parameter("feature_names"), f" for {width} features"
                )

    def _check_length(self, name: str, values: Any) -> None:
        if values is not None and len(values) != self.n_nodes:
            raise InputError(f"{len(values)} {name} for {self.n_nodes} nodes; every node needs one")

    def __sklearn_clone__(self) -> Graph:
        return self  # a graph does not change, so the clones of an estimator share it

    def __repr__(self) -> str:
        parts = [f"{self.n_nodes} node{'' if self.n_nodes == 1 else 's'}"]
        parts.append(f"{self.n_edges} edge{'' if self.n_edges == 1 else 's'}")
        if self.adjacency.directed:
            parts.append("directed")
        if self.adjacency.weights is not None:
            parts.append("weighted")
        if self.features is not None:
            kind = "sparse " if self.features.is_sparse else ""
            parts.append(f"{self.features.shape[1]} {kind}features")
        if self._ids is not None:
            shown = ", ".join(repr(value) for value in self._ids[:3].to_pylist())
            parts.append(f"ids {shown}{', ...' if self.n_nodes > 3 else ''}")
        if self.labels is not None:
            parts.append(f"{len(self.labels.classes)} classes")
        return f"Graph({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return html_table(self.describe().rows(), caption=repr(self))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.adjacency.n_nodes

    @cached_property
    def n_edges(self) -> int:
        """Number of edges; undirected edges and self-loops count once."""
        if self.adjacency.directed:
            return self.adjacency.n_stored
        loops = 0
        for top in range(0, self.n_nodes, _ROWS):
            bottom = min(self.n_nodes, top + _ROWS)
            offsets = self.adjacency.indptr[top : bottom + 1]
            rows = np.repeat(np.arange(top, bottom, dtype=np.int32), np.diff(offsets))
            loops += int((self.adjacency.indices[offsets[0] : offsets[-1]] == rows).sum())
        return (self.adjacency.n_stored + loops) // 2

    @property
    def id_array(self) -> Any:
        """Node ids as an Arrow array of int64 or large_string."""
        import pyarrow as pa

        return pa.array(np.arange(self.n_nodes)) if self._ids is None else self._ids

    @property
    def id_name(self) -> str:
        """What the table of nodes calls the ids; "id" if it is not known."""
        return self.column_names.get("id_column", "id")

    @property
    def has_ids(self) -> bool:
        """Whether nodes have ids other than 0..n-1."""
        return self._ids is not None

    @cached_property
    def ids(self) -> NDArray[Any]:
        """Node ids: int64, or strings in an object array."""
        return np.arange(self.n_nodes) if self._ids is None else as_numpy(self._ids)

    @property
    def nbytes(self) -> int:
        """Total size of the graph's arrays in bytes."""
        return sum(array.nbytes for array in self._arrays())

    @property
    def anonymous_nbytes(self) -> int:
        """Size of the arrays that are not mapped from files."""
        return sum(int(array.nbytes) for array in self._arrays() if not is_mapped(array))

    def _arrays(self) -> list[Any]:
        """The arrays of the graph; ids are an Arrow array."""
        arrays: list[Any] = [self.adjacency.indptr, self.adjacency.indices, self.adjacency.weights]
        arrays += [] if self.features is None else self.features.arrays("").values()
        arrays += [self._ids, None if self.labels is None else self.labels.codes]
        return [array for array in arrays if array is not None]

    def with_features(
        self,
        features: Any,
        *,
        id_column: str | int | None = None,
        feature_names: Sequence[str] | None = None,
        notes: Sequence[str] = (),
    ) -> Graph:
        """The same nodes and edges with other features.

        Parameters
        ----------
        features : array-like, sparse matrix or data frame
            Row i of a matrix belongs to node i. Rows of a data frame are matched by id, see
            :mod:`nafs.graph.node_columns`; rows without ids are in the order of the nodes.
        id_column : str or int, optional
            Column of a data frame that holds the ids, by name or by number from 1; "index" is its index.
        feature_names : sequence of str, optional
            Names of the columns of a matrix.
        notes : sequence of str
            Appended to the notes of the graph.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import numpy as np
        >>> from nafs import Graph
        >>> graph = Graph(np.array([[0, 1], [1, 0]]), ids=["a", "b"])
        >>> graph.with_features({"user": ["b", "a"], "age": [40, 30]}).features.dense
        array([[30.],
               [40.]], dtype=float32)
        """
        names: Any = feature_names
        more = list(notes)
        if isinstance(features, dict) or hasattr(features, "__arrow_c_stream__"):
            from nafs.graph.node_rows import aligned_features

            features, names, note = aligned_features(features, self.id_array, id_column)
            more.append(note)
        graph = Graph(
            self.adjacency,
            features,
            ids=self._ids,
            labels=self.labels,
            feature_names=names,
            notes=(*self.notes, *more),
        )
        graph.column_names = dict(self.column_names)
        return graph

    def describe(self) -> Description:
        """Summarise nodes, edges, components, degrees, features and labels.

        Examples
        --------
        >>> import numpy as np
        >>> from nafs import Graph
        >>> print(Graph(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])).describe())
        nodes                    3
        edges                    1  undirected, unweighted
        isolated nodes           1
        components               2  the largest has 2 nodes
        degree                   0 / 0 / 1 / 1 / 1  min / 25 % / median / 75 % / max
        """
        from nafs.graph.description import describe

        return describe(self)

    def save(self, folder: Any, *, force: bool = False) -> None:
        """Write the graph into a folder of .npy files and a small JSON file; no pickle is involved.

        Parameters
        ----------
        folder : path
            It appears once it is complete.
        force : bool
            Overwrite a saved graph.
        """
        from nafs.graph.storage import save

        save(self, folder, force=force)

    @classmethod
    def load(cls, folder: Any, *, mmap: bool = True) -> Graph:
        """Read a folder that :meth:`save` wrote.

        Parameters
        ----------
        folder : path
        mmap : bool
            Map the arrays from disk instead of reading them into memory.

        Returns
        -------
        Graph
        """
        from nafs.graph.storage import load

        return load(folder, mmap=mmap)
