"""A graph as a folder: .npy files that can be mapped into memory, and graph.json that describes them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.atomic import recover_folder, whole_folder
from nafs._support.errors import InputError
from nafs._support.json_text import parse_json
from nafs._support.npy import load_npy, save_npy
from nafs.graph.adjacency import Adjacency
from nafs.graph.features import LARGEST, Features
from nafs.graph.graph import Graph
from nafs.graph.labels import Labels

MARKER = "graph.json"
FORMAT, VERSION = "nafs-graph", 1
_ARRAYS = (
    *("indptr", "indices", "weights", "features", "features_indptr", "features_indices", "features_values"),
    *("ids", "ids_offsets", "ids_text", "labels", "order"),
)


def save(graph: Graph, folder: Any, *, force: bool = False) -> None:
    """Write a graph; see :meth:`nafs.Graph.save`."""
    adjacency, features, labels = graph.adjacency, graph.features, graph.labels
    about: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": graph.n_nodes,
        "stored_edges": adjacency.n_stored,
        "directed": adjacency.directed,
        "notes": list(graph.notes),
    }
    arrays: dict[str, NDArray[Any]] = {"indptr": adjacency.indptr, "indices": adjacency.indices}
    if adjacency.weights is not None:
        arrays["weights"] = adjacency.weights
    if adjacency.order is not None:
        arrays["order"] = adjacency.order
    if features is not None:
        about["features"] = features.shape[1]
        about["encoded"] = features.encoding is not None
        arrays |= features.arrays("features")
    if graph.feature_names is not None:
        about["feature_names"] = list(graph.feature_names)
    if graph.has_ids:
        arrays |= _pack_ids(graph.id_array)
    if labels is not None:
        arrays["labels"], about["classes"] = labels.codes, list(labels.classes)
    about["arrays"] = sorted(arrays)
    contents = [MARKER, *(f"{name}.npy" for name in _ARRAYS)]
    with whole_folder(Path(folder), force=force, contents=contents) as part:
        for name, array in arrays.items():
            save_npy(part / f"{name}.npy", array)
        (part / MARKER).write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load(folder: Any, *, mmap: bool = True) -> Graph:
    """Read a graph; see :meth:`nafs.Graph.load`."""
    folder = Path(folder)
    about = _read_marker(folder)
    try:
        return _assemble(folder, about, mmap)
    except (KeyError, TypeError, AttributeError) as error:
        raise _damaged(
            folder, f"{MARKER} does not fit the arrays ({type(error).__name__}: {error})"
        ) from None


def _assemble(folder: Path, about: dict[str, Any], mmap: bool) -> Graph:
    n = about["nodes"]
    arrays = {name: _load_array(folder, name, mmap) for name in about["arrays"]}
    adjacency = Adjacency(
        _take(folder, arrays, "indptr", np.int64, n + 1),
        _take(folder, arrays, "indices", np.int32, about["stored_edges"]),
        _take(folder, arrays, "weights", np.float32, about["stored_edges"]) if "weights" in arrays else None,
        bool(about["directed"]),
        _take(folder, arrays, "order", np.int32, n) if "order" in arrays else None,
    )
    _check_order(folder, adjacency.order)
    _check_rows(folder, "indptr", adjacency.indptr, adjacency.indices, n)
    weights = adjacency.weights
    if (
        weights is not None
        and len(weights)
        and not 0 < float(weights.min()) <= float(weights.max()) <= LARGEST
    ):
        raise _damaged(folder, "weights.npy holds values that are not positive and finite")
    features = None
    if "features" in arrays:
        features = Features(_take(folder, arrays, "features", np.float32, n, about["features"]))
    elif "features_indptr" in arrays:
        values = _take(folder, arrays, "features_values", np.float32)
        indptr = _take(folder, arrays, "features_indptr", np.int64, n + 1)
        indices = _take(folder, arrays, "features_indices", np.int32, len(values))
        _check_rows(folder, "features_indptr", indptr, indices, about["features"])
        features = Features.from_arrays(
            {"indptr": indptr, "indices": indices, "values": values}, (n, about["features"])
        )
    if features is not None and about.get("encoded") is True:
        features = replace(features, encoding=True)  # the encoder is not saved, but its scaling counts
    labels = None
    if "labels" in arrays:
        codes = _take(folder, arrays, "labels", np.int32, n)
        classes = tuple(about["classes"])
        if n and not -1 <= int(codes.min()) <= int(codes.max()) < len(classes):
            raise _damaged(folder, "labels.npy names a class that graph.json does not have")
        labels = Labels(codes, classes)
    return Graph(
        adjacency,
        features,
        ids=_unpack_ids(folder, arrays, n),
        labels=labels,
        feature_names=about.get("feature_names"),
        notes=about.get("notes", ()),
    )


def is_saved_graph(path: Path) -> bool:
    """Whether a path is a folder that :func:`save` wrote."""
    return (path / MARKER).is_file()


def _damaged(folder: Path, why: str) -> InputError:
    return InputError(f"{folder} is damaged: {why}; save the graph again")


def _read_marker(folder: Path) -> dict[str, Any]:
    recover_folder(folder)
    if not folder.exists():
        raise FileNotFoundError(f"{folder} does not exist")
    if not is_saved_graph(folder):
        raise InputError(f"{folder} is not a saved graph: it has no {MARKER}")
    try:
        about = parse_json((folder / MARKER).read_text(encoding="utf-8"))
        kind, version = about["format"], about["version"]
        if kind == FORMAT and isinstance(version, int) and version > VERSION:
            raise InputError(
                f"{folder} was saved by a newer nafs (format {version}, this one reads {VERSION})"
            )
        complete = kind == FORMAT and all(
            isinstance(about[key], expected)
            for key, expected in (("nodes", int), ("stored_edges", int), ("directed", bool), ("arrays", list))
        )
        complete = complete and all(isinstance(note, str) for note in about.get("notes", []))
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError):
        complete = False
    if not complete:
        raise _damaged(folder, f"{MARKER} does not describe a graph")
    return dict(about)


def _load_array(folder: Path, name: str, mmap: bool) -> NDArray[Any]:
    if not name.isidentifier():
        raise _damaged(folder, f"{MARKER} lists an array {name!r}")
    try:
        return load_npy(folder / f"{name}.npy", mmap=mmap)
    except FileNotFoundError:
        raise _damaged(folder, f"{name}.npy is missing") from None
    except (ValueError, EOFError, OSError) as error:
        raise _damaged(folder, f"{name}.npy cannot be read ({error})") from None


def _take(folder: Path, arrays: dict[str, NDArray[Any]], name: str, dtype: Any, *shape: int) -> NDArray[Any]:
    if name not in arrays:
        raise _damaged(folder, f"{MARKER} does not list {name}")
    array = arrays[name]
    if array.dtype != dtype or (shape and array.shape != shape) or array.ndim != max(1, len(shape)):
        expected = " x ".join(str(size) for size in shape) or "one-dimensional"
        raise _damaged(
            folder,
            f"{name}.npy holds {array.dtype} of shape {array.shape}, not {np.dtype(dtype)} of {expected}",
        )
    if not array.flags.c_contiguous:
        raise _damaged(folder, f"{name}.npy is not in C order")
    return array


def _check_rows(folder: Path, name: str, indptr: NDArray[Any], indices: NDArray[Any], columns: int) -> None:
    if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise _damaged(folder, f"{name}.npy does not ascend from 0 to the number of stored values")
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < columns:
        raise _damaged(folder, f"an index beside {name}.npy is outside 0..{columns - 1}")


def _check_order(folder: Path, order: NDArray[np.int32] | None) -> None:
    if order is None or not len(order):
        return
    seen = np.zeros(len(order), bool)
    if 0 <= int(order.min()) <= int(order.max()) < len(order):
        seen[order] = True
    if not seen.all():
        raise _damaged(folder, "order.npy does not list every node once")


def _pack_ids(ids: Any) -> dict[str, NDArray[Any]]:
    import pyarrow as pa

    if pa.types.is_int64(ids.type):
        return {"ids": np.asarray(ids)}
    ids = pa.concat_arrays([ids])  # so that its offsets start at 0
    _, offsets, text = ids.buffers()
    ends = np.frombuffer(offsets, np.int64)[ids.offset : ids.offset + len(ids) + 1]
    characters = np.frombuffer(text, np.uint8) if text is not None else np.zeros(0, np.uint8)
    return {"ids_offsets": ends - ends[0], "ids_text": characters[ends[0] : ends[-1]]}


def _unpack_ids(folder: Path, arrays: dict[str, NDArray[Any]], n: int) -> Any:
    import pyarrow as pa

    if "ids" in arrays:
        return pa.array(_take(folder, arrays, "ids", np.int64, n))
    if "ids_offsets" not in arrays:
        return None
    offsets = _take(folder, arrays, "ids_offsets", np.int64, n + 1)
    text = _take(folder, arrays, "ids_text", np.uint8)
    if offsets[0] != 0 or offsets[-1] != len(text) or (np.diff(offsets) < 0).any():
        raise _damaged(folder, "ids_offsets.npy does not fit ids_text.npy")
    ids = pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(text))
    try:
        ids.validate(full=True)
    except pa.ArrowInvalid as error:
        raise _damaged(folder, f"ids_text.npy is not valid text ({error})") from None
    return ids
