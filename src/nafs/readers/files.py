"""read_graph: edges, features and labels from files of any supported kind."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nafs._support.budget import parse_memory
from nafs._support.checks import check_choice
from nafs._support.errors import InputError, InputTypeError, MemoryLimitError, MissingExtraError, Parameter
from nafs.graph import Graph
from nafs.graph.adjacency import merge_edges
from nafs.graph.label_tables import is_frame
from nafs.graph.spellings import whole_like
from nafs.graph.storage import is_saved_graph
from nafs.readers.database import Bounds, bounds_of, one_database
from nafs.readers.edge_tables import read_edges
from nafs.readers.edges import RowsRead
from nafs.readers.explain import explain, shortened
from nafs.readers.join import NodeTable, attach, join
from nafs.readers.matrices import is_matrix, read_matrix
from nafs.readers.node_tables import read_nodes
from nafs.readers.repeated_labels import Columns, without_repeated_labels
from nafs.readers.roles import edge_columns, usual_pairs
from nafs.readers.size import IN_GRAPHML, check_size
from nafs.readers.spool import readable
from nafs.readers.summary import edges_line
from nafs.readers.tables import Table, TableOptions, find_files

_GRAPHML = (".graphml", ".graphml.gz")
_GRAPHML_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, OSError, EOFError, zlib.error)


def read_graph(
    edges: str | os.PathLike[str],
    features: str | os.PathLike[str] | None = None,
    labels: str | os.PathLike[str] | None = None,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | Literal[False] | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    id_type: Literal["auto", "text"] = "auto",
    ignore: Sequence[str] = (),
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    directed: bool = False,
    self_loops: bool = False,
    missing: Literal["error", "zeros"] = "error",
    memory_limit: int | str | None = None,
    scratch_dir: str | os.PathLike[str] | None = None,
    progress: RowsRead | None = None,
) -> Graph:
    """A graph from files.

    Parameters
    ----------
    edges : path
        A table with one edge per row (.csv, .tsv, .txt, .parquet; .gz and .zst too; a pattern such as
        ``edges-*.parquet`` names several files), a matrix (.mtx, .npz, .npy), .graphml, or a folder that
        :meth:`nafs.Graph.save` wrote. A pipe is read to its end first.
    features : path, optional
        A table keyed by id (.csv, .parquet, ...), or a matrix whose row i belongs to node i.
    labels : path, optional
        A table with id and label, or a .npy with one label per node.
    source, target, weight : str or int, optional
        Columns of the edge table, by name or by number from 1. By default they are found as
        :mod:`nafs.readers.roles` describes; ``weight=False`` ignores weights.
    id_column, label_column : str or int, optional
        Columns of the feature and label tables. By default ids are found as
        :mod:`nafs.graph.node_columns` describes, and labels are in a column named label or class.
    id_type : {"auto", "text"}
        "text" keeps ids as they are written, even if they look like measurements (0704.0001).
    ignore : sequence of str
        Columns of the feature table to leave out.
    text, category : sequences of str
        Columns of the feature table to be read as text or as categories, where the values do not show it.
        Tables with words, dates or gaps are encoded by skrub (``pip install 'nafs[tables]'``); ``notes`` says
        what was done to each column.
    delimiter, header, comment : optional
        How text tables are written; judged by their first lines if not set. Lines above the first row
        that start with # or % are comments; ``comment=""`` means that there are none; any other sign marks
        comment lines anywhere in the file.
    directed, self_loops
        As in :func:`nafs.graph.read_adjacency`; by default edges are undirected.
    missing : {"error", "zeros"}
        What to do with nodes that are not in the feature table: an error, or zeros and a warning.
    memory_limit : int or str, optional
        Bytes, or a string like "4GB": tables that are too large for it are sorted on disk, and the graph is
        kept in temporary files in ``scratch_dir``. Node ids stay in memory.
    scratch_dir : path, optional
        By default the usual folder for temporary files.
    progress : callable, optional
        Called with the number of rows read since the last call.

    Returns
    -------
    Graph
        The first of its ``notes`` says how the columns were used and what was merged, the others what did not
        match; the rules are in :mod:`nafs.readers.join`.
    """
    check_choice("missing", missing, ("error", "zeros"))
    check_choice("id_type", id_type, ("auto", "text"))
    if isinstance(edges, (list, tuple)):
        raise InputTypeError(
            Parameter("edges"), " is one path; several files are named by a pattern, such as 'edges-*.csv'"
        )
    for name, value in (("edges", edges), ("features", features), ("labels", labels)):
        if is_frame(value):
            raise InputTypeError(
                Parameter(name),
                " must be the path of a file; data frames make a graph with nafs.from_edges(edges, nodes, "
                "labels=labels)",
            )

    def read(path: str, node_path: str | None, label_path: str | None) -> Graph:
        limit = parse_memory(memory_limit)
        bounds = bounds_of(limit, scratch_dir, [path, node_path, label_path])
        options = TableOptions(delimiter, header, comment, bounds, id_type)

        def nodes(known: Any, renames: bool = False) -> tuple[NodeTable | None, NodeTable | None]:
            kept = label_column if label_path is None else None

            def read_table(left_out: Sequence[str]) -> NodeTable | None:
                columns = (id_column, kept, left_out, text, category)
                return _nodes(node_path, options, limit, known, renames, *columns, progress)

            table = read_table(ignore)
            names = table.ids if renames and table is not None and not table.numbered else known
            separate = _labels(label_path, options, names, id_column, label_column, progress)

            def read_without(repeated: Sequence[str]) -> NodeTable | None:
                return read_table([*ignore, *repeated])

            chosen = {*ignore, *text, *category}
            return _without_labels(table, separate, node_path, options, chosen, read_without), separate

        table = not (Path(path).is_dir() or path.lower().endswith(_GRAPHML) or is_matrix(path))
        if not table and not (source is None and target is None and weight is None):
            raise InputError(
                f"{path}: it has no columns to be named by ",
                Parameter("source"),
                ", ",
                Parameter("target"),
                " and ",
                Parameter("weight"),
            )
        if Path(path).is_dir():
            return _with_tables(_saved(path, directed=directed, self_loops=self_loops), nodes, missing)
        if path.lower().endswith(_GRAPHML):
            return _with_tables(_graphml(path, limit, directed, self_loops), nodes, missing)
        if is_matrix(path):
            return _from_matrix(path, nodes, missing, limit, directed=directed, self_loops=self_loops)
        try:
            listed = read_edges(path, options, source=source, target=target, weight=weight, progress=progress)
            if not len(listed.sources) and node_path is None:
                raise InputError(f"{path}: there are no edges in it")
            features_table, labels_table = nodes(listed.ids if len(listed.ids) else None)
        except InputError as error:
            if source is None and target is None and _are_swapped(path, node_path, options):
                raise InputError(*error.parts, f"; are {path} and {node_path} swapped?") from None
            raise
        for node_table, place in ((features_table, node_path), (labels_table, label_path)):
            if node_table is features_table or features_table is None:
                _check_numbered(listed.ids, place, node_table, path)
        try:
            graph = join(
                listed,
                features_table,
                labels_table,
                directed=directed,
                self_loops=self_loops,
                missing=missing,
            )
        except Exception as error:
            if bounds is None or not type(error).__module__.startswith(("duckdb", "_duckdb")):
                raise
            raise explain(error, path, text=True) from None
        graph.column_names = listed.names | graph.column_names
        return graph

    with one_database(), readable(edges, features, labels, folder=scratch_dir) as (paths, original):
        first, *others = paths
        assert first is not None
        graph = read(first, *others)
        graph.notes = tuple(original(note) for note in graph.notes)
        return graph


def _without_labels(
    nodes: NodeTable | None,
    labels: NodeTable | None,
    path: str | None,
    options: TableOptions,
    chosen: set[str],
    read_without: Callable[[Sequence[str]], NodeTable | None],
) -> NodeTable | None:
    """The node table without columns that give the labels away, unless the user chose how to read them."""
    labels = nodes if labels is None else labels
    if path is None or is_matrix(path) or labels is None or labels.labels is None or labels.numbered:
        return nodes
    stored = Table(path, options)
    names = [name for name in stored.columns if name not in chosen]
    columns = Columns(names, stored.column, stored.first_rows, stored.with_gaps)
    return without_repeated_labels(nodes, labels, columns, read_without)


def _are_swapped(edges: str, nodes: str | None, options: TableOptions) -> bool:
    """Whether the table of nodes has columns for the ends of edges, and that of edges none of usual names."""
    if nodes is None or is_matrix(nodes):
        return False
    try:
        first, second = Table(edges, options), Table(nodes, options)
        if usual_pairs(first.columns) or not second.named:
            return False
        edge_columns(second.columns, None, None, None, nodes, second.evidence)
    except (InputError, OSError):
        return False
    return True


def _from_matrix(
    path: str, nodes: Any, missing: str, limit: int | None, *, directed: bool, self_loops: bool
) -> Graph:
    import pyarrow as pa

    matrix = read_matrix(path, limit)
    adjacency, merging = _named_error(
        path, lambda: merge_edges(matrix, directed=directed, self_loops=self_loops)
    )
    line = f"{path}: {edges_line(adjacency, merging, listed_as='entry')}"
    features, labels = nodes(pa.array(np.arange(adjacency.n_nodes)), renames=True)
    return attach(adjacency, features, labels, [line], missing=missing)


def _named_error(path: str, call: Any) -> Any:
    """The result of a call; errors are prefixed with the file's name."""
    try:
        return call()
    except InputError as error:
        raise error.at(path) from None
    except (ValueError, TypeError) as error:
        kind = InputTypeError if isinstance(error, TypeError) else InputError
        raise kind(f"{path}: {error}") from None


