"""Write a search index of an embedding to a file that usearch opens."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.atomic import whole_file
from nafs.similarity.nearest import BUILDING, build_index, scored_rows
from nafs.writers.embeddings import about_beside, check_embedding_target, id_table, ids_beside
from nafs.writers.tables import write_table


def write_index(
    path: str | os.PathLike[str],
    matrix: NDArray[np.float32],
    ids: Any,
    labels: Any = None,
    *,
    about: dict[str, Any] | None = None,
    score: str = "cosine",
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write an index whose key i is row i of ``NAME.ids.csv``; the settings go to ``NAME.json``.

    Parameters
    ----------
    path : path
        With the extension .usearch.
    matrix : ndarray of shape (n, d)
    ids : Arrow array of n ids
    labels : Arrow array of n labels, optional
    about : dict, optional
        Settings of the embedding.
    score : {"cosine", "inner"}
        The metric of the index.
    force : bool
        Overwrite existing files.
    progress : callable, optional
        Called with the number of rows written since the last call.
    """
    check_embedding_target(path, "list", force=force)
    name = os.fspath(path)
    written = 0.0

    def advance(share: float) -> None:
        nonlocal written
        before, written = int(written), written + share / BUILDING * len(matrix)
        if progress is not None:
            progress(int(written) - before)

    index = build_index(scored_rows(matrix, score), score, advance)
    with (
        whole_file(Path(name), force=force) as vectors,  # renamed last
        whole_file(about_beside(name), force=force) as notes,
        whole_file(ids_beside(name), force=force) as names,
    ):
        notes.write_text(json.dumps(about or {}, indent=2, default=str) + "\n", encoding="utf-8")
        write_table(names, ".csv", len(ids), 2, lambda begin, end: id_table(ids, labels, begin, end))
        try:
            index.save(str(vectors))
        except RuntimeError as error:  # usearch does not say why
            raise OSError(f"{name} cannot be written ({error}); is the disk full?") from None
