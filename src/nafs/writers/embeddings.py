"""Write an embedding with its node ids as a table, a Lance dataset or .npy."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.atomic import check_file_target, check_target, whole_file, whole_folder
from nafs._support.checks import check_choice
from nafs._support.errors import InputError
from nafs._support.extras import lance
from nafs._support.npy import save_npy
from nafs.writers.tables import RESULTS, RowsWritten, holds_lists, write_table

LAYOUTS = ("list", "columns")
METADATA = "nafs"  # key of the settings in the metadata of Parquet and Arrow
_LANCE = ("data", "_versions", "_transactions", "_indices", "_deletions")


def check_embedding_target(path: str | os.PathLike[str], layout: str, *, force: bool) -> None:
    """Raise, before any work is done, if an embedding cannot be written at ``path``."""
    name = os.fspath(path)
    if not name.lower().endswith((*RESULTS, ".npy", ".lance", ".usearch")):
        raise InputError(
            f"{name}: embeddings are written as .parquet, .csv, .tsv (also .gz), .feather, .arrow, .jsonl, "
            ".npy, .lance or .usearch"
        )
    check_choice("layout", layout, LAYOUTS)
    if name.lower().endswith(".lance"):
        lance()
        check_target(Path(name), force=force)
        return
    check_file_target(Path(name), force=force)
    if name.lower().endswith((".npy", ".usearch")):
        check_file_target(ids_beside(name), force=force)
        check_file_target(about_beside(name), force=force)


def ids_beside(path: str) -> Path:
    """The file of node ids that belongs to an embedding in .npy."""
    return Path(path).with_suffix(".ids.csv")


def about_beside(path: str) -> Path:
    """The file of settings that belongs to an embedding in .npy."""
    return Path(path).with_suffix(".json")


def write_embedding(
    path: str | os.PathLike[str],
    matrix: NDArray[np.float32],
    ids: Any,
    labels: Any = None,
    *,
    layout: str = "list",
    force: bool = False,
    progress: RowsWritten | None = None,
    file: Path | None = None,
    about: dict[str, Any] | None = None,
) -> None:
    """Write an embedding; the file appears only when it is complete.

    Parameters
    ----------
    path : path
        .parquet, .feather, .arrow, .jsonl, .csv, .tsv (the last two also with .gz), .lance or .npy. For .npy
        the ids are written to ``NAME.ids.csv`` and the settings to ``NAME.json``.
    matrix : ndarray of shape (n, columns)
    ids : Arrow array of n ids
    labels : Arrow array of n labels, optional
    layout : {"list", "columns"}
        One column of lists, "embedding", or one column per dimension, "e0", "e1", ... CSV and TSV always have
        one column per dimension.
    force : bool
        Overwrite existing files.
    progress : callable, optional
        Called with the number of rows written since the last call.
    file : Path, optional
        A .npy file that already holds the matrix. It is hard-linked instead of copied where possible.
    about : dict, optional
        Settings of the embedding: kept in the metadata of Parquet, Arrow and Lance, or in ``NAME.json`` for
        .npy.
    """
    check_embedding_target(path, layout, force=force)
    if len(ids) != len(matrix) or (labels is not None and len(labels) != len(matrix)):
        raise InputError(f"{len(matrix)} vectors, but {len(ids)} ids; every vector needs one id")
    name = os.fspath(path)
    if name.lower().endswith(".npy"):
        # All three files are complete before the first is renamed.
        with (
            whole_file(Path(name), force=force) as vectors,  # renamed last
            whole_file(about_beside(name), force=force) as notes,
            whole_file(ids_beside(name), force=force) as names,
        ):
            notes.write_text(json.dumps(about or {}, indent=2, default=str) + "\n", encoding="utf-8")
            write_table(names, ".csv", len(ids), 2, lambda a, b: id_table(ids, labels, a, b))
            _write_vectors(vectors, matrix, file)
        if progress is not None:
            progress(len(matrix))
        return
    if name.lower().endswith(".lance"):
        with whole_folder(Path(name), force=force, contents=_LANCE) as folder:
            write = lance().write_dataset
            table = _blocks(matrix, ids, labels, lists=layout == "list", about=about)
            write(table(0, len(ids)), str(folder), mode="overwrite")
        if progress is not None:
            progress(len(matrix))
        return
    with whole_file(Path(name), force=force) as part:
        write_embedding_table(part, name, matrix, ids, labels, layout=layout, progress=progress, about=about)


def _write_vectors(part: Path, matrix: NDArray[np.float32], file: Path | None) -> None:
    if file is not None:
        part.unlink()
        try:
            os.link(file, part)
            return
        except OSError:  # the file is on another disk
            pass
    save_npy(part, matrix)


def write_embedding_table(
    target: Any,
    name: str,
    matrix: NDArray[np.float32],
    ids: Any,
    labels: Any,
    *,
    layout: str,
    progress: RowsWritten | None = None,
    about: dict[str, Any] | None = None,
) -> None:
    """Write an embedding to a path or an open file, in the format of ``name``'s extension."""
    lists = layout == "list" and holds_lists(name)
    block = _blocks(matrix, ids, labels, lists=lists, about=about)
    write_table(target, name, len(ids), matrix.shape[1], block, progress)


def _blocks(
    matrix: NDArray[np.float32], ids: Any, labels: Any, *, lists: bool, about: dict[str, Any] | None
) -> Callable[[int, int], Any]:
    """A function that returns some rows as an Arrow table, with the settings in its metadata."""
    settings = json.dumps(about, default=str)

    def block(begin: int, end: int) -> Any:
        table = embedding_table(matrix[begin:end], id_table(ids, labels, begin, end), lists=lists)
        return table if about is None else table.replace_schema_metadata({METADATA: settings})

    return block


def id_table(ids: Any, labels: Any, begin: int, end: int) -> Any:
    """Ids, and labels if any, of the rows ``begin`` to ``end``."""
    import pyarrow as pa

    columns = {"id": ids[begin:end]}
    if labels is not None:
        columns["label"] = labels[begin:end]
    return pa.table(columns)


def embedding_table(matrix: NDArray[np.float32], table: Any, *, lists: bool) -> Any:
    """Append the embedding to a table, as one column of lists or one column per dimension."""
    import pyarrow as pa

    if lists:
        flat = pa.array(np.ascontiguousarray(matrix).reshape(-1))
        return table.append_column("embedding", pa.FixedSizeListArray.from_arrays(flat, matrix.shape[1]))
    for i in range(matrix.shape[1]):
        table = table.append_column(f"e{i}", pa.array(np.ascontiguousarray(matrix[:, i])))
    return table
