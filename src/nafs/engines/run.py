"""Which engine an embedding is made by, and the embedding made by it."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import free_memory
from nafs.engines import disk, memory
from nafs.engines.progress import ProgressCallback
from nafs.engines.settings import AUTO, Settings
from nafs.engines.work import WorkFolder
from nafs.graph import Adjacency, Features
from nafs.smoothing.method import Method

_SHARE = 0.8  # of the free memory, where no limit is given


@dataclass
class Made:
    """An embedding, the engine that made it, and the folder that it lies in, if any."""

    matrix: NDArray[Any]
    engine: str
    folder: Path | None = None
    temporary: bool = False

    @property
    def file(self) -> Path | None:
        """The .npy file of the embedding."""
        return None if self.folder is None else WorkFolder(self.folder).file(disk.EMBEDDING)

    def close(self) -> None:
        """Remove the folder. The matrix stays as long as it is used."""
        if self.folder is not None:
            WorkFolder(self.folder).remove()
            self.folder = None


def choose_engine(
    graph: Adjacency, n_features: int, method: Method, settings: Settings, held: int = 0
) -> str:
    """The engine that was asked for; by default memory where that fits, or else disk.

    Raises MemoryError, before anything is made, where the limit is too small for it; the Dask engine does
    that itself when it knows its workers, whose limit it is.
    """
    if settings.engine == "dask":
        return "dask"
    resources = settings.resources()
    dtype, limit = resources["state_dtype"], resources["memory_limit"]
    room = _SHARE * free_memory() if limit is None else limit
    fits = memory.plan(graph, n_features, method, state_dtype=dtype, held=held).nbytes <= room
    if settings.engine == "memory" and not fits and limit is not None:
        memory.plan(graph, n_features, method, state_dtype=dtype, memory_limit=limit, held=held)
    if settings.engine == "memory" or (settings.engine == AUTO and fits):
        return "memory"
    try:
        disk.plan(graph, (n_features, 0), method, state_dtype=dtype, memory_limit=limit, held=held)
    except MemoryError as error:
        if settings.engine == AUTO and limit is not None:  # what the usual engine lacks is the better hint
            memory.plan(graph, n_features, method, state_dtype=dtype, memory_limit=limit, held=held)
        raise error from None
    return "disk"


def embed(
    graph: Adjacency,
    features: Features,
    method: Method,
    settings: Settings,
    *,
    client: Any = None,
    resume: bool = False,
    dtype: str = "float32",
    held: int = 0,
    progress: ProgressCallback | None = None,
) -> Made:
    """The embedding of ``features`` over ``graph`` by the engine that ``settings`` say.

    Parameters
    ----------
    graph : Adjacency
    features : Features
    method : Method
    settings : Settings
        Engine, work folder, memory limit and threads.
    client : dask.distributed.Client or str, optional
        For the Dask engine; see :func:`nafs.engines.dask.embed`.
    resume : bool
        Go on with a run in the work folder that was broken off.
    dtype : {"float32", "float16"}
        Of the embedding.
    held : int
        Bytes that copies of the inputs hold already; they count towards the limit.
    progress : callable, optional

    Returns
    -------
    Made
    """
    begun = resume and settings.work_dir is not None and WorkFolder(Path(settings.work_dir)).about()
    if begun and settings.engine == AUTO:
        settings = replace(settings, engine="disk")
    engine = choose_engine(graph, features.shape[1], method, settings, held)
    resources = settings.resources()
    if engine == "memory":
        matrix: NDArray[Any] = memory.embed(
            graph, features, method, held=held, progress=progress, **resources
        )
        return Made(matrix if dtype == "float32" else matrix.astype(np.float16), engine)
    options: dict[str, Any] = {"resume": resume, "dtype": dtype, "progress": progress, "held": held}
    options |= resources
    run = disk.embed
    if engine == "dask":
        from nafs.engines import dask

        run, options = dask.embed, options | {"client": client}
    if settings.work_dir is not None:
        folder = Path(settings.work_dir)
        if not folder.parent.is_dir():
            raise FileNotFoundError(f"the folder {folder.parent} for {folder.name} does not exist; create it")
        return Made(run(graph, features, method, folder=folder, **options), engine, folder)
    folder = Path(tempfile.mkdtemp(prefix="nafs-work-"))
    try:
        return Made(run(graph, features, method, folder=folder, **options), engine, folder, True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