def _nodes(
    path: str | None,
    options: TableOptions,
    limit: int | None,
    known: Any,
    renames: bool,
    key: str | int | None,
    label: str | int | None,
    ignore: Sequence[str],
    text: Sequence[str],
    category: Sequence[str],
    progress: RowsRead | None,
) -> NodeTable | None:
    import pyarrow as pa

    if path is None:
        return None
    if not is_matrix(path):
        return read_nodes(
            path,
            options,
            known=known,
            renames=renames,
            id_column=key,
            label_column=label,
            ignore=ignore,
            text=text,
            category=category,
            progress=progress,
        )
    matrix = read_matrix(path, limit)
    if matrix.ndim != 2:
        raise InputError(f"{path}: features need a matrix with one row per node; found shape {matrix.shape}")
    allocate = (options.bounds or Bounds()).allocate
    if options.bounds is not None and isinstance(matrix, np.ndarray) and matrix.dtype.kind in "biuf":
        matrix = _as_float32(matrix, allocate)
    return NodeTable(
        pa.array(np.arange(matrix.shape[0])), matrix, where=path, numbered=True, allocate=allocate
    )


def _as_float32(matrix: Any, allocate: Any) -> Any:
    """The matrix in the form of features; a conversion goes to a file."""
    if matrix.dtype == np.float32 and matrix.flags.c_contiguous:
        return matrix
    converted = allocate(matrix.shape, np.float32)
    step = max(1, (1 << 20) // matrix.shape[1])
    with np.errstate(over="ignore"):  # becomes inf, which is refused
        for begin in range(0, len(matrix), step):
            converted[begin : begin + step] = matrix[begin : begin + step]
    return converted


def _labels(
    path: str | None,
    options: TableOptions,
    known: Any,
    key: str | int | None,
    label: str | int | None,
    progress: RowsRead | None,
) -> NodeTable | None:
    import pyarrow as pa

    from nafs.graph.ids import as_arrow

    if path is None:
        return None
    if not is_matrix(path):
        return read_nodes(
            path,
            options,
            known=known,
            id_column=key,
            label_column=label,
            labels_only=True,
            progress=progress,
        )
    values = np.asarray(read_matrix(path)).squeeze()
    if values.ndim != 1:
        raise InputError(f"{path}: expected one label per node; found shape {values.shape}")
    return NodeTable(
        pa.array(np.arange(len(values))), labels=as_arrow(values, path), where=path, numbered=True
    )


def _check_numbered(edge_ids: Any, features: Any, nodes: NodeTable | None, edges: str) -> None:
    """Refuse edges whose ids are not row numbers: they cannot be matched to the rows of a matrix."""
    import pyarrow as pa

    if nodes is None or not nodes.numbered:
        return
    rows = len(nodes.ids)
    edge_ids = whole_like(edge_ids, nodes.ids)
    numbered = pa.types.is_int64(edge_ids.type)
    ids = np.asarray(edge_ids) if numbered else np.zeros(0)
    if not numbered or (len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < rows):
        example = edge_ids[0].as_py() if not numbered else int(ids[(ids < 0) | (ids >= rows)][0])
        raise InputError(
            f"{features}: its {rows} rows are nodes 0..{rows - 1}, but {edges} names {example!r}; use a "
            "table with an id column"
        )


def _saved(path: str, *, directed: bool, self_loops: bool) -> Graph:
    if not is_saved_graph(Path(path)):
        raise InputError(f"{path} is a folder but not a saved graph; name a file")
    graph = Graph.load(path)
    if (directed and not graph.adjacency.directed) or self_loops:
        raise InputError(f"{path} was saved with its direction and self-loops decided; read its source again")
    return graph


def _graphml(path: str, limit: int | None, directed: bool, self_loops: bool) -> Graph:
    from xml.etree.ElementTree import ParseError

    from nafs.readers.frameworks import from_networkx

    find_files(path)
    try:
        import networkx
    except ImportError:
        raise MissingExtraError("reading GraphML needs networkx: pip install networkx") from None
    try:
        check_size(path, IN_GRAPHML, limit, "raise it, or give a table or a saved graph")
        network = networkx.read_graphml(path)
    except MemoryLimitError:
        raise
    except (*_GRAPHML_DAMAGE, ParseError, networkx.NetworkXError) as error:
        if isinstance(error, PermissionError):
            raise
        raise InputError(f"{path}: cannot be read as GraphML ({shortened(str(error), 300)})") from None
    names = _numeric_attributes(network)
    graph: Graph = _named_error(
        path, lambda: from_networkx(network, features=names or None, directed=directed, self_loops=self_loops)
    )
    return graph


def _numeric_attributes(graph: Any) -> list[str]:
    """Node attributes with only numeric values, except the label, in order of appearance."""
    kinds: dict[str, bool] = {}
    for _, data in graph.nodes(data=True):
        for name, value in data.items():
            kinds[name] = kinds.get(name, True) and isinstance(value, (int, float))
    return [name for name, numeric in kinds.items() if numeric and name != "label"]


def _with_tables(graph: Graph, nodes: Any, missing: str) -> Graph:
    """A complete graph with other features or labels; its nodes keep their order."""
    features, labels = nodes(graph.id_array, renames=not graph.has_ids)
    if features is None and labels is None:
        return graph
    ids = graph.id_array if graph.has_ids else None
    notes = list(graph.notes)
    joined = attach(graph.adjacency, features, labels, notes, ids, missing)
    whole = Graph(
        graph.adjacency,
        graph.features if joined.features is None else joined.features,
        ids=joined.id_array if joined.has_ids else None,
        labels=graph.labels if joined.labels is None else joined.labels,
        feature_names=graph.feature_names if joined.features is None else joined.feature_names,
        notes=dict.fromkeys(joined.notes),
    )
    whole.column_names = joined.column_names
    return whole
